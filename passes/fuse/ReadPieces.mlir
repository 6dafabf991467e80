// RUN: ferrule-opt %s --ferrule-fuse | FileCheck %s
// RUN: ferrule-opt %s --ferrule-fuse=fuse=false | FileCheck %s --check-prefix=APART

// A convolution reads the parts of a concatenation of channels, which is never made. `fuse=false` makes it.

// CHECK-LABEL: func.func @skip
// CHECK: ferrule.dispatch
// CHECK-NEXT: ferrule.image_convolution %{{.*}}, %{{.*}}, %{{.*}} {{.*}} : (tensor<1x6x8x16xf32>, tensor<1x6x8x32xf32>, tensor<2x432x16xf32>)
// CHECK-NOT: ferrule.concat
// CHECK: return
// APART-LABEL: func.func @skip
// APART: ferrule.concat
// APART: ferrule.image_convolution {{.*}} : (tensor<1x6x8x48xf32>, tensor<2x432x16xf32>)
func.func @skip(%x: tensor<1x6x8x16xf32>, %y: tensor<1x6x8x32xf32>, %w: tensor<2x432x16xf32>) -> tensor<1x6x8x32xf32> {
  %c = ferrule.concat %x, %y {axis = 3 : i64} : (tensor<1x6x8x16xf32>, tensor<1x6x8x32xf32>) -> tensor<1x6x8x48xf32>
  %r = ferrule.image_convolution %c, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, kernel = array<i64: 3, 3>, pads_begin = array<i64: 1, 1>, pads_end = array<i64: 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x6x8x48xf32>, tensor<2x432x16xf32>) -> tensor<1x6x8x32xf32>
  return %r : tensor<1x6x8x32xf32>
}

// Several convolutions may read them, and what reads element by element does so anyway.

// CHECK-LABEL: func.func @shared
// CHECK: ferrule.image_convolution %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {
// CHECK: ferrule.image_convolution %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {
// CHECK: ferrule.concat
// CHECK-NEXT: ferrule.reduce_sum
func.func @shared(%x: tensor<1x8x16xf32>, %y: tensor<1x8x3xf32>, %z: tensor<1x8x5xf32>, %w: tensor<1x24x16xf32>) -> (tensor<1x8x16xf32>, tensor<1x8x16xf32>, tensor<24xf32>) {
  %c = ferrule.concat %x, %y, %z {axis = 2 : i64} : (tensor<1x8x16xf32>, tensor<1x8x3xf32>, tensor<1x8x5xf32>) -> tensor<1x8x24xf32>
  %a = ferrule.image_convolution %c, %w {dilations = array<i64: 1>, groups = 1 : i64, kernel = array<i64: 1>, pads_begin = array<i64: 0>, pads_end = array<i64: 0>, strides = array<i64: 1>} : (tensor<1x8x24xf32>, tensor<1x24x16xf32>) -> tensor<1x8x16xf32>
  %b = ferrule.image_convolution %c, %w {dilations = array<i64: 1>, groups = 1 : i64, kernel = array<i64: 1>, pads_begin = array<i64: 0>, pads_end = array<i64: 0>, strides = array<i64: 1>} : (tensor<1x8x24xf32>, tensor<1x24x16xf32>) -> tensor<1x8x16xf32>
  %s = ferrule.reduce_sum %c {axes = array<i64: 0, 1>} : (tensor<1x8x24xf32>) -> tensor<24xf32>
  return %a, %b, %s : tensor<1x8x16xf32>, tensor<1x8x16xf32>, tensor<24xf32>
}

// So does the gradient of its weight.

