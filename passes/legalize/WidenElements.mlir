// RUN: ferrule-opt %s --ferrule-widen-elements | FileCheck %s

// Computed in float32, rounded once.
// CHECK-LABEL: func.func @half
// CHECK: %[[X:.*]] = ferrule.cast %{{.*}} {dtype = f32}
// CHECK: %[[Y:.*]] = ferrule.cast %{{.*}} {dtype = f32}
// CHECK: %[[Z:.*]] = ferrule.add %[[X]], %[[Y]]
// CHECK: %[[R:.*]] = ferrule.cast %[[Z]] {dtype = f16}
// CHECK: return %[[R]]
func.func @half(%x: tensor<4xf16>, %y: tensor<4xf16>) -> tensor<4xf16> {
  %z = ferrule.add %x, %y : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
  return %z : tensor<4xf16>
}

// What moves or chooses elements keeps their dtype.
// CHECK-LABEL: func.func @moves
// CHECK-NOT: ferrule.cast
// CHECK: return
func.func @moves(%m: tensor<4xi1>, %x: tensor<4xbf16>, %y: tensor<4xbf16>) -> tensor<2x2xbf16> {
  %z = ferrule.where %m, %x, %y : (tensor<4xi1>, tensor<4xbf16>, tensor<4xbf16>) -> tensor<4xbf16>
  %r = ferrule.reshape %z {shape = #ferrule.dims<[2, 2]>} : (tensor<4xbf16>) -> tensor<2x2xbf16>
  return %r : tensor<2x2xbf16>
}

// Integer arithmetic has kernels of every width; divisions and reductions do not.
// CHECK-LABEL: func.func @integers
// CHECK: ferrule.mul %{{.*}} : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
// CHECK: ferrule.floor_div %{{.*}} : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
// CHECK: ferrule.reduce_sum %{{.*}} : (tensor<4xi32>) -> tensor<i32>
// CHECK: ferrule.cast %{{.*}} {dtype = i8}
func.func @integers(%x: tensor<4xi8>) -> tensor<i8> {
  %y = ferrule.mul %x, %x : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  %z = ferrule.floor_div %y, %x : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  %s = ferrule.reduce_sum %z {axes = array<i64: 0>} : (tensor<4xi8>) -> tensor<i8>
  return %s : tensor<i8>
}

// The order of uint64 is that of int64 with the top bit flipped.
// CHECK-LABEL: func.func @order
// CHECK: %[[X:.*]] = ferrule.cast %{{.*}} {dtype = i64}
// CHECK: %[[F:.*]] = ferrule.bitwise_xor %[[X]], %{{.*}}
// CHECK: %[[M:.*]] = ferrule.reduce_max %[[F]]
// CHECK: %[[N:.*]] = ferrule.bitwise_xor %[[M]], %{{.*}}
// CHECK: ferrule.cast %[[N]] {dtype = ui64}
// CHECK: %[[A:.*]] = ferrule.argmax %{{.*}} -> tensor<i32>
// CHECK: return %{{.*}}, %[[A]]
func.func @order(%x: tensor<4xui64>) -> (tensor<ui64>, tensor<i32>) {
  %m = ferrule.reduce_max %x {axes = array<i64: 0>} : (tensor<4xui64>) -> tensor<ui64>
  %a = ferrule.argmax %x {axis = 0 : i64} : (tensor<4xui64>) -> tensor<i32>
  return %m, %a : tensor<ui64>, tensor<i32>
}
