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

// The turned operand of the second product gets a dispatch of its own once all others are known. The mask's dispatch, which
// waits for that product, cannot store what is turned.
// CHECK-LABEL: func @turned_operand
// CHECK:         %[[STORED:.*]]:2 = ferrule.dispatch(%{{.*}} = %arg0 : tensor<5x8xf16>) -> (tensor<5x8xf32>, tensor<5x8xf16>)
// CHECK:         ferrule.dispatch(%{{.*}} = %[[STORED]]#1 : tensor<5x8xf16>) -> (tensor<5x8xf32>)
// CHECK:         ferrule.matmul
// CHECK:         ferrule.greater
func.func @turned_operand(%x: tensor<5x8xf16>) -> tensor<5x8xf16> {
  %wide = ferrule.cast %x {dtype = f32} : (tensor<5x8xf16>) -> tensor<5x8xf32>
  %narrow = ferrule.cast %wide {dtype = f16} : (tensor<5x8xf32>) -> tensor<5x8xf16>
  %turned = ferrule.transpose %narrow {pattern = array<i64: 1, 0>} : (tensor<5x8xf16>) -> tensor<8x5xf16>
  %right = ferrule.cast %turned {dtype = f32} : (tensor<8x5xf16>) -> tensor<8x5xf32>
  %product = ferrule.matmul %wide, %right : (tensor<5x8xf32>, tensor<8x5xf32>) -> tensor<5x5xf32>
  %rounded = ferrule.cast %product {dtype = f16} : (tensor<5x5xf32>) -> tensor<5x5xf16>
  %left = ferrule.cast %rounded {dtype = f32} : (tensor<5x5xf16>) -> tensor<5x5xf32>
  %gradient = ferrule.matmul %left, %right {transpose_b = true} : (tensor<5x5xf32>, tensor<8x5xf32>) -> tensor<5x8xf32>
  %kept = ferrule.cast %gradient {dtype = f16} : (tensor<5x8xf32>) -> tensor<5x8xf16>
  %mask = ferrule.greater %wide, %wide : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xi1>
  %result = ferrule.where %mask, %kept, %x : (tensor<5x8xi1>, tensor<5x8xf16>, tensor<5x8xf16>) -> tensor<5x8xf16>
  return %result : tensor<5x8xf16>
}