// CHECK-LABEL: func.func @training
// CHECK-NOT: ferrule.concat
// CHECK: ferrule.image_convolution %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}} {
// CHECK: ferrule.image_convolution_weight_gradient %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}} {{.*}} : (tensor<1x8x16xf32>, tensor<1x8x8xf32>, tensor<1x8x16xf32>)
// CHECK: return
// APART-LABEL: func.func @training
// APART: ferrule.concat
// APART: ferrule.image_convolution_weight_gradient {{.*}} : (tensor<1x8x24xf32>, tensor<1x8x16xf32>)
func.func @training(%x: tensor<1x8x16xf32>, %y: tensor<1x8x8xf32>, %w: tensor<1x24x16xf32>) -> tensor<1x24x16xf32> {
  %c = ferrule.concat %x, %y {axis = 2 : i64} : (tensor<1x8x16xf32>, tensor<1x8x8xf32>) -> tensor<1x8x24xf32>
  %a = ferrule.image_convolution %c, %w {dilations = array<i64: 1>, groups = 1 : i64, kernel = array<i64: 1>, pads_begin = array<i64: 0>, pads_end = array<i64: 0>, strides = array<i64: 1>} : (tensor<1x8x24xf32>, tensor<1x24x16xf32>) -> tensor<1x8x16xf32>
  %g = ferrule.image_convolution_weight_gradient %c, %a {dilations = array<i64: 1>, groups = 1 : i64, kernel = array<i64: 1>, pads_begin = array<i64: 0>, pads_end = array<i64: 0>, strides = array<i64: 1>} : (tensor<1x8x24xf32>, tensor<1x8x16xf32>) -> tensor<1x24x16xf32>
  return %g : tensor<1x24x16xf32>
}

// Made all the same: for groups, which meet parts of the channels; where something else needs the whole; along another
// axis.

// CHECK-LABEL: func.func @groups
// CHECK: ferrule.concat
// CHECK: ferrule.image_convolution %{{[^,]*}}, %{{[^,]*}} {
func.func @groups(%x: tensor<1x8x4xf32>, %y: tensor<1x8x4xf32>, %w: tensor<2x4x16xf32>) -> tensor<1x8x4xf32> {
  %c = ferrule.concat %x, %y {axis = 2 : i64} : (tensor<1x8x4xf32>, tensor<1x8x4xf32>) -> tensor<1x8x8xf32>
  %r = ferrule.image_convolution %c, %w {dilations = array<i64: 1>, groups = 2 : i64, kernel = array<i64: 1>, pads_begin = array<i64: 0>, pads_end = array<i64: 0>, strides = array<i64: 1>} : (tensor<1x8x8xf32>, tensor<2x4x16xf32>) -> tensor<1x8x4xf32>
  return %r : tensor<1x8x4xf32>
}

// CHECK-LABEL: func.func @needed_whole
// CHECK: ferrule.concat
// CHECK: ferrule.image_convolution %{{[^,]*}}, %{{[^,]*}} {
func.func @needed_whole(%x: tensor<1x8x16xf32>, %y: tensor<1x8x8xf32>, %w: tensor<1x24x16xf32>) -> (tensor<1x8x16xf32>, tensor<1x8x24xf32>) {
  %c = ferrule.concat %x, %y {axis = 2 : i64} : (tensor<1x8x16xf32>, tensor<1x8x8xf32>) -> tensor<1x8x24xf32>
  %a = ferrule.image_convolution %c, %w {dilations = array<i64: 1>, groups = 1 : i64, kernel = array<i64: 1>, pads_begin = array<i64: 0>, pads_end = array<i64: 0>, strides = array<i64: 1>} : (tensor<1x8x24xf32>, tensor<1x24x16xf32>) -> tensor<1x8x16xf32>
  return %a, %c : tensor<1x8x16xf32>, tensor<1x8x24xf32>
}

// CHECK-LABEL: func.func @rows
// CHECK: ferrule.concat
// CHECK: ferrule.image_convolution %{{[^,]*}}, %{{[^,]*}} {
func.func @rows(%x: tensor<1x5x8xf32>, %y: tensor<1x3x8xf32>, %w: tensor<1x8x16xf32>) -> tensor<1x8x16xf32> {
  %c = ferrule.concat %x, %y {axis = 1 : i64} : (tensor<1x5x8xf32>, tensor<1x3x8xf32>) -> tensor<1x8x8xf32>
  %r = ferrule.image_convolution %c, %w {dilations = array<i64: 1>, groups = 1 : i64, kernel = array<i64: 1>, pads_begin = array<i64: 0>, pads_end = array<i64: 0>, strides = array<i64: 1>} : (tensor<1x8x8xf32>, tensor<1x8x16xf32>) -> tensor<1x8x16xf32>
  return %r : tensor<1x8x16xf32>
}
