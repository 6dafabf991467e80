// RUN: ferrule-opt %s --ferrule-expand-gradients --ferrule-prune --ferrule-fuse \
// RUN:   --ferrule-recompute=budget-bytes=6000 | FileCheck %s
// RUN: ferrule-opt %s --ferrule-expand-gradients --ferrule-prune --ferrule-fuse \
// RUN:   --ferrule-recompute=budget-bytes=6000 --ferrule-plan-memory | FileCheck %s --check-prefix=PLAN
// RUN: ferrule-opt %s --ferrule-expand-gradients --ferrule-prune --ferrule-fuse \
// RUN:   --ferrule-recompute=budget-fraction=0.75 | FileCheck %s --check-prefix=ENOUGH

// h = tanh(h w + x[t] v + u) over 64 steps, whose products x v are computed for all of them at once, 64 * 4 * 8 * 4 bytes,
// of an x of an eighth of that. With less memory than they take the steps of a segment make their own rows, forward and
// again backward.
// CHECK-LABEL: func.func @train
// CHECK: %[[X0:.*]] = ferrule.reshape %arg1 {shape = #ferrule.dims<[64, 4, 1]>}
// CHECK: %[[X:.*]] = ferrule.reshape %[[X0]] {shape = #ferrule.dims<[16, 4, 4, 1]>}
// CHECK: ferrule.scan inits(%arg0 : {{.*}}) xs(%[[X]] : tensor<16x4x4x1xf32>) captures(
// CHECK: %[[ROWS:.*]] = ferrule.reshape %{{.*}} {shape = #ferrule.dims<[16, 1]>}
// CHECK: ferrule.dispatch(%{{.*}} = %[[ROWS]] : tensor<16x1xf32>, %{{.*}} = %{{.*}} : tensor<1x8xf32>
// CHECK-NEXT: ferrule.matmul
// CHECK: ferrule.add {{.*}} -> tensor<16x8xf32>
// CHECK: ferrule.scan
// CHECK: reverse = true
// CHECK: ferrule.dispatch({{.*}}tensor<16x1xf32>{{.*}}ferrule.recomputed
// CHECK-NEXT: ferrule.matmul
// CHECK-NOT: tensor<256x8xf32>
// PLAN: ferrule_plan.entry @train
// ENOUGH-LABEL: func.func @train
// ENOUGH: -> tensor<256x8xf32>
// ENOUGH: ferrule.segment
func.func @train(%h: tensor<4x8xf32> {ferrule.name = "h"}, %x: tensor<256x1xf32> {ferrule.name = "x"},
                 %w: tensor<8x8xf32> {ferrule.name = "w"}, %v: tensor<1x8xf32> {ferrule.name = "v"},
                 %u: tensor<8xf32> {ferrule.name = "u"}) -> (tensor<8x8xf32> {ferrule.name = "dw"}) {
  %xv = ferrule.matmul %x, %v : (tensor<256x1xf32>, tensor<1x8xf32>) -> tensor<256x8xf32>
  %us = ferrule.broadcast_to %u {shape = #ferrule.dims<[256, 8]>} : (tensor<8xf32>) -> tensor<256x8xf32>
  %xvu = ferrule.add %xv, %us : (tensor<256x8xf32>, tensor<256x8xf32>) -> tensor<256x8xf32>
  %xs = ferrule.reshape %xvu {shape = #ferrule.dims<[64, 4, 8]>} : (tensor<256x8xf32>) -> tensor<64x4x8xf32>
  %last = ferrule.scan inits(%h : tensor<4x8xf32>) xs(%xs : tensor<64x4x8xf32>) captures(%w : tensor<8x8xf32>)
      attributes {length = #ferrule.dims<[64]>} -> tensor<4x8xf32> {
  ^bb0(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>, %c: tensor<8x8xf32>):
    %p = ferrule.matmul %a, %c : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %s = ferrule.add %p, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %t = ferrule.tanh %s : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ferrule.yield %t : tensor<4x8xf32>
  }
  %cost = ferrule.reduce_sum %last {axes = array<i64: 0, 1>} : (tensor<4x8xf32>) -> tensor<f32>
  %dw = ferrule.gradient %cost, %w {operandSegmentSizes = array<i32: 1, 0, 1>} : (tensor<f32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %dw : tensor<8x8xf32>
}
