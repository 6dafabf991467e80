// RUN: ferrule-opt %s --ferrule-expand-gradients --ferrule-prune --ferrule-simplify --ferrule-fuse-attention | FileCheck %s

// The gradient computes the weights again, so that the attention itself is fused, too. Heads are strides of the
// projections, and so are the gradients for them.
// CHECK-LABEL: func.func @heads
// CHECK-NOT: ferrule.matmul
// CHECK: ferrule.attention %arg0, %arg1, %arg2 {
// CHECK: %q_gradient, %k_gradient, %v_gradient = ferrule.attention_gradient %arg0, %arg1, %arg2, %arg3 {
// CHECK-SAME: divides = true
// CHECK-SAME: g_strides = #ferrule.dims<[0, 0, 1280, 16, 64, 1]>
// CHECK-SAME: k_gradient_strides = #ferrule.dims<[0, 0, 1280, 16, 64, 1]>
// CHECK-SAME: scale = 4.000000e+00
// CHECK-SAME: sizes = #ferrule.dims<[1, 2, 4, 20, 20, 16, 16]>
// CHECK-NOT: ferrule.matmul
func.func @heads(%q: tensor<2x20x64xf32>, %k: tensor<2x20x64xf32>, %v: tensor<2x20x64xf32>, %g: tensor<2x20x64xf32>)
    -> (tensor<2x20x64xf32>, tensor<2x20x64xf32>, tensor<2x20x64xf32>, tensor<2x20x64xf32>) {
  %q0 = ferrule.reshape %q {shape = #ferrule.dims<[2, 20, 4, 16]>} : (tensor<2x20x64xf32>) -> tensor<2x20x4x16xf32>
  %hq = ferrule.transpose %q0 {pattern = array<i64: 0, 2, 1, 3>} : (tensor<2x20x4x16xf32>) -> tensor<2x4x20x16xf32>
  %k0 = ferrule.reshape %k {shape = #ferrule.dims<[2, 20, 4, 16]>} : (tensor<2x20x64xf32>) -> tensor<2x20x4x16xf32>
  %hk = ferrule.transpose %k0 {pattern = array<i64: 0, 2, 3, 1>} : (tensor<2x20x4x16xf32>) -> tensor<2x4x16x20xf32>
  %v0 = ferrule.reshape %v {shape = #ferrule.dims<[2, 20, 4, 16]>} : (tensor<2x20x64xf32>) -> tensor<2x20x4x16xf32>
  %hv = ferrule.transpose %v0 {pattern = array<i64: 0, 2, 1, 3>} : (tensor<2x20x4x16xf32>) -> tensor<2x4x20x16xf32>
  %s = ferrule.matmul %hq, %hk : (tensor<2x4x20x16xf32>, tensor<2x4x16x20xf32>) -> tensor<2x4x20x20xf32>
  %four = ferrule.constant {value = dense<4.0> : tensor<f32>} : () -> tensor<f32>
  %scale = ferrule.broadcast_to %four {shape = #ferrule.dims<[2, 4, 20, 20]>} : (tensor<f32>) -> tensor<2x4x20x20xf32>
  %scaled = ferrule.div %s, %scale : (tensor<2x4x20x20xf32>, tensor<2x4x20x20xf32>) -> tensor<2x4x20x20xf32>
  %w = ferrule.softmax %scaled {axis = 3 : i64} : (tensor<2x4x20x20xf32>) -> tensor<2x4x20x20xf32>
  %o = ferrule.matmul %w, %hv : (tensor<2x4x20x20xf32>, tensor<2x4x20x16xf32>) -> tensor<2x4x20x16xf32>
  %o0 = ferrule.transpose %o {pattern = array<i64: 0, 2, 1, 3>} : (tensor<2x4x20x16xf32>) -> tensor<2x20x4x16xf32>
  %y = ferrule.reshape %o0 {shape = #ferrule.dims<[2, 20, 64]>} : (tensor<2x20x4x16xf32>) -> tensor<2x20x64xf32>
  %dq, %dk, %dv = ferrule.gradient %y, %g, %q, %k, %v {operandSegmentSizes = array<i32: 1, 1, 3>}
      : (tensor<2x20x64xf32>, tensor<2x20x64xf32>, tensor<2x20x64xf32>, tensor<2x20x64xf32>, tensor<2x20x64xf32>)
     -> (tensor<2x20x64xf32>, tensor<2x20x64xf32>, tensor<2x20x64xf32>)
  return %y, %dq, %dk, %dv : tensor<2x20x64xf32>, tensor<2x20x64xf32>, tensor<2x20x64xf32>, tensor<2x20x64xf32>
}

// The mask fills scores, the bias is added after: neither gradient passes where the mask is true.
// CHECK-LABEL: func.func @filled
// CHECK-NOT: ferrule.softmax
// CHECK: ferrule.attention_gradient %arg0, %arg1, %arg2, %arg3, %arg4, %arg5 {
// CHECK-SAME: bias_strides = #ferrule.dims<[0, 0, 0, 0, 30, 1]>
// CHECK-SAME: fill = -1.000000e+04
// CHECK-SAME: fills_true = true
// CHECK-SAME: mask_strides = #ferrule.dims<[0, 0, 0, 0, 30, 1]>
// CHECK-SAME: masks_first = true
func.func @filled(%q: tensor<20x16xf32>, %k: tensor<30x16xf32>, %v: tensor<30x8xf32>, %g: tensor<20x8xf32>,
                  %mask: tensor<20x30xi1>, %bias: tensor<20x30xf32>)
    -> (tensor<20x16xf32>, tensor<30x16xf32>, tensor<30x8xf32>) {
  %s = ferrule.matmul %q, %k {transpose_b = true} : (tensor<20x16xf32>, tensor<30x16xf32>) -> tensor<20x30xf32>
  %low = ferrule.constant {value = dense<-1.0e4> : tensor<20x30xf32>} : () -> tensor<20x30xf32>
  %f = ferrule.where %mask, %low, %s : (tensor<20x30xi1>, tensor<20x30xf32>, tensor<20x30xf32>) -> tensor<20x30xf32>
  %b = ferrule.add %f, %bias : (tensor<20x30xf32>, tensor<20x30xf32>) -> tensor<20x30xf32>
  %w = ferrule.softmax %b {axis = 1 : i64} : (tensor<20x30xf32>) -> tensor<20x30xf32>
  %y = ferrule.matmul %w, %v : (tensor<20x30xf32>, tensor<30x8xf32>) -> tensor<20x8xf32>
  %dq, %dk, %dv = ferrule.gradient %y, %g, %q, %k, %v {operandSegmentSizes = array<i32: 1, 1, 3>}
      : (tensor<20x8xf32>, tensor<20x8xf32>, tensor<20x16xf32>, tensor<30x16xf32>, tensor<30x8xf32>)
     -> (tensor<20x16xf32>, tensor<30x16xf32>, tensor<30x8xf32>)
  return %dq, %dk, %dv : tensor<20x16xf32>, tensor<30x16xf32>, tensor<30x8xf32>
}

// A bias that is learnt needs the gradient of the scores.
// CHECK-LABEL: func.func @learnt_bias
// CHECK-NOT: ferrule.attention
// CHECK: return
func.func @learnt_bias(%q: tensor<20x16xf32>, %k: tensor<30x16xf32>, %v: tensor<30x8xf32>, %g: tensor<20x8xf32>,
                       %bias: tensor<20x30xf32>)
    -> (tensor<20x16xf32>, tensor<30x16xf32>, tensor<30x8xf32>, tensor<20x30xf32>) {
  %s = ferrule.matmul %q, %k {transpose_b = true} : (tensor<20x16xf32>, tensor<30x16xf32>) -> tensor<20x30xf32>
  %b = ferrule.add %s, %bias : (tensor<20x30xf32>, tensor<20x30xf32>) -> tensor<20x30xf32>
  %w = ferrule.softmax %b {axis = 1 : i64} : (tensor<20x30xf32>) -> tensor<20x30xf32>
  %y = ferrule.matmul %w, %v : (tensor<20x30xf32>, tensor<30x8xf32>) -> tensor<20x8xf32>
  %dq, %dk, %dv, %db = ferrule.gradient %y, %g, %q, %k, %v, %bias {operandSegmentSizes = array<i32: 1, 1, 4>}
      : (tensor<20x8xf32>, tensor<20x8xf32>, tensor<20x16xf32>, tensor<30x16xf32>, tensor<30x8xf32>, tensor<20x30xf32>)
     -> (tensor<20x16xf32>, tensor<30x16xf32>, tensor<30x8xf32>, tensor<20x30xf32>)
  return %dq, %dk, %dv, %db : tensor<20x16xf32>, tensor<30x16xf32>, tensor<30x8xf32>, tensor<20x30xf32>
}

// Without a gradient for the values the weights are read for those of q and k alone.
// CHECK-LABEL: func.func @constant_values
// CHECK-NOT: ferrule.attention
// CHECK: return
func.func @constant_values(%q: tensor<20x16xf32>, %k: tensor<30x16xf32>, %v: tensor<30x8xf32>, %g: tensor<20x8xf32>)
    -> (tensor<20x16xf32>, tensor<30x16xf32>) {
  %s = ferrule.matmul %q, %k {transpose_b = true} : (tensor<20x16xf32>, tensor<30x16xf32>) -> tensor<20x30xf32>
  %w = ferrule.softmax %s {axis = 1 : i64} : (tensor<20x30xf32>) -> tensor<20x30xf32>
  %y = ferrule.matmul %w, %v : (tensor<20x30xf32>, tensor<30x8xf32>) -> tensor<20x8xf32>
  %dq, %dk = ferrule.gradient %y, %g, %q, %k {operandSegmentSizes = array<i32: 1, 1, 2>}
      : (tensor<20x8xf32>, tensor<20x8xf32>, tensor<20x16xf32>, tensor<30x16xf32>) -> (tensor<20x16xf32>, tensor<30x16xf32>)
  return %dq, %dk : tensor<20x16xf32>, tensor<30x16xf32>
}
