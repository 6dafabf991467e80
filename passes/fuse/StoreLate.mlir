// RUN: ferrule-opt %s --ferrule-fuse | FileCheck %s
// RUN: ferrule-opt %s --ferrule-fuse=fuse=false | FileCheck %s --check-prefix=APART

// The product of the forward pass reads what its own dispatch stored. The gradient of its weight reads what the gradient
// of its operand stores besides: there relu is computed for the mask anyway.

// CHECK-LABEL: func.func @late
// CHECK: %[[P:.*]]:2 = ferrule.dispatch
// CHECK: ferrule.relu
// CHECK: ferrule.yield
// CHECK: ferrule.dispatch({{.*}} = %[[P]]#1
// CHECK: ferrule.exp
// CHECK: %[[G:.*]]:2 = ferrule.dispatch({{.*}} = %[[P]]#0
// CHECK: %[[AGAIN:.*]] = ferrule.relu
// CHECK: %[[M:.*]] = ferrule.where
// CHECK: ferrule.yield %[[M]], %[[AGAIN]]
// CHECK: ferrule.dispatch(%{{.*}} = %[[G]]#1
// CHECK: ferrule.matmul
// CHECK: return
// APART-LABEL: func.func @late
// APART-COUNT-1: ferrule.relu
// APART-NOT: ferrule.relu
// APART: return
func.func @late(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>, %v: tensor<8x8xf32>) -> (tensor<8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %p = ferrule.matmul %x, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %y = ferrule.relu %p : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %q = ferrule.matmul %y, %v : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %e = ferrule.exp %q : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %f = ferrule.exp %e : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %g = ferrule.mul %f, %e : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %dy = ferrule.matmul %g, %v {transpose_b = true} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %zero = ferrule.constant {value = dense<0.0> : tensor<8x8xf32>} : () -> tensor<8x8xf32>
  %m = ferrule.greater %y, %zero : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xi1>
  %dp = ferrule.where %m, %dy, %zero : (tensor<8x8xi1>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %dv = ferrule.matmul %y, %g {transpose_a = true} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %s = ferrule.reduce_sum %p {axes = array<i64: 0>} : (tensor<8x8xf32>) -> tensor<8xf32>
  return %s, %dv, %dp : tensor<8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// Where both readers stand together nothing is stored twice.

// CHECK-LABEL: func.func @together
// CHECK-COUNT-1: ferrule.relu
// CHECK-NOT: ferrule.relu
// CHECK: return
func.func @together(%p: tensor<8x8xf32>, %v: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %y = ferrule.relu %p : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %q = ferrule.matmul %y, %v : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %r = ferrule.add %q, %y : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %t = ferrule.matmul %r, %y : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %r, %t : tensor<8x8xf32>, tensor<8x8xf32>
}
