// RUN: ferrule-opt %s --ferrule-fuse-attention | FileCheck %s

// Heads are split by a transpose on the way in and joined on the way out; both are strides of [samples, length, heads * 16].
// CHECK-LABEL: func.func @heads
// CHECK-NOT: ferrule.transpose
// CHECK: ferrule.attention %{{.*}}, %{{.*}}, %{{.*}} {
// CHECK-SAME: bias_strides
// CHECK-SAME: divides = true
// CHECK-SAME: k_strides = #ferrule.dims<[0, 0, 1280, 16, 64, 1]>
// CHECK-SAME: out_strides = #ferrule.dims<[0, 0, 1280, 16, 64, 1]>
// CHECK-SAME: q_strides = #ferrule.dims<[0, 0, 1280, 16, 64, 1]>
// CHECK-SAME: scale = 4.000000e+00
// CHECK-SAME: sizes = #ferrule.dims<[1, 2, 4, 20, 20, 16, 16]>
// CHECK-NOT: ferrule.matmul
func.func @heads(%q: tensor<2x20x64xf32>, %k: tensor<2x20x64xf32>, %v: tensor<2x20x64xf32>, %mask: tensor<20x20xf32>)
    -> tensor<2x20x64xf32> {
  %0 = ferrule.reshape %q {shape = #ferrule.dims<[2, 20, 4, 16]>} : (tensor<2x20x64xf32>) -> tensor<2x20x4x16xf32>
  %1 = ferrule.transpose %0 {pattern = array<i64: 0, 2, 1, 3>} : (tensor<2x20x4x16xf32>) -> tensor<2x4x20x16xf32>
  %2 = ferrule.reshape %k {shape = #ferrule.dims<[2, 20, 4, 16]>} : (tensor<2x20x64xf32>) -> tensor<2x20x4x16xf32>
  %3 = ferrule.transpose %2 {pattern = array<i64: 0, 2, 3, 1>} : (tensor<2x20x4x16xf32>) -> tensor<2x4x16x20xf32>
  %4 = ferrule.reshape %v {shape = #ferrule.dims<[2, 20, 4, 16]>} : (tensor<2x20x64xf32>) -> tensor<2x20x4x16xf32>
  %5 = ferrule.transpose %4 {pattern = array<i64: 0, 2, 1, 3>} : (tensor<2x20x4x16xf32>) -> tensor<2x4x20x16xf32>
  %6 = ferrule.matmul %1, %3 : (tensor<2x4x20x16xf32>, tensor<2x4x16x20xf32>) -> tensor<2x4x20x20xf32>
  %four = ferrule.constant {value = dense<4.0> : tensor<f32>} : () -> tensor<f32>
  %7 = ferrule.broadcast_to %four {shape = #ferrule.dims<[2, 4, 20, 20]>} : (tensor<f32>) -> tensor<2x4x20x20xf32>
  %8 = ferrule.div %6, %7 : (tensor<2x4x20x20xf32>, tensor<2x4x20x20xf32>) -> tensor<2x4x20x20xf32>
  %9 = ferrule.broadcast_to %mask {shape = #ferrule.dims<[2, 4, 20, 20]>} : (tensor<20x20xf32>) -> tensor<2x4x20x20xf32>
  %10 = ferrule.add %8, %9 : (tensor<2x4x20x20xf32>, tensor<2x4x20x20xf32>) -> tensor<2x4x20x20xf32>
  %11 = ferrule.softmax %10 {axis = 3 : i64} : (tensor<2x4x20x20xf32>) -> tensor<2x4x20x20xf32>
  %12 = ferrule.matmul %11, %5 : (tensor<2x4x20x20xf32>, tensor<2x4x20x16xf32>) -> tensor<2x4x20x16xf32>
  %13 = ferrule.transpose %12 {pattern = array<i64: 0, 2, 1, 3>} : (tensor<2x4x20x16xf32>) -> tensor<2x20x4x16xf32>
  %14 = ferrule.reshape %13 {shape = #ferrule.dims<[2, 20, 64]>} : (tensor<2x20x4x16xf32>) -> tensor<2x20x64xf32>
  return %14 : tensor<2x20x64xf32>
}

// Samples and heads are one axis of the products and two of the mask, which is the same for all heads.
// CHECK-LABEL: func.func @one_batch_axis
// CHECK: ferrule.attention %arg0, %arg1, %arg2, %arg3 {
// CHECK-SAME: fill = -1.000000e+04
// CHECK-SAME: mask_strides = #ferrule.dims<[0, 0, 20, 0, 0, 1]>
// CHECK-SAME: q_strides = #ferrule.dims<[0, 0, 1280, 320, 16, 1]>
// CHECK-NOT: ferrule.softmax
func.func @one_batch_axis(%q: tensor<?x20x16xf32, #ferrule.dims<[batch * 4, 20, 16]>>,
                          %k: tensor<?x20x16xf32, #ferrule.dims<[batch * 4, 20, 16]>>,
                          %v: tensor<?x20x16xf32, #ferrule.dims<[batch * 4, 20, 16]>>,
                          %present: tensor<?x20xi1, #ferrule.dims<[batch, 20]>>)
    -> tensor<?x20x16xf32, #ferrule.dims<[batch * 4, 20, 16]>> {
  %0 = ferrule.matmul %q, %k {transpose_b = true} : (tensor<?x20x16xf32, #ferrule.dims<[batch * 4, 20, 16]>>, tensor<?x20x16xf32, #ferrule.dims<[batch * 4, 20, 16]>>) -> tensor<?x20x20xf32, #ferrule.dims<[batch * 4, 20, 20]>>
  %1 = ferrule.reshape %0 {shape = #ferrule.dims<[batch, 4, 20, 20]>} : (tensor<?x20x20xf32, #ferrule.dims<[batch * 4, 20, 20]>>) -> tensor<?x4x20x20xf32, #ferrule.dims<[batch, 4, 20, 20]>>
  %2 = ferrule.reshape %present {shape = #ferrule.dims<[batch, 1, 1, 20]>} : (tensor<?x20xi1, #ferrule.dims<[batch, 20]>>) -> tensor<?x1x1x20xi1, #ferrule.dims<[batch, 1, 1, 20]>>
  %3 = ferrule.broadcast_to %2 {shape = #ferrule.dims<[batch, 4, 20, 20]>} : (tensor<?x1x1x20xi1, #ferrule.dims<[batch, 1, 1, 20]>>) -> tensor<?x4x20x20xi1, #ferrule.dims<[batch, 4, 20, 20]>>
  %low = ferrule.constant {value = dense<-1.0e4> : tensor<f32>} : () -> tensor<f32>
  %4 = ferrule.broadcast_to %low {shape = #ferrule.dims<[batch, 4, 20, 20]>} : (tensor<f32>) -> tensor<?x4x20x20xf32, #ferrule.dims<[batch, 4, 20, 20]>>
  %5 = ferrule.where %3, %1, %4 : (tensor<?x4x20x20xi1, #ferrule.dims<[batch, 4, 20, 20]>>, tensor<?x4x20x20xf32, #ferrule.dims<[batch, 4, 20, 20]>>, tensor<?x4x20x20xf32, #ferrule.dims<[batch, 4, 20, 20]>>) -> tensor<?x4x20x20xf32, #ferrule.dims<[batch, 4, 20, 20]>>
  %6 = ferrule.softmax %5 {axis = 3 : i64} : (tensor<?x4x20x20xf32, #ferrule.dims<[batch, 4, 20, 20]>>) -> tensor<?x4x20x20xf32, #ferrule.dims<[batch, 4, 20, 20]>>
  %7 = ferrule.reshape %6 {shape = #ferrule.dims<[batch * 4, 20, 20]>} : (tensor<?x4x20x20xf32, #ferrule.dims<[batch, 4, 20, 20]>>) -> tensor<?x20x20xf32, #ferrule.dims<[batch * 4, 20, 20]>>
  %8 = ferrule.matmul %7, %v : (tensor<?x20x20xf32, #ferrule.dims<[batch * 4, 20, 20]>>, tensor<?x20x16xf32, #ferrule.dims<[batch * 4, 20, 16]>>) -> tensor<?x20x16xf32, #ferrule.dims<[batch * 4, 20, 16]>>
  return %8 : tensor<?x20x16xf32, #ferrule.dims<[batch * 4, 20, 16]>>
}

// The weights are read by somebody else, as the gradient does.
// CHECK-LABEL: func.func @weights_are_read
// CHECK-NOT: ferrule.attention
// CHECK: ferrule.softmax
func.func @weights_are_read(%q: tensor<20x16xf32>, %k: tensor<30x16xf32>, %v: tensor<30x8xf32>)
    -> (tensor<20x8xf32>, tensor<20x30xf32>) {
  %0 = ferrule.matmul %q, %k {transpose_b = true} : (tensor<20x16xf32>, tensor<30x16xf32>) -> tensor<20x30xf32>
  %1 = ferrule.softmax %0 {axis = 1 : i64} : (tensor<20x30xf32>) -> tensor<20x30xf32>
  %2 = ferrule.matmul %1, %v : (tensor<20x30xf32>, tensor<30x8xf32>) -> tensor<20x8xf32>
  return %2, %1 : tensor<20x8xf32>, tensor<20x30xf32>
}

// Softmax along the queries is another function.
// CHECK-LABEL: func.func @other_axis
// CHECK-NOT: ferrule.attention
// CHECK: return
func.func @other_axis(%q: tensor<20x16xf32>, %k: tensor<30x16xf32>, %v: tensor<30x8xf32>) -> tensor<20x8xf32> {
  %0 = ferrule.matmul %q, %k {transpose_b = true} : (tensor<20x16xf32>, tensor<30x16xf32>) -> tensor<20x30xf32>
  %1 = ferrule.softmax %0 {axis = 0 : i64} : (tensor<20x30xf32>) -> tensor<20x30xf32>
  %2 = ferrule.matmul %1, %v : (tensor<20x30xf32>, tensor<30x8xf32>) -> tensor<20x8xf32>
  return %2 : tensor<20x8xf32>
}

// Two heads of the query share one of the keys, which is repeated by a broadcast; the queries are a part of a projection.
// CHECK-LABEL: func.func @shared_heads
// CHECK: ferrule.attention %arg0, %arg1, %arg1 {
// CHECK-SAME: k_strides = #ferrule.dims<[0, 0, 160, 0, 8, 1]>
// CHECK-SAME: q_strides = #ferrule.dims<[8, 0, 1280, 640, 32, 1]>
// CHECK-SAME: sizes = #ferrule.dims<[1, 3, 2, 20, 20, 8, 8]>
func.func @shared_heads(%x: tensor<6x20x32xf32>, %kv: tensor<3x20x8xf32>) -> tensor<6x20x8xf32> {
  %q = ferrule.slice %x {starts = #ferrule.dims<[0, 0, 8]>, stops = #ferrule.dims<[6, 20, 16]>, steps = array<i64: 1, 1, 1>} : (tensor<6x20x32xf32>) -> tensor<6x20x8xf32>
  %0 = ferrule.reshape %kv {shape = #ferrule.dims<[3, 1, 20, 8]>} : (tensor<3x20x8xf32>) -> tensor<3x1x20x8xf32>
  %1 = ferrule.broadcast_to %0 {shape = #ferrule.dims<[3, 2, 20, 8]>} : (tensor<3x1x20x8xf32>) -> tensor<3x2x20x8xf32>
  %k = ferrule.reshape %1 {shape = #ferrule.dims<[6, 20, 8]>} : (tensor<3x2x20x8xf32>) -> tensor<6x20x8xf32>
  %2 = ferrule.matmul %q, %k {transpose_b = true} : (tensor<6x20x8xf32>, tensor<6x20x8xf32>) -> tensor<6x20x20xf32>
  %3 = ferrule.softmax %2 {axis = 2 : i64} : (tensor<6x20x20xf32>) -> tensor<6x20x20xf32>
  %4 = ferrule.matmul %3, %k : (tensor<6x20x20xf32>, tensor<6x20x8xf32>) -> tensor<6x20x8xf32>
  return %4 : tensor<6x20x8xf32>
}
