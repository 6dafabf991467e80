// RUN: ferrule-opt %s --split-input-file --ferrule-expand-gradients | FileCheck %s

// x is used three times: by mul as operands 0 and 1, and by exp before. Reverse order of use, left to right:
// (mul's operand 1 + mul's operand 0) + exp's.
// CHECK-LABEL: func.func @several_uses
// CHECK: %[[E:.*]] = ferrule.exp %[[X:.*]] :
// CHECK: %[[M:.*]] = ferrule.mul %[[X]], %[[X]]
// CHECK: %[[G0:.*]] = ferrule.mul %[[G:.*]], %[[X]]
// CHECK: %[[G1:.*]] = ferrule.mul %[[G]], %[[X]]
// CHECK: %[[S0:.*]] = ferrule.add %[[G1]], %[[G0]]
// CHECK: %[[GE:.*]] = ferrule.mul %[[G]], %[[E]]
// CHECK: %[[S1:.*]] = ferrule.add %[[S0]], %[[GE]]
// CHECK: return %[[S1]]
func.func @several_uses(%x: tensor<f32> {ferrule.name = "x"}) -> (tensor<f32> {ferrule.name = "out"}) {
  %e = ferrule.exp %x : (tensor<f32>) -> tensor<f32>
  %m = ferrule.mul %x, %x : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %cost = ferrule.add %e, %m : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %g = ferrule.gradient %cost, %x {operandSegmentSizes = array<i32: 1, 0, 1>} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %g : tensor<f32>
}

// -----

// A broadcast operand gets the sum over the stretched axes, in row-major order.
// CHECK-LABEL: func.func @broadcast
// CHECK: ferrule.reduce_sum %{{.*}} {axes = array<i64: 0>} : (tensor<?x3xf32, #ferrule.dims<[batch, 3]>>) -> tensor<3xf32>
func.func @broadcast(%x: tensor<?x3xf32, #ferrule.dims<[batch, 3]>>, %b: tensor<3xf32>) -> tensor<3xf32> {
  %wide = ferrule.broadcast_to %b {shape = #ferrule.dims<[batch, 3]>} : (tensor<3xf32>) -> tensor<?x3xf32, #ferrule.dims<[batch, 3]>>
  %y = ferrule.mul %x, %wide : (tensor<?x3xf32, #ferrule.dims<[batch, 3]>>, tensor<?x3xf32, #ferrule.dims<[batch, 3]>>) -> tensor<?x3xf32, #ferrule.dims<[batch, 3]>>
  %cost = ferrule.reduce_sum %y {axes = array<i64: 0, 1>} : (tensor<?x3xf32, #ferrule.dims<[batch, 3]>>) -> tensor<f32>
  %g = ferrule.gradient %cost, %b {operandSegmentSizes = array<i32: 1, 0, 1>} : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
  return %g : tensor<3xf32>
}

// -----

// A tie gives each side half.
// CHECK-LABEL: func.func @maximum
// CHECK-DAG: %[[GREATER:.*]] = ferrule.greater %arg0, %arg1 :
// CHECK-DAG: %[[EQUAL:.*]] = ferrule.equal %arg0, %arg1 :
// CHECK-DAG: %[[HALF:.*]] = ferrule.constant {value = dense<5.000000e-01> : tensor<f32>}
// CHECK-DAG: %[[HALVES:.*]] = ferrule.broadcast_to %[[HALF]]
// CHECK-DAG: %[[SHARE:.*]] = ferrule.mul %arg2, %[[HALVES]]
// CHECK-DAG: %[[TIE:.*]] = ferrule.where %[[EQUAL]], %[[SHARE]]
// CHECK-DAG: %[[DX:.*]] = ferrule.where %[[GREATER]], %arg2, %[[TIE]]
// CHECK: return %[[DX]]
func.func @maximum(%x: tensor<4xf32>, %y: tensor<4xf32>, %dy: tensor<4xf32>) -> tensor<4xf32> {
  %m = ferrule.maximum %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %g = ferrule.gradient %m, %dy, %x {operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}

// -----

// The gradient of a gradient: x^3 -> 3x^2 -> 6x; both are expanded and no gradient is left.
// CHECK-LABEL: func.func @second_order
// CHECK-NOT: ferrule.gradient
// CHECK: return
func.func @second_order(%x: tensor<f32>) -> tensor<f32> {
  %x2 = ferrule.mul %x, %x : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %x3 = ferrule.mul %x2, %x : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %g = ferrule.gradient %x3, %x {operandSegmentSizes = array<i32: 1, 0, 1>} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %h = ferrule.gradient %g, %x {operandSegmentSizes = array<i32: 1, 0, 1>} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %h : tensor<f32>
}

// -----

// A value that the cost does not depend on, and one behind stop_gradient, get zeros.
// CHECK-LABEL: func.func @independent
// CHECK: %[[ZERO:.*]] = ferrule.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK: %[[ZEROS:.*]] = ferrule.broadcast_to %[[ZERO]] {shape = #ferrule.dims<[2]>}
// CHECK: return %[[ZEROS]]
func.func @independent(%x: tensor<f32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %s = ferrule.stop_gradient %y : (tensor<2xf32>) -> tensor<2xf32>
  %r = ferrule.reduce_sum %s {axes = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
  %cost = ferrule.mul %x, %r : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %g = ferrule.gradient %cost, %y {operandSegmentSizes = array<i32: 1, 0, 1>} : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
  return %g : tensor<2xf32>
}

// -----

// No transpose op: the products carry flags.
// CHECK-LABEL: func.func @matmul
// CHECK-NOT: ferrule.transpose
// CHECK: ferrule.matmul %[[G:.*]], %[[B:.*]] {transpose_b = true} : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
// CHECK: ferrule.matmul %[[A:.*]], %[[G]] {transpose_a = true} : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<3x4xf32>
func.func @matmul(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %dy: tensor<2x4xf32>) -> (tensor<2x3xf32>, tensor<3x4xf32>) {
  %y = ferrule.matmul %a, %b : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %g:2 = ferrule.gradient %y, %dy, %a, %b {operandSegmentSizes = array<i32: 1, 1, 2>} : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x3xf32>, tensor<3x4xf32>) -> (tensor<2x3xf32>, tensor<3x4xf32>)
  return %g#0, %g#1 : tensor<2x3xf32>, tensor<3x4xf32>
}
