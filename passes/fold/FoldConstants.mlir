// RUN: ferrule-opt %s --ferrule-fold-constants --ferrule-prune | FileCheck %s

// 2 + 3 = 5 as a scalar, then one broadcast.
// CHECK-LABEL: func.func @scalars
// CHECK-NEXT: %[[FIVE:.*]] = ferrule.constant {value = dense<5.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[WIDE:.*]] = ferrule.broadcast_to %[[FIVE]] {shape = #ferrule.dims<[batch]>}
// CHECK-NEXT: return %[[WIDE]]
func.func @scalars() -> tensor<?xf32, #ferrule.dims<[batch]>> {
  %two = ferrule.constant {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %three = ferrule.constant {value = dense<3.0> : tensor<f32>} : () -> tensor<f32>
  %0 = ferrule.broadcast_to %two {shape = #ferrule.dims<[batch]>} : (tensor<f32>) -> tensor<?xf32, #ferrule.dims<[batch]>>
  %1 = ferrule.broadcast_to %three {shape = #ferrule.dims<[batch]>} : (tensor<f32>) -> tensor<?xf32, #ferrule.dims<[batch]>>
  %2 = ferrule.add %0, %1 : (tensor<?xf32, #ferrule.dims<[batch]>>, tensor<?xf32, #ferrule.dims<[batch]>>) -> tensor<?xf32, #ferrule.dims<[batch]>>
  return %2 : tensor<?xf32, #ferrule.dims<[batch]>>
}

// [[1, 2, 3], [4, 5, 6]] transposed is [[1, 4], [2, 5], [3, 6]]; rows 2 and 0 of that.
// CHECK-LABEL: func.func @moves
// CHECK-NEXT: dense<{{\[}}[3, 6], [1, 4]]>
func.func @moves() -> tensor<2x2xi32> {
  %x = ferrule.constant {value = dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>} : () -> tensor<2x3xi32>
  %t = ferrule.transpose %x {pattern = array<i64: 1, 0>} : (tensor<2x3xi32>) -> tensor<3x2xi32>
  %s = ferrule.slice %t {starts = #ferrule.dims<[2, 0]>, stops = #ferrule.dims<[-1, 2]>, steps = array<i64: -2, 1>} : (tensor<3x2xi32>) -> tensor<2x2xi32>
  return %s : tensor<2x2xi32>
}

// -7 // 2 = -4, 7 // 0 = 0; mod has the divisor's sign.
// CHECK-LABEL: func.func @integers
// CHECK-NEXT: dense<[-4, 0, 3]>
// CHECK-NEXT: dense<[1, 0, -1]>
func.func @integers() -> (tensor<3xi8>, tensor<3xi8>) {
  %x = ferrule.constant {value = dense<[-7, 7, -10]> : tensor<3xi8>} : () -> tensor<3xi8>
  %y = ferrule.constant {value = dense<[2, 0, -3]> : tensor<3xi8>} : () -> tensor<3xi8>
  %q = ferrule.floor_div %x, %y : (tensor<3xi8>, tensor<3xi8>) -> tensor<3xi8>
  %r = ferrule.mod %x, %y : (tensor<3xi8>, tensor<3xi8>) -> tensor<3xi8>
  return %q, %r : tensor<3xi8>, tensor<3xi8>
}

// Casts saturate; NaN gives 0.
// CHECK-LABEL: func.func @casts
// CHECK-NEXT: dense<[127, -128, 0, -1]>
func.func @casts() -> tensor<4xi8> {
  %x = ferrule.constant {value = dense<[300.0, -1.0e10, 0x7FC00000, -1.9]> : tensor<4xf32>} : () -> tensor<4xf32>
  %y = ferrule.cast %x {dtype = i8} : (tensor<4xf32>) -> tensor<4xi8>
  return %y : tensor<4xi8>
}

// relu(-0) = -0; maximum(-0, +0) = +0.
// CHECK-LABEL: func.func @zeros
// CHECK-NEXT: dense<-0.000000e+00> : tensor<f32>
// CHECK-NEXT: dense<0.000000e+00> : tensor<f32>
func.func @zeros() -> (tensor<f32>, tensor<f32>) {
  %n = ferrule.constant {value = dense<-0.0> : tensor<f32>} : () -> tensor<f32>
  %p = ferrule.constant {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %r = ferrule.relu %n : (tensor<f32>) -> tensor<f32>
  %m = ferrule.maximum %n, %p : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %r, %m : tensor<f32>, tensor<f32>
}

// exp(0) = 1 exactly, by the same polynomial as in every kernel.
// CHECK-LABEL: func.func @transcendental
// CHECK-NEXT: dense<1.000000e+00> : tensor<f32>
func.func @transcendental() -> tensor<f32> {
  %zero = ferrule.constant {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %0 = ferrule.exp %zero : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
