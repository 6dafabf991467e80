// RUN: ferrule-opt %s --ferrule-decompose-normalize | FileCheck %s

// CHECK-LABEL: func.func @batch_norm
// CHECK: %[[MEAN:.*]], %[[VARIANCE:.*]], %[[RSTD:.*]] = ferrule.moments %[[X:.*]] {axes = array<i64: 0, 2>, eps = 1.000000e-05 : f64}
// CHECK: %[[C:.*]] = ferrule.sub %[[X]], %{{.*}}
// CHECK: %[[N:.*]] = ferrule.mul %[[C]], %{{.*}}
// CHECK: %[[Y:.*]] = ferrule.fma %[[N]], %{{.*}}, %{{.*}}
// CHECK: return %[[Y]], %[[MEAN]], %[[VARIANCE]]
func.func @batch_norm(%x: tensor<?x2x3xf32, #ferrule.dims<[batch, 2, 3]>>, %w: tensor<2xf32>, %b: tensor<2xf32>)
    -> (tensor<?x2x3xf32, #ferrule.dims<[batch, 2, 3]>>, tensor<2xf32>, tensor<2xf32>) {
  %y, %m, %v, %r = ferrule.normalize %x, %w, %b {axes = array<i64: 0, 2>, param_axes = array<i64: 1>, eps = 1.0e-5, operandSegmentSizes = array<i32: 1, 1, 1>}
    : (tensor<?x2x3xf32, #ferrule.dims<[batch, 2, 3]>>, tensor<2xf32>, tensor<2xf32>) -> (tensor<?x2x3xf32, #ferrule.dims<[batch, 2, 3]>>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
  return %y, %m, %v : tensor<?x2x3xf32, #ferrule.dims<[batch, 2, 3]>>, tensor<2xf32>, tensor<2xf32>
}

// Only a weight: a product, since an fma with +0 would turn -0 into +0.
// CHECK-LABEL: func.func @layer_norm_weight
// CHECK-NOT: ferrule.fma
// CHECK: return
func.func @layer_norm_weight(%x: tensor<4x3xf32>, %w: tensor<3xf32>) -> tensor<4x3xf32> {
  %y, %m, %v, %r = ferrule.normalize %x, %w {axes = array<i64: 1>, param_axes = array<i64: 1>, eps = 1.0e-5, operandSegmentSizes = array<i32: 1, 1, 0>}
    : (tensor<4x3xf32>, tensor<3xf32>) -> (tensor<4x3xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return %y : tensor<4x3xf32>
}
