// RUN: ferrule-opt %s --ferrule-fuse | FileCheck %s

// What the first product's epilogue stored for the second is read by the third one's epilogue, which would have to read
// the first product too.

// CHECK-LABEL: func.func @stored_is_read
// CHECK: %[[Y:.*]] = ferrule.dispatch
// CHECK: ferrule.matmul
// CHECK: ferrule.relu
// CHECK: %[[Z:.*]] = ferrule.dispatch
// CHECK: %[[R:.*]] = ferrule.dispatch({{.*}} = %[[Z]]{{.*}} = %[[Y]]
// CHECK: ferrule.matmul
// CHECK-NOT: ferrule.relu
// CHECK: return %[[R]]
func.func @stored_is_read(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %p = ferrule.matmul %x, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %y = ferrule.relu %p : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %q = ferrule.matmul %y, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %z = ferrule.relu %q : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %r = ferrule.matmul %z, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %s = ferrule.add %r, %y : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %s : tensor<8x8xf32>
}

// %p is read once more, after the last product that reads %y: nothing is kept besides it where relu is computed again.

// CHECK-LABEL: func.func @kept_is_computed_from
// CHECK: %[[P:.*]]:2 = ferrule.dispatch
// CHECK: ferrule.matmul
// CHECK: ferrule.yield
// CHECK: ferrule.dispatch({{.*}} = %[[P]]#1
// CHECK: ferrule.exp
// CHECK: ferrule.dispatch({{.*}} = %[[P]]#0
// CHECK: ferrule.relu
// CHECK: ferrule.matmul
// CHECK: ferrule.add
// CHECK: ferrule.reduce_sum
// CHECK: return
func.func @kept_is_computed_from(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> (tensor<8xf32>, tensor<8x8xf32>) {
  %p = ferrule.matmul %x, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %y = ferrule.relu %p : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %q = ferrule.matmul %y, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %z = ferrule.exp %q : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %r = ferrule.matmul %z, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %t = ferrule.add %r, %y : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %s = ferrule.reduce_sum %p {axes = array<i64: 0>} : (tensor<8x8xf32>) -> tensor<8xf32>
  return %s, %t : tensor<8xf32>, tensor<8x8xf32>
}

// Here %p is read by an early sum alone, and dies before the product that reads %y.

// CHECK-LABEL: func.func @dead_is_not_kept
// CHECK: %[[P:.*]]:2 = ferrule.dispatch
// CHECK: ferrule.matmul
// CHECK: ferrule.yield
// CHECK: ferrule.reduce_sum
// CHECK: ferrule.dispatch({{.*}} = %[[P]]#1
// CHECK: ferrule.exp
// CHECK: ferrule.dispatch({{.*}} = %[[P]]#1
// CHECK-NOT: ferrule.relu
// CHECK: ferrule.matmul
// CHECK-NEXT: ferrule.add
// CHECK: return
func.func @dead_is_not_kept(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> (tensor<8xf32>, tensor<8x8xf32>) {
  %p = ferrule.matmul %x, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %s = ferrule.reduce_sum %p {axes = array<i64: 0>} : (tensor<8x8xf32>) -> tensor<8xf32>
  %y = ferrule.relu %p : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %q = ferrule.matmul %y, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %z = ferrule.exp %q : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %r = ferrule.matmul %z, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %t = ferrule.add %r, %y : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %s, %t : tensor<8xf32>, tensor<8x8xf32>
}

// %g reads three tensors and is stored; both products of it are computed where they are summed, in one pass.

// CHECK-LABEL: func.func @stored_once
// CHECK: %[[G:.*]] = ferrule.dispatch{{.*}} -> (tensor<8x20xf32>) {
// CHECK: ferrule.add
// CHECK-NEXT: ferrule.mul
// CHECK: %{{.*}}:3 = ferrule.dispatch({{.*}} = %[[G]] : {{.*}} = %arg0 :
// CHECK-COUNT-3: ferrule.reduce_sum
// CHECK: ferrule.yield
// CHECK-NOT: ferrule.dispatch
// CHECK: return
func.func @stored_once(%x: tensor<8x20xf32>, %y: tensor<8x20xf32>, %z: tensor<8x20xf32>) -> (tensor<20xf32>, tensor<20xf32>, tensor<20xf32>) {
  %a = ferrule.add %x, %y : (tensor<8x20xf32>, tensor<8x20xf32>) -> tensor<8x20xf32>
  %g = ferrule.mul %a, %z : (tensor<8x20xf32>, tensor<8x20xf32>) -> tensor<8x20xf32>
  %p = ferrule.mul %g, %x : (tensor<8x20xf32>, tensor<8x20xf32>) -> tensor<8x20xf32>
  %q = ferrule.mul %p, %x : (tensor<8x20xf32>, tensor<8x20xf32>) -> tensor<8x20xf32>
  %s = ferrule.reduce_sum %g {axes = array<i64: 0>} : (tensor<8x20xf32>) -> tensor<20xf32>
  %t = ferrule.reduce_sum %p {axes = array<i64: 0>} : (tensor<8x20xf32>) -> tensor<20xf32>
  %u = ferrule.reduce_sum %q {axes = array<i64: 0>} : (tensor<8x20xf32>) -> tensor<20xf32>
  return %s, %t, %u : tensor<20xf32>, tensor<20xf32>, tensor<20xf32>
}

// The second product is made for the sum of it and %y alone: its epilogue adds, and the reduction reads one tensor.

// CHECK-LABEL: func.func @made_for_one
// CHECK: %[[Y:.*]] = ferrule.dispatch
// CHECK: ferrule.exp
// CHECK: %[[A:.*]] = ferrule.dispatch({{.*}} = %[[Y]] :
// CHECK: ferrule.matmul
// CHECK-NEXT: ferrule.add
// CHECK: ferrule.dispatch(%{{.*}} = %[[A]] : tensor<8x8xf32>) -> (tensor<8xf32>) {
// CHECK-NEXT: ferrule.reduce_sum
// CHECK: return
func.func @made_for_one(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8xf32> {
  %p = ferrule.matmul %x, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %y = ferrule.exp %p : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %q = ferrule.matmul %y, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %a = ferrule.add %q, %y : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %s = ferrule.reduce_sum %a {axes = array<i64: 0>} : (tensor<8x8xf32>) -> tensor<8xf32>
  return %s : tensor<8xf32>
}

// The exponentials are kept for their sum, which reads them through relu. So both products with the cotangent are computed
// where they are read, and the dispatch of the cotangent stores this alone.

// CHECK-LABEL: func.func @read_through_one
// CHECK: ferrule.exp
// CHECK: %[[G:.*]] = ferrule.dispatch{{.*}} -> (tensor<64x64xf32>)
// CHECK-NEXT: ferrule.matmul
// CHECK-NEXT: ferrule.yield
// CHECK: ferrule.dispatch({{.*}} = %[[G]]
// CHECK: ferrule.mul
// CHECK: ferrule.reduce_sum
// CHECK: ferrule.dispatch({{.*}} = %[[G]]
// CHECK: ferrule.mul
// CHECK: ferrule.tanh
// CHECK: return
func.func @read_through_one(%x: tensor<64x64xf32>, %a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %u: tensor<64x1xf32>)
    -> (tensor<64xf32>, tensor<64xf32>, tensor<64x64xf32>) {
  %e = ferrule.exp %x : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %w = ferrule.relu %e : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %s = ferrule.reduce_sum %w {axes = array<i64: 1>} : (tensor<64x64xf32>) -> tensor<64xf32>
  %g = ferrule.matmul %a, %b : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %ub = ferrule.broadcast_to %u {shape = #ferrule.dims<[64, 64]>} : (tensor<64x1xf32>) -> tensor<64x64xf32>
  %q = ferrule.mul %g, %ub : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %p = ferrule.mul %g, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = ferrule.reduce_sum %p {axes = array<i64: 1>} : (tensor<64x64xf32>) -> tensor<64xf32>
  %rr = ferrule.reshape %r {shape = #ferrule.dims<[64, 1]>} : (tensor<64xf32>) -> tensor<64x1xf32>
  %rb = ferrule.broadcast_to %rr {shape = #ferrule.dims<[64, 64]>} : (tensor<64x1xf32>) -> tensor<64x64xf32>
  %d = ferrule.add %q, %rb : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %t = ferrule.tanh %d : (tensor<64x64xf32>) -> tensor<64x64xf32>
  return %s, %r, %t : tensor<64xf32>, tensor<64xf32>, tensor<64x64xf32>
}
