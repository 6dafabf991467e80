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

// A second derivative that does not exist is refused even beside a path that does.
func.func @second(%x: tensor<1x1x2x2xf32> {ferrule.name = "x"}, %dy: tensor<1x1x1x1xf32>) -> tensor<1x1x2x2xf32> {
  // expected-error @+1 {{max_pool_gradient has no gradient: the second derivative of max_pool is not provided; the gradient of the cost to x needs it}}
  %p = ferrule.max_pool_gradient %x, %dy {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads_begin = array<i64: 0, 0>, pads_end = array<i64: 0, 0>} : (tensor<1x1x2x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x2x2xf32>
  %y = ferrule.mul %x, %p : (tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32>
  %g = ferrule.gradient %y, %x, %x {operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32>
  return %g : tensor<1x1x2x2xf32>
}
