// RUN: ferrule-opt %s --split-input-file --ferrule-expand-gradients --ferrule-prune | FileCheck %s

// c = sin(c) * w over 5 steps. Forward, the scan stacks the carries that its steps begin with. Backward, a scan the
// other way carries the cotangent of c and the sum for w, which begins with -0; a step computes sin again, and adds to
// the sum what came before it first.
// CHECK-LABEL: func.func @recurrence
// CHECK: %[[F:.*]]:2 = ferrule.scan inits(%arg0 : tensor<f32>) xs() captures(%arg1 : tensor<f32>) attributes {length = #ferrule.dims<[5]>
// CHECK-SAME: -> tensor<f32>, tensor<5xf32>
// CHECK-NEXT: ^bb0(%[[C:.*]]: tensor<f32>, %[[W:.*]]: tensor<f32>):
// CHECK: ferrule.yield %{{.*}}, %[[C]] : tensor<f32>, tensor<f32>
// CHECK: %[[ZERO:.*]] = ferrule.constant {value = dense<-0.000000e+00> : tensor<f32>}
// CHECK: %[[B:.*]]:2 = ferrule.scan inits(%{{.*}}, %[[ZERO]] : tensor<f32>, tensor<f32>) xs(%[[F]]#1 : tensor<5xf32>) captures(%arg1 : tensor<f32>)
// CHECK-SAME: reverse = true
// CHECK-NEXT: ^bb0(%[[DC:.*]]: tensor<f32>, %[[SUM:.*]]: tensor<f32>, %[[C0:.*]]: tensor<f32>, %[[W0:.*]]: tensor<f32>):
// CHECK: %[[SIN:.*]] = ferrule.sin %[[C0]]
// CHECK: %[[DW:.*]] = ferrule.mul %[[DC]], %[[SIN]]
// CHECK: %[[NEXT:.*]] = ferrule.add %[[SUM]], %[[DW]]
// CHECK: ferrule.yield %{{.*}}, %[[NEXT]]
// CHECK: return %[[B]]#0, %[[B]]#1
func.func @recurrence(%c: tensor<f32> {ferrule.name = "c"}, %w: tensor<f32> {ferrule.name = "w"})
    -> (tensor<f32> {ferrule.name = "dc"}, tensor<f32> {ferrule.name = "dw"}) {
  %cost = ferrule.scan inits(%c : tensor<f32>) xs() captures(%w : tensor<f32>)
      attributes {length = #ferrule.dims<[5]>} -> tensor<f32> {
  ^bb0(%carry: tensor<f32>, %weight: tensor<f32>):
    %0 = ferrule.sin %carry : (tensor<f32>) -> tensor<f32>
    %1 = ferrule.mul %0, %weight : (tensor<f32>, tensor<f32>) -> tensor<f32>
    ferrule.yield %1 : tensor<f32>
  }
  %dc, %dw = ferrule.gradient %cost, %c, %w {operandSegmentSizes = array<i32: 1, 0, 2>}
      : (tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %dc, %dw : tensor<f32>, tensor<f32>
}

// -----

// A branch: the gradient of the one that ran. The other one does not read x, so its gradient is zero.
// CHECK-LABEL: func.func @branch
// CHECK: %[[D:.*]] = ferrule.if %arg0 : tensor<i1> captures(%arg1, %{{.*}} : tensor<f32>, tensor<f32>) -> tensor<f32> {
// CHECK-NEXT: ^bb0(%[[X:.*]]: tensor<f32>, %[[G:.*]]: tensor<f32>):
// CHECK: %[[COS:.*]] = ferrule.cos %[[X]]
// CHECK: %[[DX:.*]] = ferrule.mul %[[G]], %[[COS]]
// CHECK: ferrule.yield %[[DX]]
// CHECK: } else {
// CHECK: ferrule.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK: return %[[D]]
func.func @branch(%p: tensor<i1> {ferrule.name = "p"}, %x: tensor<f32> {ferrule.name = "x"})
    -> (tensor<f32> {ferrule.name = "dx"}) {
  %cost = ferrule.if %p : tensor<i1> captures(%x : tensor<f32>) -> tensor<f32> {
  ^bb0(%a: tensor<f32>):
    %0 = ferrule.sin %a : (tensor<f32>) -> tensor<f32>
    ferrule.yield %0 : tensor<f32>
  } else {
  ^bb0(%a: tensor<f32>):
    %0 = ferrule.constant {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
    ferrule.yield %0 : tensor<f32>
  }
  %dx = ferrule.gradient %cost, %x {operandSegmentSizes = array<i32: 1, 0, 1>} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %dx : tensor<f32>
}

// -----

// A while loop of at most 8 steps is a scan of 8 steps, with a branch on whether the condition still holds.
// CHECK-LABEL: func.func @limited
// CHECK: ferrule.less %arg0, %arg1
// CHECK: ferrule.scan inits(%{{.*}}, %arg0 : tensor<i1>, tensor<f32>) xs() captures(%arg1 : tensor<f32>) attributes {length = #ferrule.dims<[8]>
// CHECK: ferrule.if
// CHECK-NOT: ferrule.while
func.func @limited(%x: tensor<f32> {ferrule.name = "x"}, %limit: tensor<f32> {ferrule.name = "limit"})
    -> (tensor<f32> {ferrule.name = "dx"}) {
  %cost = ferrule.while inits(%x : tensor<f32>) captures(%limit : tensor<f32>)
      attributes {max_steps = #ferrule.dims<[8]>} -> tensor<f32> condition {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %0 = ferrule.less %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    ferrule.yield %0 : tensor<i1>
  } body {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %0 = ferrule.exp %a : (tensor<f32>) -> tensor<f32>
    ferrule.yield %0 : tensor<f32>
  }
  %dx = ferrule.gradient %cost, %x {operandSegmentSizes = array<i32: 1, 0, 1>} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %dx : tensor<f32>
}

// -----

// What the product of a step made, with what is added to it, is stacked: the gradient multiplies by nothing but cotangents.
// CHECK-LABEL: func.func @kept_product
// CHECK: %[[F:.*]]:3 = ferrule.scan
// CHECK: %[[P:.*]] = ferrule.matmul
// CHECK: %[[S:.*]] = ferrule.add %[[P]]
// CHECK: %[[H:.*]] = ferrule.tanh %[[S]]
// CHECK: ferrule.yield %[[H]], %{{.*}}, %[[S]]
// CHECK: ferrule.scan inits({{.*}}) xs(%[[F]]#1, %[[F]]#2 : tensor<3x2x4xf32>, tensor<3x2x4xf32>)
// CHECK-NEXT: ^bb0(%{{.*}}, %[[KEPT:[a-z0-9]*]]: tensor<2x4xf32>, %{{[a-z0-9]*}}: tensor<4x4xf32>):
// CHECK: ferrule.tanh %[[KEPT]]
func.func @kept_product(%h: tensor<2x4xf32> {ferrule.name = "h"}, %x: tensor<3x2x4xf32> {ferrule.name = "x"},
                        %w: tensor<4x4xf32> {ferrule.name = "w"}) -> (tensor<4x4xf32> {ferrule.name = "dw"}) {
  %last = ferrule.scan inits(%h : tensor<2x4xf32>) xs(%x : tensor<3x2x4xf32>) captures(%w : tensor<4x4xf32>)
      attributes {length = #ferrule.dims<[3]>} -> tensor<2x4xf32> {
  ^bb0(%a: tensor<2x4xf32>, %b: tensor<2x4xf32>, %c: tensor<4x4xf32>):
    %p = ferrule.matmul %a, %c : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
    %s = ferrule.add %p, %b : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %t = ferrule.tanh %s : (tensor<2x4xf32>) -> tensor<2x4xf32>
    ferrule.yield %t : tensor<2x4xf32>
  }
  %cost = ferrule.reduce_sum %last {axes = array<i64: 0, 1>} : (tensor<2x4xf32>) -> tensor<f32>
  %dw = ferrule.gradient %cost, %w {operandSegmentSizes = array<i32: 1, 0, 1>} : (tensor<f32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %dw : tensor<4x4xf32>
}
