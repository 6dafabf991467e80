// RUN: ferrule-opt %s --ferrule-expand-gradients --ferrule-prune --ferrule-fuse --ferrule-recompute=budget-fraction=0.8 \
// RUN:   | FileCheck %s
// RUN: ferrule-opt %s --ferrule-expand-gradients --ferrule-prune --ferrule-fuse --ferrule-recompute=budget-fraction=0.8 \
// RUN:   --ferrule-plan-memory | FileCheck %s --check-prefix=PLAN

// 37 steps in reverse: the step behind the segments comes first, and keeps what it makes for its gradient, which comes last.
// PLAN: ferrule_plan.entry @rest
// PLAN-SAME: peak 896
// CHECK-LABEL: func.func @rest
// CHECK: ferrule.slice {{.*}} {starts = #ferrule.dims<[36, 0, 0]>
// CHECK: %[[REST:.*]]:3 = ferrule.scan inits(%arg0
// CHECK-SAME: length = #ferrule.dims<[1]>, reverse = true}
// CHECK: ferrule.slice {{.*}} stops = #ferrule.dims<[36, 2, 4]>
// CHECK: ferrule.scan inits(%[[REST]]#0 :
// CHECK-SAME: length = #ferrule.dims<[9]>, reverse = true}
// CHECK: %[[SEGMENTS:.*]]:2 = ferrule.scan inits(
// CHECK-SAME: length = #ferrule.dims<[9]>}
// CHECK: ferrule.scan inits(%[[SEGMENTS]]#0, %[[SEGMENTS]]#1 : tensor<2x4xf32>, tensor<4x4xf32>) xs(%[[REST]]#1, %[[REST]]#2 :
// CHECK-SAME: length = #ferrule.dims<[1]>}
func.func @rest(%h: tensor<2x4xf32> {ferrule.name = "h"}, %x: tensor<37x2x4xf32> {ferrule.name = "x"},
                %w: tensor<4x4xf32> {ferrule.name = "w"}) -> (tensor<4x4xf32> {ferrule.name = "dw"}) {
  %last = ferrule.scan inits(%h : tensor<2x4xf32>) xs(%x : tensor<37x2x4xf32>) captures(%w : tensor<4x4xf32>)
      attributes {length = #ferrule.dims<[37]>, reverse = true} -> tensor<2x4xf32> {
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
