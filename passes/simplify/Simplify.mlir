// RUN: ferrule-opt %s --ferrule-simplify | FileCheck %s

// CHECK-LABEL: func.func @shapes
// CHECK-NEXT: %[[R:.*]] = ferrule.reshape %{{.*}} {shape = #ferrule.dims<[3, 2]>}
// CHECK-NEXT: return %[[R]]
func.func @shapes(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %0 = ferrule.reshape %x {shape = #ferrule.dims<[6]>} : (tensor<2x3xf32>) -> tensor<6xf32>
  %1 = ferrule.slice %0 {starts = #ferrule.dims<[0]>, stops = #ferrule.dims<[6]>, steps = array<i64: 1>} : (tensor<6xf32>) -> tensor<6xf32>
  %2 = ferrule.reshape %1 {shape = #ferrule.dims<[3, 2]>} : (tensor<6xf32>) -> tensor<3x2xf32>
  return %2 : tensor<3x2xf32>
}

// [2, 3, 4] by (2, 0, 1) is [4, 2, 3]; by (1, 2, 0) again [2, 3, 4]: nothing moved.
// CHECK-LABEL: func.func @transposes
// CHECK-NEXT: return
func.func @transposes(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %0 = ferrule.transpose %x {pattern = array<i64: 2, 0, 1>} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  %1 = ferrule.transpose %0 {pattern = array<i64: 1, 2, 0>} : (tensor<4x2x3xf32>) -> tensor<2x3x4xf32>
  return %1 : tensor<2x3x4xf32>
}

// Only an axis of size 1 moves.
// CHECK-LABEL: func.func @transpose_of_one
// CHECK-NEXT: ferrule.reshape %{{.*}} {shape = #ferrule.dims<[2, 3, 1]>}
func.func @transpose_of_one(%x: tensor<1x2x3xf32>) -> tensor<2x3x1xf32> {
  %0 = ferrule.transpose %x {pattern = array<i64: 1, 2, 0>} : (tensor<1x2x3xf32>) -> tensor<2x3x1xf32>
  return %0 : tensor<2x3x1xf32>
}

// x * 1, x - 0, x + -0, x / 1 and neg(neg x) are x.
// CHECK-LABEL: func.func @neutral
// CHECK: return %arg0
func.func @neutral(%x: tensor<2xf32>) -> tensor<2xf32> {
  %one = ferrule.constant {value = dense<1.0> : tensor<2xf32>} : () -> tensor<2xf32>
  %zero = ferrule.constant {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %zeros = ferrule.broadcast_to %zero {shape = #ferrule.dims<[2]>} : (tensor<f32>) -> tensor<2xf32>
  %negative = ferrule.constant {value = dense<-0.0> : tensor<2xf32>} : () -> tensor<2xf32>
  %0 = ferrule.mul %one, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = ferrule.sub %0, %zeros : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %2 = ferrule.add %1, %negative : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %3 = ferrule.div %2, %one : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %4 = ferrule.neg %3 : (tensor<2xf32>) -> tensor<2xf32>
  %5 = ferrule.neg %4 : (tensor<2xf32>) -> tensor<2xf32>
  return %5 : tensor<2xf32>
}

// x + 0 stays: it turns -0 into +0. So does x * 0: it may be -0 or NaN.
// CHECK-LABEL: func.func @not_neutral
// CHECK: ferrule.add
// CHECK: ferrule.mul
func.func @not_neutral(%x: tensor<2xf32>) -> tensor<2xf32> {
  %zero = ferrule.constant {value = dense<0.0> : tensor<2xf32>} : () -> tensor<2xf32>
  %0 = ferrule.add %x, %zero : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = ferrule.mul %0, %zero : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// CHECK-LABEL: func.func @common
// CHECK: %[[E:.*]] = ferrule.exp
// CHECK-NEXT: ferrule.add %[[E]], %[[E]]
func.func @common(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = ferrule.exp %x : (tensor<2xf32>) -> tensor<2xf32>
  %1 = ferrule.exp %x : (tensor<2xf32>) -> tensor<2xf32>
  %2 = ferrule.add %0, %1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %2 : tensor<2xf32>
}

// A product reads its operands along either axis.
// CHECK-LABEL: func.func @transposed_operands
// CHECK-SAME: (%[[A:.*]]: tensor<4x3xf32>, %[[B:.*]]: tensor<5x3x6xf32>, %[[C:.*]]: tensor<5x7x6xf32>)
// CHECK-NEXT: %[[P:.*]] = ferrule.matmul %[[A]], %[[A]] {transpose_b = true} : {{.*}} -> tensor<4x4xf32>
// CHECK-NEXT: %[[Q:.*]] = ferrule.matmul %[[B]], %[[C]] {transpose_b = true} : {{.*}} -> tensor<5x3x7xf32>
// CHECK-NEXT: return %[[P]], %[[Q]]
func.func @transposed_operands(%a: tensor<4x3xf32>, %b: tensor<5x3x6xf32>, %c: tensor<5x7x6xf32>) -> (tensor<4x4xf32>, tensor<5x3x7xf32>) {
  %0 = ferrule.transpose %a {pattern = array<i64: 1, 0>} : (tensor<4x3xf32>) -> tensor<3x4xf32>
  %1 = ferrule.matmul %a, %0 : (tensor<4x3xf32>, tensor<3x4xf32>) -> tensor<4x4xf32>
  %2 = ferrule.transpose %b {pattern = array<i64: 0, 2, 1>} : (tensor<5x3x6xf32>) -> tensor<5x6x3xf32>
  %3 = ferrule.transpose %c {pattern = array<i64: 0, 2, 1>} : (tensor<5x7x6xf32>) -> tensor<5x6x7xf32>
  %4 = ferrule.matmul %2, %3 {transpose_a = true} : (tensor<5x6x3xf32>, tensor<5x6x7xf32>) -> tensor<5x3x7xf32>
  return %1, %4 : tensor<4x4xf32>, tensor<5x3x7xf32>
}

// The gradients of two parts of a value, each padded with zeros: the parts beside each other, read once. Adding the zeros
// turns a -0 into +0, so that stays.
// CHECK-LABEL: func.func @parts
// CHECK-DAG: %[[X:.*]] = ferrule.add %arg0
// CHECK-DAG: %[[Y:.*]] = ferrule.add %arg1
// CHECK: %[[C:.*]] = ferrule.concat %[[X]], %[[Y]] {axis = 0 : i64}
// CHECK-NEXT: return %[[C]]
func.func @parts(%x: tensor<2x3xf32>, %y: tensor<4x3xf32>) -> tensor<6x3xf32> {
  %zero = ferrule.constant {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %z2 = ferrule.broadcast_to %zero {shape = #ferrule.dims<[2, 3]>} : (tensor<f32>) -> tensor<2x3xf32>
  %z4 = ferrule.broadcast_to %zero {shape = #ferrule.dims<[4, 3]>} : (tensor<f32>) -> tensor<4x3xf32>
  %a = ferrule.concat %x, %z4 {axis = 0} : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<6x3xf32>
  %b = ferrule.concat %z2, %y {axis = 0} : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<6x3xf32>
  %s = ferrule.add %a, %b : (tensor<6x3xf32>, tensor<6x3xf32>) -> tensor<6x3xf32>
  return %s : tensor<6x3xf32>
}

// Three parts, of which the zeros are cut where others begin; each meets the zeros twice and is added to them once. What
// no part covers stays zero, and parts that overlap are added.
// CHECK-LABEL: func.func @three_parts
// CHECK: %[[Z:.*]] = ferrule.broadcast_to {{.*}} : (tensor<f32>) -> tensor<1x3xf32>
// CHECK-DAG: %[[X:.*]] = ferrule.add %arg0, {{.*}} : (tensor<1x3xf32>
// CHECK-DAG: %[[Y:.*]] = ferrule.add %{{.*}}, %arg2 : (tensor<2x3xf32>
// CHECK: ferrule.concat %[[X]], %[[Y]], %{{.*}} {axis = 0 : i64} : (tensor<1x3xf32>, tensor<2x3xf32>, tensor<1x3xf32>)
// CHECK-NEXT: return
func.func @three_parts(%x: tensor<1x3xf32>, %y: tensor<2x3xf32>, %w: tensor<2x3xf32>) -> tensor<4x3xf32> {
  %zero = ferrule.constant {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %z1 = ferrule.broadcast_to %zero {shape = #ferrule.dims<[1, 3]>} : (tensor<f32>) -> tensor<1x3xf32>
  %z3 = ferrule.broadcast_to %zero {shape = #ferrule.dims<[3, 3]>} : (tensor<f32>) -> tensor<3x3xf32>
  %a = ferrule.concat %x, %z3 {axis = 0} : (tensor<1x3xf32>, tensor<3x3xf32>) -> tensor<4x3xf32>
  %b = ferrule.concat %z1, %y, %z1 {axis = 0} : (tensor<1x3xf32>, tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<4x3xf32>
  %c = ferrule.concat %z1, %w, %z1 {axis = 0} : (tensor<1x3xf32>, tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<4x3xf32>
  %s = ferrule.add %a, %b : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  %t = ferrule.add %s, %c : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  return %t : tensor<4x3xf32>
}

// Where a part other than zeros would have to be cut, or nothing is zero, the sum stays: so does one along other axes.
// CHECK-LABEL: func.func @no_parts
// CHECK-COUNT-3: ferrule.add {{.*}} : (tensor<6x6xf32>
// CHECK: return
func.func @no_parts(%x: tensor<2x6xf32>, %y: tensor<4x6xf32>, %u: tensor<6x2xf32>) -> (tensor<6x6xf32>, tensor<6x6xf32>, tensor<6x6xf32>) {
  %zero = ferrule.constant {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %z2 = ferrule.broadcast_to %zero {shape = #ferrule.dims<[2, 6]>} : (tensor<f32>) -> tensor<2x6xf32>
  %zu = ferrule.broadcast_to %zero {shape = #ferrule.dims<[6, 4]>} : (tensor<f32>) -> tensor<6x4xf32>
  %c = ferrule.concat %y, %x {axis = 0} : (tensor<4x6xf32>, tensor<2x6xf32>) -> tensor<6x6xf32>
  %d = ferrule.concat %x, %y {axis = 0} : (tensor<2x6xf32>, tensor<4x6xf32>) -> tensor<6x6xf32>
  %e = ferrule.concat %u, %zu {axis = 1} : (tensor<6x2xf32>, tensor<6x4xf32>) -> tensor<6x6xf32>
  %f = ferrule.concat %z2, %y {axis = 0} : (tensor<2x6xf32>, tensor<4x6xf32>) -> tensor<6x6xf32>
  %g = ferrule.concat %x, %y {axis = 0} : (tensor<2x6xf32>, tensor<4x6xf32>) -> tensor<6x6xf32>
  %p = ferrule.add %c, %d : (tensor<6x6xf32>, tensor<6x6xf32>) -> tensor<6x6xf32>
  %q = ferrule.add %e, %f : (tensor<6x6xf32>, tensor<6x6xf32>) -> tensor<6x6xf32>
  %cut = ferrule.concat %y, %z2 {axis = 0} : (tensor<4x6xf32>, tensor<2x6xf32>) -> tensor<6x6xf32>
  %r = ferrule.add %g, %cut : (tensor<6x6xf32>, tensor<6x6xf32>) -> tensor<6x6xf32>
  return %p, %q, %r : tensor<6x6xf32>, tensor<6x6xf32>, tensor<6x6xf32>
}
