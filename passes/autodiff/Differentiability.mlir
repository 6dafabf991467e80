// RUN: ferrule-opt %s --split-input-file --verify-diagnostics --ferrule-expand-gradients

// The only way to x leads through an op that has no gradient.
func.func @only_path(%x: tensor<4xf32> {ferrule.name = "image"}) -> tensor<4xf32> {
  // expected-error @+1 {{argmax has no gradient: its result is an index; the gradient of the cost to image needs it}}
  %i = ferrule.argmax %x {axis = 0 : i64} : (tensor<4xf32>) -> tensor<i32>
  %cost = ferrule.cast %i {dtype = f32} : (tensor<i32>) -> tensor<f32>
  %g = ferrule.gradient %cost, %x {operandSegmentSizes = array<i32: 1, 0, 1>} : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}

// -----

// A mask from a comparison is no obstacle while x has another path.
func.func @mask(%x: tensor<4xf32>, %dy: tensor<4xf32>) -> tensor<4xf32> {
  %m = ferrule.greater %x, %dy : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %y = ferrule.where %m, %x, %dy : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %g = ferrule.gradient %y, %dy, %x {operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}

// -----

// A float without a gradient is refused even beside a path that has one.
func.func @beside(%x: tensor<1x2x2x1xf32> {ferrule.name = "x"}) -> tensor<1x2x2x1xf32> {
  // expected-error @+1 {{image_max_pool has no gradient: the layout pass makes it, after gradients are expanded; the gradient of the cost to x needs it}}
  %p = ferrule.image_max_pool %x {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, pads_begin = array<i64: 0, 0>, pads_end = array<i64: 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32>
  %y = ferrule.mul %x, %p : (tensor<1x2x2x1xf32>, tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32>
  %g = ferrule.gradient %y, %x, %x {operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<1x2x2x1xf32>, tensor<1x2x2x1xf32>, tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32>
  return %g : tensor<1x2x2x1xf32>
}
