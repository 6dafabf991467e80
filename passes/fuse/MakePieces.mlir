// RUN: ferrule-opt %s --ferrule-fuse | FileCheck %s
// RUN: ferrule-opt %s --ferrule-fuse=fuse=false | FileCheck %s --check-prefix=APART

// The gradient for a concatenation of 16, 32 and 8 channels of which the first and the last are read is made for these
// alone, with panel 0 and panel 3 of the weight. What is added to a part is the epilogue of its kernel.

// CHECK-LABEL: func.func @parts
// CHECK: ferrule.slice {{.*}} {starts = #ferrule.dims<[3, 0, 0]>, steps = array<i64: 1, 1, 1>, stops = #ferrule.dims<[4, 16, 16]>}
// CHECK: ferrule.image_convolution_input_gradient {{.*}} : (tensor<1x9x16xf32>, tensor<1x16x16xf32>) -> tensor<1x9x8xf32>
// CHECK: ferrule.slice {{.*}} stops = #ferrule.dims<[1, 16, 16]>}
// CHECK: ferrule.image_convolution_input_gradient {{.*}} : (tensor<1x9x16xf32>, tensor<1x16x16xf32>) -> tensor<1x9x16xf32>
// CHECK-NEXT: ferrule.add
// CHECK: return
// APART-LABEL: func.func @parts
// APART: ferrule.image_convolution_input_gradient {{.*}} -> tensor<1x9x56xf32>
// APART: ferrule.slice
func.func @parts(%g: tensor<1x9x16xf32>, %w: tensor<4x16x16xf32>, %other: tensor<1x9x16xf32>) -> (tensor<1x9x16xf32>, tensor<1x9x8xf32>) {
  %d = ferrule.image_convolution_input_gradient %g, %w {dilations = array<i64: 1>, groups = 1 : i64, kernel = array<i64: 1>, pads_begin = array<i64: 0>, pads_end = array<i64: 0>, strides = array<i64: 1>} : (tensor<1x9x16xf32>, tensor<4x16x16xf32>) -> tensor<1x9x56xf32>
  %z = ferrule.slice %d {starts = #ferrule.dims<[0, 0, 48]>, stops = #ferrule.dims<[1, 9, 56]>, steps = array<i64: 1, 1, 1>} : (tensor<1x9x56xf32>) -> tensor<1x9x8xf32>
  %x = ferrule.slice %d {starts = #ferrule.dims<[0, 0, 0]>, stops = #ferrule.dims<[1, 9, 16]>, steps = array<i64: 1, 1, 1>} : (tensor<1x9x56xf32>) -> tensor<1x9x16xf32>
  %s = ferrule.add %x, %other : (tensor<1x9x16xf32>, tensor<1x9x16xf32>) -> tensor<1x9x16xf32>
  return %s, %z : tensor<1x9x16xf32>, tensor<1x9x8xf32>
}

// Whole all the same: where a part begins within a panel; where two overlap; where something else reads it.

// CHECK-LABEL: func.func @within_a_panel
// CHECK: ferrule.image_convolution_input_gradient {{.*}} -> tensor<1x9x24xf32>
func.func @within_a_panel(%g: tensor<1x9x16xf32>, %w: tensor<2x16x16xf32>) -> (tensor<1x9x8xf32>, tensor<1x9x16xf32>) {
  %d = ferrule.image_convolution_input_gradient %g, %w {dilations = array<i64: 1>, groups = 1 : i64, kernel = array<i64: 1>, pads_begin = array<i64: 0>, pads_end = array<i64: 0>, strides = array<i64: 1>} : (tensor<1x9x16xf32>, tensor<2x16x16xf32>) -> tensor<1x9x24xf32>
  %x = ferrule.slice %d {starts = #ferrule.dims<[0, 0, 0]>, stops = #ferrule.dims<[1, 9, 8]>, steps = array<i64: 1, 1, 1>} : (tensor<1x9x24xf32>) -> tensor<1x9x8xf32>
  %y = ferrule.slice %d {starts = #ferrule.dims<[0, 0, 8]>, stops = #ferrule.dims<[1, 9, 24]>, steps = array<i64: 1, 1, 1>} : (tensor<1x9x24xf32>) -> tensor<1x9x16xf32>
  return %x, %y : tensor<1x9x8xf32>, tensor<1x9x16xf32>
}

// CHECK-LABEL: func.func @overlapping
// CHECK: ferrule.image_convolution_input_gradient {{.*}} -> tensor<1x9x48xf32>
func.func @overlapping(%g: tensor<1x9x16xf32>, %w: tensor<3x16x16xf32>) -> (tensor<1x9x32xf32>, tensor<1x9x32xf32>) {
  %d = ferrule.image_convolution_input_gradient %g, %w {dilations = array<i64: 1>, groups = 1 : i64, kernel = array<i64: 1>, pads_begin = array<i64: 0>, pads_end = array<i64: 0>, strides = array<i64: 1>} : (tensor<1x9x16xf32>, tensor<3x16x16xf32>) -> tensor<1x9x48xf32>
  %x = ferrule.slice %d {starts = #ferrule.dims<[0, 0, 0]>, stops = #ferrule.dims<[1, 9, 32]>, steps = array<i64: 1, 1, 1>} : (tensor<1x9x48xf32>) -> tensor<1x9x32xf32>
  %y = ferrule.slice %d {starts = #ferrule.dims<[0, 0, 16]>, stops = #ferrule.dims<[1, 9, 48]>, steps = array<i64: 1, 1, 1>} : (tensor<1x9x48xf32>) -> tensor<1x9x32xf32>
  return %x, %y : tensor<1x9x32xf32>, tensor<1x9x32xf32>
}

// CHECK-LABEL: func.func @read_whole
// CHECK: ferrule.image_convolution_input_gradient {{.*}} -> tensor<1x9x32xf32>
func.func @read_whole(%g: tensor<1x9x16xf32>, %w: tensor<2x16x16xf32>) -> (tensor<1x9x16xf32>, tensor<1x9x32xf32>) {
  %d = ferrule.image_convolution_input_gradient %g, %w {dilations = array<i64: 1>, groups = 1 : i64, kernel = array<i64: 1>, pads_begin = array<i64: 0>, pads_end = array<i64: 0>, strides = array<i64: 1>} : (tensor<1x9x16xf32>, tensor<2x16x16xf32>) -> tensor<1x9x32xf32>
  %x = ferrule.slice %d {starts = #ferrule.dims<[0, 0, 0]>, stops = #ferrule.dims<[1, 9, 16]>, steps = array<i64: 1, 1, 1>} : (tensor<1x9x32xf32>) -> tensor<1x9x16xf32>
  return %x, %d : tensor<1x9x16xf32>, tensor<1x9x32xf32>
}
