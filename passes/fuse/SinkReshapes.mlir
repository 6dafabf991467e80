// RUN: ferrule-opt %s --ferrule-fuse | FileCheck %s

// A layer over [batch, steps, width] has its bias, activation and residual in the dispatch of its product, which is over
// rows; the residual, which is an argument, is read as rows.

// CHECK-LABEL: func.func @layer
// CHECK: %[[ROWS:.*]] = ferrule.reshape %arg0 {shape = #ferrule.dims<[12, 8]>}
// CHECK: %[[R:.*]] = ferrule.dispatch({{.*}} = %[[ROWS]] {{.*}} -> (tensor<12x8xf32>)
// CHECK: ferrule.matmul
// CHECK: ferrule.broadcast_to {{.*}} : (tensor<8xf32>) -> tensor<12x8xf32>
// CHECK: ferrule.add
// CHECK: ferrule.tanh
// CHECK: ferrule.add
// CHECK: ferrule.yield
// CHECK-NOT: ferrule.dispatch
// CHECK: %[[Y:.*]] = ferrule.reshape %[[R]] {shape = #ferrule.dims<[3, 4, 8]>}
// CHECK: return %[[Y]]
func.func @layer(%x: tensor<3x4x8xf32>, %w: tensor<8x8xf32>, %b: tensor<8xf32>) -> tensor<3x4x8xf32> {
  %rows = ferrule.reshape %x {shape = #ferrule.dims<[12, 8]>} : (tensor<3x4x8xf32>) -> tensor<12x8xf32>
  %m = ferrule.matmul %rows, %w : (tensor<12x8xf32>, tensor<8x8xf32>) -> tensor<12x8xf32>
  %p = ferrule.reshape %m {shape = #ferrule.dims<[3, 4, 8]>} : (tensor<12x8xf32>) -> tensor<3x4x8xf32>
  %bb = ferrule.broadcast_to %b {shape = #ferrule.dims<[3, 4, 8]>} : (tensor<8xf32>) -> tensor<3x4x8xf32>
  %s = ferrule.add %p, %bb : (tensor<3x4x8xf32>, tensor<3x4x8xf32>) -> tensor<3x4x8xf32>
  %t = ferrule.tanh %s : (tensor<3x4x8xf32>) -> tensor<3x4x8xf32>
  %y = ferrule.add %t, %x : (tensor<3x4x8xf32>, tensor<3x4x8xf32>) -> tensor<3x4x8xf32>
  return %y : tensor<3x4x8xf32>
}

// The same where the batch has a symbolic size. What is repeated along whole rows and one value are repeated along the
// merged rows; another elementwise op that nobody else reads is computed over them too.

// CHECK-LABEL: func.func @repeated
// CHECK-DAG: ferrule.reshape %arg2 {{.*}} -> tensor<?x1xf32, #ferrule.dims<[batch * 4, 1]>>
// CHECK-DAG: ferrule.reshape %arg3 {{.*}} -> tensor<?x8xf32, #ferrule.dims<[batch * 4, 8]>>
// CHECK-DAG: ferrule.broadcast_to {{.*}} : (tensor<?x1xf32, #ferrule.dims<[batch * 4, 1]>>) -> tensor<?x8xf32, #ferrule.dims<[batch * 4, 8]>>
// CHECK-DAG: ferrule.broadcast_to {{.*}} : (tensor<f32>) -> tensor<?x8xf32, #ferrule.dims<[batch * 4, 8]>>
// CHECK-DAG: ferrule.relu {{.*}} -> tensor<?x8xf32, #ferrule.dims<[batch * 4, 8]>>
// CHECK: ferrule.add {{.*}} -> tensor<?x8xf32, #ferrule.dims<[batch * 4, 8]>>
// CHECK: ferrule.yield
// CHECK: ferrule.reshape
// CHECK-NEXT: return
func.func @repeated(%x: tensor<?x8xf32, #ferrule.dims<[4*batch, 8]>>, %w: tensor<8x8xf32>,
                    %row: tensor<?x4x1xf32, #ferrule.dims<[batch, 4, 1]>>,
                    %z: tensor<?x4x8xf32, #ferrule.dims<[batch, 4, 8]>>) -> tensor<?x4x8xf32, #ferrule.dims<[batch, 4, 8]>> {
  %m = ferrule.matmul %x, %w : (tensor<?x8xf32, #ferrule.dims<[4*batch, 8]>>, tensor<8x8xf32>) -> tensor<?x8xf32, #ferrule.dims<[4*batch, 8]>>
  %p = ferrule.reshape %m {shape = #ferrule.dims<[batch, 4, 8]>} : (tensor<?x8xf32, #ferrule.dims<[4*batch, 8]>>) -> tensor<?x4x8xf32, #ferrule.dims<[batch, 4, 8]>>
  %rr = ferrule.broadcast_to %row {shape = #ferrule.dims<[batch, 4, 8]>} : (tensor<?x4x1xf32, #ferrule.dims<[batch, 4, 1]>>) -> tensor<?x4x8xf32, #ferrule.dims<[batch, 4, 8]>>
  %s = ferrule.mul %p, %rr : (tensor<?x4x8xf32, #ferrule.dims<[batch, 4, 8]>>, tensor<?x4x8xf32, #ferrule.dims<[batch, 4, 8]>>) -> tensor<?x4x8xf32, #ferrule.dims<[batch, 4, 8]>>
  %two = ferrule.constant {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %twos = ferrule.broadcast_to %two {shape = #ferrule.dims<[batch, 4, 8]>} : (tensor<f32>) -> tensor<?x4x8xf32, #ferrule.dims<[batch, 4, 8]>>
  %e = ferrule.relu %z : (tensor<?x4x8xf32, #ferrule.dims<[batch, 4, 8]>>) -> tensor<?x4x8xf32, #ferrule.dims<[batch, 4, 8]>>
  %ee = ferrule.mul %e, %twos : (tensor<?x4x8xf32, #ferrule.dims<[batch, 4, 8]>>, tensor<?x4x8xf32, #ferrule.dims<[batch, 4, 8]>>) -> tensor<?x4x8xf32, #ferrule.dims<[batch, 4, 8]>>
  %y = ferrule.add %s, %ee : (tensor<?x4x8xf32, #ferrule.dims<[batch, 4, 8]>>, tensor<?x4x8xf32, #ferrule.dims<[batch, 4, 8]>>) -> tensor<?x4x8xf32, #ferrule.dims<[batch, 4, 8]>>
  return %y : tensor<?x4x8xf32, #ferrule.dims<[batch, 4, 8]>>
}

// What is repeated along a part of the rows cannot be read along merged ones: the addition stays behind the reshape, and
// the bias goes before it.

// CHECK-LABEL: func.func @partly
// CHECK: %[[S:.*]] = ferrule.dispatch{{.*}} -> (tensor<12x8xf32>)
// CHECK: ferrule.matmul
// CHECK: ferrule.add
// CHECK: ferrule.yield
// CHECK: %[[P:.*]] = ferrule.reshape %[[S]]
// CHECK: ferrule.dispatch({{.*}} = %[[P]] {{.*}} -> (tensor<3x4x8xf32>)
// CHECK: ferrule.add
// CHECK: return
func.func @partly(%x: tensor<12x8xf32>, %w: tensor<8x8xf32>, %b: tensor<8xf32>, %positions: tensor<4x8xf32>) -> tensor<3x4x8xf32> {
  %m = ferrule.matmul %x, %w : (tensor<12x8xf32>, tensor<8x8xf32>) -> tensor<12x8xf32>
  %p = ferrule.reshape %m {shape = #ferrule.dims<[3, 4, 8]>} : (tensor<12x8xf32>) -> tensor<3x4x8xf32>
  %bb = ferrule.broadcast_to %b {shape = #ferrule.dims<[3, 4, 8]>} : (tensor<8xf32>) -> tensor<3x4x8xf32>
  %s = ferrule.add %p, %bb : (tensor<3x4x8xf32>, tensor<3x4x8xf32>) -> tensor<3x4x8xf32>
  %pp = ferrule.broadcast_to %positions {shape = #ferrule.dims<[3, 4, 8]>} : (tensor<4x8xf32>) -> tensor<3x4x8xf32>
  %y = ferrule.add %s, %pp : (tensor<3x4x8xf32>, tensor<3x4x8xf32>) -> tensor<3x4x8xf32>
  return %y : tensor<3x4x8xf32>
}

// Sums over all rows and along rows, statistics, softmax and positions of largest elements read rows as well; a sum over
// the batch alone does not. The order of the axes of a sum numbers its elements, so [1, 0] is no sum over merged rows.

// CHECK-LABEL: func.func @reductions
// CHECK-DAG: ferrule.reduce_sum {{.*}} {axes = array<i64: 0>} : (tensor<12x8xf32>) -> tensor<8xf32>
// CHECK-DAG: ferrule.reduce_max {{.*}} {axes = array<i64: 1>} : (tensor<12x8xf32>) -> tensor<12xf32>
// CHECK-DAG: ferrule.moments {{.*}} {axes = array<i64: 1>, {{.*}} : (tensor<12x8xf32>) -> (tensor<12xf32>, tensor<12xf32>, tensor<12xf32>)
// CHECK-DAG: ferrule.softmax {{.*}} {axis = 1 : i64} : (tensor<12x8xf32>) -> tensor<12x8xf32>
// CHECK-DAG: ferrule.argmax {{.*}} {axis = 1 : i64} : (tensor<12x8xf32>) -> tensor<12xi32>
// CHECK-DAG: ferrule.reduce_sum {{.*}} {axes = array<i64: 0>} : (tensor<3x4x8xf32>) -> tensor<4x8xf32>
// CHECK-DAG: ferrule.reduce_sum {{.*}} {axes = array<i64: 1, 0>} : (tensor<3x4x8xf32>) -> tensor<8xf32>
// CHECK: return
func.func @reductions(%x: tensor<12x8xf32>, %w: tensor<8x8xf32>)
    -> (tensor<8xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4x8xf32>, tensor<3x4xi32>, tensor<4x8xf32>, tensor<8xf32>) {
  %m = ferrule.matmul %x, %w : (tensor<12x8xf32>, tensor<8x8xf32>) -> tensor<12x8xf32>
  %p = ferrule.reshape %m {shape = #ferrule.dims<[3, 4, 8]>} : (tensor<12x8xf32>) -> tensor<3x4x8xf32>
  %all = ferrule.reduce_sum %p {axes = array<i64: 0, 1>} : (tensor<3x4x8xf32>) -> tensor<8xf32>
  %largest = ferrule.reduce_max %p {axes = array<i64: 2>} : (tensor<3x4x8xf32>) -> tensor<3x4xf32>
  %mean, %variance, %rstd = ferrule.moments %p {axes = array<i64: 2>, eps = 1.0e-5 : f64} : (tensor<3x4x8xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>)
  %soft = ferrule.softmax %p {axis = 2} : (tensor<3x4x8xf32>) -> tensor<3x4x8xf32>
  %where = ferrule.argmax %p {axis = 2} : (tensor<3x4x8xf32>) -> tensor<3x4xi32>
  %batch = ferrule.reduce_sum %p {axes = array<i64: 0>} : (tensor<3x4x8xf32>) -> tensor<4x8xf32>
  %other = ferrule.reduce_sum %p {axes = array<i64: 1, 0>} : (tensor<3x4x8xf32>) -> tensor<8xf32>
  return %all, %largest, %mean, %soft, %where, %batch, %other
    : tensor<8xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4x8xf32>, tensor<3x4xi32>, tensor<4x8xf32>, tensor<8xf32>
}
