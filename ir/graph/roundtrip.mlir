// RUN: ferrule-opt %s | ferrule-opt | FileCheck %s

// CHECK: ferrule.variable @net.w {aliases = ["net.tied"], value = dense<1.000000e+00> : tensor<3xf32>} : tensor<3xf32>
ferrule.variable @net.w {value = dense<1.0> : tensor<3xf32>, role = "parameter", trainable = true, aliases = ["net.tied"]} : tensor<3xf32>
// CHECK: ferrule.variable @net.w.momentum {of = @net.w, role = "optimizer_state"} : tensor<3xf32>
ferrule.variable @net.w.momentum {role = "optimizer_state", of = @net.w} : tensor<3xf32>

// Expressions print in canonical form, with words for `//` and `%`.
// CHECK-LABEL: func.func @dims
// CHECK-SAME: #ferrule.dims<[batch, batch * 2 + 1, (h + 1) floordiv 2, h mod 4, max(batch, h), 5 - batch]>
func.func @dims(%x: tensor<?x?x?x?x?x?xf32, #ferrule.dims<[batch, 1 + 2 * batch, (1 + h) floordiv 2, h mod 4, max(h, batch), 5 - batch]>>) {
  return
}

// CHECK-LABEL: func.func @state
// CHECK: %[[W:.*]] = ferrule.read @net.w : tensor<3xf32>
// CHECK: %[[N:.*]] = ferrule.neg %[[W]] : (tensor<3xf32>) -> tensor<3xf32>
// CHECK: ferrule.assign @net.w, %[[N]] : tensor<3xf32>
func.func @state() {
  %w = ferrule.read @net.w : tensor<3xf32>
  %n = ferrule.neg %w : (tensor<3xf32>) -> tensor<3xf32>
  ferrule.assign @net.w, %n : tensor<3xf32>
  return
}

// The batch passes through convolution and pooling as an expression; (28 + 2 - 3) // 2 + 1 = 14.
// CHECK-LABEL: func.func @convolution
// CHECK: ferrule.convolution
// CHECK-SAME: -> tensor<?x8x14x14xf32, #ferrule.dims<[batch, 8, 14, 14]>>
func.func @convolution(%x: tensor<?x1x28x28xf32, #ferrule.dims<[batch, 1, 28, 28]>>, %w: tensor<8x1x3x3xf32>) {
  %y = ferrule.convolution %x, %w {strides = array<i64: 2, 2>, pads_begin = array<i64: 1, 1>, pads_end = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x1x28x28xf32, #ferrule.dims<[batch, 1, 28, 28]>>, tensor<8x1x3x3xf32>) -> tensor<?x8x14x14xf32, #ferrule.dims<[batch, 8, 14, 14]>>
  return
}

// batch * 784 elements, however they are cut.
// CHECK-LABEL: func.func @reshape
// CHECK: -> tensor<?x784xf32, #ferrule.dims<[batch, 784]>>
func.func @reshape(%x: tensor<?x1x28x28xf32, #ferrule.dims<[batch, 1, 28, 28]>>) {
  %y = ferrule.reshape %x {shape = #ferrule.dims<[batch, 784]>} : (tensor<?x1x28x28xf32, #ferrule.dims<[batch, 1, 28, 28]>>) -> tensor<?x784xf32, #ferrule.dims<[batch, 784]>>
  return
}

// CHECK-LABEL: func.func @control_flow
func.func @control_flow(%x: tensor<?x4xf32, #ferrule.dims<[batch, 4]>>, %p: tensor<i1>, %w: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<?x4xf32, #ferrule.dims<[batch, 4]>>, tensor<4xf32>) {
  // CHECK: ferrule.scan inits(%{{.*}} : tensor<4xf32>) xs(%{{.*}} : tensor<?x4xf32, #ferrule.dims<[batch, 4]>>)
  // CHECK-SAME: captures(%{{.*}} : tensor<4xf32>) attributes {length = #ferrule.dims<[batch]>, reverse = true}
  %last, %all = ferrule.scan inits(%w : tensor<4xf32>) xs(%x : tensor<?x4xf32, #ferrule.dims<[batch, 4]>>)
      captures(%w : tensor<4xf32>) attributes {length = #ferrule.dims<[batch]>, reverse = true}
      -> tensor<4xf32>, tensor<?x4xf32, #ferrule.dims<[batch, 4]>> {
  ^bb0(%carry: tensor<4xf32>, %slice: tensor<4xf32>, %weight: tensor<4xf32>):
    %0 = ferrule.mul %slice, %weight : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %1 = ferrule.add %carry, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ferrule.yield %1, %0 : tensor<4xf32>, tensor<4xf32>
  }
  // CHECK: ferrule.if %{{.*}} : tensor<i1> captures(%{{.*}} : tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: } else {
  %chosen = ferrule.if %p : tensor<i1> captures(%last : tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %0 = ferrule.neg %a : (tensor<4xf32>) -> tensor<4xf32>
    ferrule.yield %0 : tensor<4xf32>
  } else {
  ^bb0(%a: tensor<4xf32>):
    ferrule.yield %a : tensor<4xf32>
  }
  // CHECK: ferrule.while inits(%{{.*}} : tensor<i1>, tensor<4xf32>) captures() attributes {max_steps = #ferrule.dims<[batch]>}
  // CHECK: condition {
  // CHECK: } body {
  %done, %end = ferrule.while inits(%p, %chosen : tensor<i1>, tensor<4xf32>) captures()
      attributes {max_steps = #ferrule.dims<[batch]>} -> tensor<i1>, tensor<4xf32> condition {
  ^bb0(%a: tensor<i1>, %b: tensor<4xf32>):
    ferrule.yield %a : tensor<i1>
  } body {
  ^bb0(%a: tensor<i1>, %b: tensor<4xf32>):
    %0 = ferrule.logical_not %a : (tensor<i1>) -> tensor<i1>
    ferrule.yield %0, %b : tensor<i1>, tensor<4xf32>
  }
  return %last, %all, %end : tensor<4xf32>, tensor<?x4xf32, #ferrule.dims<[batch, 4]>>, tensor<4xf32>
}
