// RUN: ferrule-opt %s --ferrule-layout | FileCheck %s

// A convolution's weight is kept in panels: 32 output channels are 2 panels, each with 3 * 3 taps * 16 channels = 144
// rows of 16 columns. The image turns channels-last before the convolution and back after the relu, through which the
// transpose moved. The bias, one value a channel, is broadcast along the last axis: its transpose is a reshape.

// CHECK: ferrule.variable @w {layout = {groups = 1 : i64, k_axes = array<i64: 2, 3, 1>, kind = "panel", n_axes = array<i64: 0>}} : tensor<32x16x3x3xf32>
ferrule.variable @w : tensor<32x16x3x3xf32>
ferrule.variable @b : tensor<1x32x1x1xf32>

// A part of an image is taken of it as it lies.
// CHECK-LABEL: func.func @part
// CHECK: %[[Y:.*]] = ferrule.image_convolution
// CHECK: %[[P:.*]] = ferrule.slice %[[Y]] {starts = #ferrule.dims<[0, 2, 0, 16]>, steps = array<i64: 1, 3, 1, 1>, stops = #ferrule.dims<[4, 8, 8, 32]>} : (tensor<4x8x8x32xf32>) -> tensor<4x2x8x16xf32>
// CHECK: %[[R:.*]] = ferrule.relu %[[P]]
// CHECK: ferrule.transpose %[[R]] {pattern = array<i64: 0, 3, 1, 2>}
func.func @part(%x: tensor<4x16x8x8xf32>) -> tensor<4x16x2x8xf32> {
  %w = ferrule.read @w : tensor<32x16x3x3xf32>
  %y = ferrule.convolution %x, %w {strides = array<i64: 1, 1>, pads_begin = array<i64: 1, 1>, pads_end = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<4x16x8x8xf32>, tensor<32x16x3x3xf32>) -> tensor<4x32x8x8xf32>
  %p = ferrule.slice %y {starts = #ferrule.dims<[0, 16, 2, 0]>, stops = #ferrule.dims<[4, 32, 8, 8]>, steps = array<i64: 1, 1, 3, 1>} : (tensor<4x32x8x8xf32>) -> tensor<4x16x2x8xf32>
  %r = ferrule.relu %p : (tensor<4x16x2x8xf32>) -> tensor<4x16x2x8xf32>
  return %r : tensor<4x16x2x8xf32>
}

// CHECK-LABEL: func.func @convolution
// CHECK-SAME: (%[[X:.*]]: tensor<4x16x8x8xf32>
func.func @convolution(%x: tensor<4x16x8x8xf32>) -> tensor<4x32x8x8xf32> {
  // CHECK-DAG: %[[W:.*]] = ferrule.read @w : tensor<2x144x16xf32>
  // CHECK-DAG: %[[T:.*]] = ferrule.transpose %[[X]] {pattern = array<i64: 0, 2, 3, 1>}
  // CHECK: %[[Y:.*]] = ferrule.image_convolution %[[T]], %[[W]] {{.*}} -> tensor<4x8x8x32xf32>
  // CHECK: %[[B:.*]] = ferrule.broadcast_to {{.*}} -> tensor<4x8x8x32xf32>
  // CHECK: %[[S:.*]] = ferrule.add %[[Y]], %[[B]] : {{.*}} -> tensor<4x8x8x32xf32>
  // CHECK: %[[R:.*]] = ferrule.relu %[[S]]
  // CHECK: %[[U:.*]] = ferrule.transpose %[[R]] {pattern = array<i64: 0, 3, 1, 2>}
  // CHECK: return %[[U]]
  %w = ferrule.read @w : tensor<32x16x3x3xf32>
  %b = ferrule.read @b : tensor<1x32x1x1xf32>
  %y = ferrule.convolution %x, %w {strides = array<i64: 1, 1>, pads_begin = array<i64: 1, 1>, pads_end = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<4x16x8x8xf32>, tensor<32x16x3x3xf32>) -> tensor<4x32x8x8xf32>
  %bb = ferrule.broadcast_to %b {shape = #ferrule.dims<[4, 32, 8, 8]>} : (tensor<1x32x1x1xf32>) -> tensor<4x32x8x8xf32>
  %s = ferrule.add %y, %bb : (tensor<4x32x8x8xf32>, tensor<4x32x8x8xf32>) -> tensor<4x32x8x8xf32>
  %r = ferrule.relu %s : (tensor<4x32x8x8xf32>) -> tensor<4x32x8x8xf32>
  return %r : tensor<4x32x8x8xf32>
}

// A depthwise weight's panels run over the channels of all groups, and serve the gradient for the input as they are: 24
// channels are 2 panels of 9 taps.

// CHECK: ferrule.variable @d {layout = {groups = 1 : i64, k_axes = array<i64: 2, 3, 1>, kind = "panel", n_axes = array<i64: 0>}} : tensor<24x1x3x3xf32>
ferrule.variable @d : tensor<24x1x3x3xf32>

// CHECK-LABEL: func.func @depthwise
func.func @depthwise(%x: tensor<4x24x8x8xf32>, %g: tensor<4x24x8x8xf32>) -> (tensor<4x24x8x8xf32>, tensor<4x24x8x8xf32>) {
  // CHECK: %[[W:.*]] = ferrule.read @d : tensor<2x9x16xf32>
  // CHECK: ferrule.image_convolution %{{.*}}, %[[W]] {{.*}}groups = 24 : i64
  // CHECK: ferrule.image_convolution_input_gradient %{{.*}}, %[[W]] {{.*}}groups = 24 : i64
  // CHECK: ferrule.image_convolution_weight_gradient {{.*}} -> tensor<2x9x16xf32>
  // CHECK: ferrule.assign @d, %{{.*}} : tensor<2x9x16xf32>
  %w = ferrule.read @d : tensor<24x1x3x3xf32>
  %y = ferrule.convolution %x, %w {strides = array<i64: 1, 1>, pads_begin = array<i64: 1, 1>, pads_end = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 24 : i64} : (tensor<4x24x8x8xf32>, tensor<24x1x3x3xf32>) -> tensor<4x24x8x8xf32>
  %dx = ferrule.convolution_input_gradient %g, %w {strides = array<i64: 1, 1>, pads_begin = array<i64: 1, 1>, pads_end = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 24 : i64, input_shape = #ferrule.dims<[4, 24, 8, 8]>} : (tensor<4x24x8x8xf32>, tensor<24x1x3x3xf32>) -> tensor<4x24x8x8xf32>
  %dw = ferrule.convolution_weight_gradient %x, %g {strides = array<i64: 1, 1>, pads_begin = array<i64: 1, 1>, pads_end = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 24 : i64, weight_shape = #ferrule.dims<[24, 1, 3, 3]>} : (tensor<4x24x8x8xf32>, tensor<4x24x8x8xf32>) -> tensor<24x1x3x3xf32>
  ferrule.assign @d, %dw : tensor<24x1x3x3xf32>
  return %y, %dx : tensor<4x24x8x8xf32>, tensor<4x24x8x8xf32>
}

// The sum over batch and space keeps its order (batch, row, column) under the other layout: axes 0, 2, 3 of the logical
// image are axes 0, 1, 2 of the channels-last one.

// CHECK-LABEL: func.func @reduction
func.func @reduction(%x: tensor<4x16x8x8xf32>) -> tensor<32xf32> {
  // CHECK: %[[Y:.*]] = ferrule.image_convolution
  // CHECK: ferrule.reduce_sum %[[Y]] {axes = array<i64: 0, 1, 2>{{.*}}} : (tensor<4x8x8x32xf32>) -> tensor<32xf32>
  // CHECK-NOT: ferrule.transpose
  %w = ferrule.read @w : tensor<32x16x3x3xf32>
  %y = ferrule.convolution %x, %w {strides = array<i64: 1, 1>, pads_begin = array<i64: 1, 1>, pads_end = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<4x16x8x8xf32>, tensor<32x16x3x3xf32>) -> tensor<4x32x8x8xf32>
  %s = ferrule.reduce_sum %y {axes = array<i64: 0, 2, 3>} : (tensor<4x32x8x8xf32>) -> tensor<32xf32>
  return %s : tensor<32xf32>
}

// A matrix, its gradient and its momentum share one layout, so a training step packs nothing: the weight product is
// written in panels at once, and the update works on panels. 20 columns are 2 panels.

// CHECK: ferrule.variable @m {{.*}}layout = {{.*}} : tensor<20x12xf32>
ferrule.variable @v : tensor<20x12xf32>
ferrule.variable @m {of = @v, role = "optimizer_state"} : tensor<20x12xf32>

// CHECK-LABEL: func.func @update
func.func @update(%x: tensor<8x12xf32>, %g: tensor<8x20xf32>) -> (tensor<8x20xf32>, tensor<8x12xf32>) {
  // CHECK-NOT: ferrule.pack
  // CHECK-NOT: ferrule.unpack
  // CHECK-DAG: %[[V:.*]] = ferrule.read @v : tensor<2x12x16xf32>
  // CHECK-DAG: %[[M:.*]] = ferrule.read @m : tensor<2x12x16xf32>
  // CHECK-DAG: ferrule.panel_matmul %{{.*}}, %[[V]]
  // The product along the other axis reads the panels transposed: 12 columns are one panel of 20 rows.
  // CHECK-DAG: ferrule.transpose_panels %[[V]] {{.*}} -> tensor<1x20x16xf32>
  // CHECK-DAG: %[[D:.*]] = ferrule.panel_outer {{.*}} -> tensor<2x12x16xf32>
  // CHECK-DAG: %[[N:.*]] = ferrule.add %[[M]], %[[D]] : {{.*}} -> tensor<2x12x16xf32>
  // CHECK-DAG: ferrule.assign @m, %[[N]] : tensor<2x12x16xf32>
  // CHECK-NOT: ferrule.pack
  // CHECK-NOT: ferrule.unpack
  %v = ferrule.read @v : tensor<20x12xf32>
  %m = ferrule.read @m : tensor<20x12xf32>
  %y = ferrule.matmul %x, %v {transpose_b = true} : (tensor<8x12xf32>, tensor<20x12xf32>) -> tensor<8x20xf32>
  %dx = ferrule.matmul %g, %v : (tensor<8x20xf32>, tensor<20x12xf32>) -> tensor<8x12xf32>
  %dv = ferrule.matmul %g, %x {transpose_a = true} : (tensor<8x20xf32>, tensor<8x12xf32>) -> tensor<20x12xf32>
  %n = ferrule.add %m, %dv : (tensor<20x12xf32>, tensor<20x12xf32>) -> tensor<20x12xf32>
  %u = ferrule.sub %v, %n : (tensor<20x12xf32>, tensor<20x12xf32>) -> tensor<20x12xf32>
  ferrule.assign @m, %n : tensor<20x12xf32>
  ferrule.assign @v, %u : tensor<20x12xf32>
  return %y, %dx : tensor<8x20xf32>, tensor<8x12xf32>
}

// A constant weight is stored as the kernels read it: nothing is packed when the program runs.
// CHECK-LABEL: func.func @constant_weights
// CHECK-NOT: ferrule.pack
// CHECK: ferrule.image_convolution %{{.*}}, %{{.*}} : (tensor<1x5x5x2xf32>, tensor<1x8x16xf32>)
// CHECK: ferrule.panel_matmul %{{.*}}, %{{.*}} : (tensor<4x3xf32>, tensor<1x3x16xf32>)
func.func @constant_weights(%x: tensor<1x2x5x5xf32>, %a: tensor<4x3xf32>) -> (tensor<1x1x4x4xf32>, tensor<4x2xf32>) {
  %w = ferrule.constant {value = dense<[[[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]]]> : tensor<1x2x2x2xf32>} : () -> tensor<1x2x2x2xf32>
  %y = ferrule.convolution %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pads_begin = array<i64: 0, 0>, pads_end = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x2x5x5xf32>, tensor<1x2x2x2xf32>) -> tensor<1x1x4x4xf32>
  %b = ferrule.constant {value = dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>} : () -> tensor<2x3xf32>
  %c = ferrule.matmul %a, %b {transpose_a = false, transpose_b = true} : (tensor<4x3xf32>, tensor<2x3xf32>) -> tensor<4x2xf32>
  return %y, %c : tensor<1x1x4x4xf32>, tensor<4x2xf32>
}

// An embedding that is also the last layer's weight: its rows are taken out of the panels.
// CHECK-LABEL: func.func @tied_embedding
// CHECK-NOT: ferrule.unpack
// CHECK: ferrule.panel_take %{{.*}}, %{{.*}} {columns = true, n = 50 : i64} : (tensor<4x8x16xf32>, tensor<1x3x1xi32>) -> tensor<1x3x8xf32>
ferrule.variable @embedding : tensor<50x8xf32>
func.func @tied_embedding(%i: tensor<1x3x1xi32>) -> tensor<3x50xf32> {
  %e = ferrule.read @embedding : tensor<50x8xf32>
  %t = ferrule.take %e, %i {axis = 0 : i64} : (tensor<50x8xf32>, tensor<1x3x1xi32>) -> tensor<1x3x8xf32>
  %x = ferrule.reshape %t {shape = #ferrule.dims<[3, 8]>} : (tensor<1x3x8xf32>) -> tensor<3x8xf32>
  %y = ferrule.matmul %x, %e {transpose_b = true} : (tensor<3x8xf32>, tensor<50x8xf32>) -> tensor<3x50xf32>
  return %y : tensor<3x50xf32>
}

// A concatenation of what convolutions made stays channels-last.
// CHECK-LABEL: func.func @concatenation
// CHECK: %[[A:.*]] = ferrule.image_max_pool
// CHECK: %[[B:.*]] = ferrule.image_max_pool
// CHECK: %[[C:.*]] = ferrule.concat %[[A]], %[[B]] {axis = 3 : i64} : (tensor<2x4x4x3xf32>, tensor<2x4x4x3xf32>) -> tensor<2x4x4x6xf32>
// CHECK: ferrule.transpose %[[C]] {pattern = array<i64: 0, 3, 1, 2>}
func.func @concatenation(%x: tensor<2x3x8x8xf32>, %y: tensor<2x3x8x8xf32>) -> tensor<2x6x4x4xf32> {
  %a = ferrule.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads_begin = array<i64: 0, 0>, pads_end = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<2x3x8x8xf32>) -> tensor<2x3x4x4xf32>
  %b = ferrule.max_pool %y {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads_begin = array<i64: 0, 0>, pads_end = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<2x3x8x8xf32>) -> tensor<2x3x4x4xf32>
  %c = ferrule.concat %a, %b {axis = 1 : i64} : (tensor<2x3x4x4xf32>, tensor<2x3x4x4xf32>) -> tensor<2x6x4x4xf32>
  return %c : tensor<2x6x4x4xf32>
}

// An image of twice the size, its pixels repeated, stays channels-last; so does one whose space is flattened.
// CHECK-LABEL: func.func @repeated
// CHECK: %[[A:.*]] = ferrule.image_max_pool
// CHECK: %[[S:.*]] = ferrule.reshape %[[A]] {shape = #ferrule.dims<[2, 4, 1, 5, 1, 3]>}
// CHECK: %[[W:.*]] = ferrule.broadcast_to %[[S]] {shape = #ferrule.dims<[2, 4, 2, 5, 2, 3]>}
// CHECK: %[[R:.*]] = ferrule.reshape %[[W]] {shape = #ferrule.dims<[2, 8, 10, 3]>}
// CHECK-NOT: ferrule.transpose
// CHECK: ferrule.image_max_pool %[[R]]
// CHECK: ferrule.reshape %{{.*}} {shape = #ferrule.dims<[2, 20, 3]>}
// CHECK: ferrule.transpose %{{.*}} {pattern = array<i64: 0, 2, 1>}
func.func @repeated(%x: tensor<2x3x8x10xf32>) -> tensor<2x3x20xf32> {
  %a = ferrule.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads_begin = array<i64: 0, 0>, pads_end = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<2x3x8x10xf32>) -> tensor<2x3x4x5xf32>
  %s = ferrule.reshape %a {shape = #ferrule.dims<[2, 3, 4, 1, 5, 1]>} : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x1x5x1xf32>
  %w = ferrule.broadcast_to %s {shape = #ferrule.dims<[2, 3, 4, 2, 5, 2]>} : (tensor<2x3x4x1x5x1xf32>) -> tensor<2x3x4x2x5x2xf32>
  %r = ferrule.reshape %w {shape = #ferrule.dims<[2, 3, 8, 10]>} : (tensor<2x3x4x2x5x2xf32>) -> tensor<2x3x8x10xf32>
  %b = ferrule.max_pool %r {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads_begin = array<i64: 0, 0>, pads_end = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<2x3x8x10xf32>) -> tensor<2x3x4x5xf32>
  %f = ferrule.reshape %b {shape = #ferrule.dims<[2, 3, 20]>} : (tensor<2x3x4x5xf32>) -> tensor<2x3x20xf32>
  return %f : tensor<2x3x20xf32>
}

// Channels and space in one axis lie apart in channels-last order: back to the logical layout first.
// CHECK-LABEL: func.func @flattened
// CHECK: %[[A:.*]] = ferrule.image_max_pool
// CHECK: %[[T:.*]] = ferrule.transpose %[[A]] {pattern = array<i64: 0, 3, 1, 2>}
// CHECK: ferrule.reshape %[[T]] {shape = #ferrule.dims<[2, 60]>}
func.func @flattened(%x: tensor<2x3x8x10xf32>) -> tensor<2x60xf32> {
  %a = ferrule.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads_begin = array<i64: 0, 0>, pads_end = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<2x3x8x10xf32>) -> tensor<2x3x4x5xf32>
  %f = ferrule.reshape %a {shape = #ferrule.dims<[2, 60]>} : (tensor<2x3x4x5xf32>) -> tensor<2x60xf32>
  return %f : tensor<2x60xf32>
}
