// RUN: ferrule-opt %s --ferrule-expand-gradients --ferrule-prune --ferrule-fuse \
// RUN:   --ferrule-recompute=budget-fraction=0.5 | FileCheck %s
// RUN: ferrule-opt %s --ferrule-expand-gradients --ferrule-prune --ferrule-fuse --ferrule-plan-memory \
// RUN:   | FileCheck %s --check-prefix=WHOLE
// RUN: ferrule-opt %s --ferrule-expand-gradients --ferrule-prune --ferrule-fuse \
// RUN:   --ferrule-recompute=budget-fraction=0.5 --ferrule-plan-memory | FileCheck %s --check-prefix=PLAN

// h = tanh(h w + x[t]) over 36 steps. Whole, the carries and the sums h w + x[t] of all steps are kept: 36 * 2 * 32 bytes.
// In 9 segments of 4 steps it is the carries with which these begin, 9 * 32 bytes, and what one of them makes, 4 * 2 * 32.
// The gradient's scan over a segment goes on with the sum for w that the segment behind it ended with.
// WHOLE: ferrule_plan.entry @train
// WHOLE-SAME: peak 2496
// PLAN: ferrule_plan.entry @train
// PLAN-SAME: peak 768
// CHECK-LABEL: func.func @train
// CHECK: %[[X:.*]] = ferrule.reshape %arg1 {shape = #ferrule.dims<[9, 4, 2, 4]>}
// CHECK: %[[F:.*]]:2 = ferrule.scan inits(%arg0 : tensor<2x4xf32>) xs(%[[X]] : tensor<9x4x2x4xf32>) captures(%arg2
// CHECK-SAME: length = #ferrule.dims<[9]>} -> tensor<2x4xf32>, tensor<9x2x4xf32>
// CHECK-NEXT: ^bb0(%[[BEGIN:[a-z0-9]*]]: tensor<2x4xf32>, %[[XS:[a-z0-9]*]]: tensor<4x2x4xf32>, %[[W:[a-z0-9]*]]: tensor<4x4xf32>):
// CHECK-NEXT: %[[END:.*]] = ferrule.scan inits(%[[BEGIN]] : tensor<2x4xf32>) xs(%[[XS]] : tensor<4x2x4xf32>) captures(%[[W]]
// CHECK-SAME: length = #ferrule.dims<[4]>} -> tensor<2x4xf32> {
// CHECK: ferrule.yield %[[END]], %[[BEGIN]]
// CHECK: ferrule.scan inits({{.*}}) xs(%{{.*}}, %[[F]]#1 : tensor<9x4x2x4xf32>, tensor<9x2x4xf32>)
// CHECK-SAME: length = #ferrule.dims<[9]>, reverse = true}
// CHECK-NEXT: ^bb0(%[[DH:[a-z0-9]*]]: tensor<2x4xf32>, %[[DW:[a-z0-9]*]]: tensor<4x4xf32>, %[[XS:[a-z0-9]*]]: tensor<4x2x4xf32>, %[[BEGIN:[a-z0-9]*]]:
// CHECK-NEXT: %[[AGAIN:.*]]:3 = ferrule.scan inits(%[[BEGIN]] : tensor<2x4xf32>) xs(%[[XS]] : tensor<4x2x4xf32>)
// CHECK-SAME: ferrule.recomputed
// CHECK-SAME: -> tensor<2x4xf32>, tensor<4x2x4xf32>, tensor<4x2x4xf32>
// CHECK: %[[B:.*]]:2 = ferrule.scan inits(%[[DH]], %[[DW]] : tensor<2x4xf32>, tensor<4x4xf32>) xs(%[[AGAIN]]#1, %[[AGAIN]]#2 :
// CHECK-SAME: length = #ferrule.dims<[4]>, reverse = true}
// CHECK: ferrule.yield %[[B]]#0, %[[B]]#1
func.func @train(%h: tensor<2x4xf32> {ferrule.name = "h"}, %x: tensor<36x2x4xf32> {ferrule.name = "x"},
                 %w: tensor<4x4xf32> {ferrule.name = "w"}) -> (tensor<4x4xf32> {ferrule.name = "dw"}) {
  %last = ferrule.scan inits(%h : tensor<2x4xf32>) xs(%x : tensor<36x2x4xf32>) captures(%w : tensor<4x4xf32>)
      attributes {length = #ferrule.dims<[36]>} -> tensor<2x4xf32> {
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
