// RUN: ferrule-opt %s --ferrule-recompute=budget-bytes=600000 | FileCheck %s
// RUN: ferrule-opt %s --ferrule-recompute=budget-bytes=600000 --ferrule-plan-memory | FileCheck %s --check-prefix=PLAN
// RUN: ferrule-opt %s --ferrule-plan-memory | FileCheck %s --check-prefix=WHOLE

// The sum of %a stands at the end, as the gradient of a weight does behind the whole backward pass, and holds it until
// then: with operand and result of a product 3 * 262144 bytes. Under a budget it is made as soon as the
// first product has read %a, too, and nothing needs to be computed again: operand, result and, until the end, the sum,
// 2 * 262144 + 1024 bytes.
// CHECK-LABEL: func.func @late
// CHECK: ferrule.neg
// CHECK: ferrule.matmul
// CHECK: ferrule.reduce_sum
// CHECK-COUNT-2: ferrule.matmul
// CHECK-NOT: ferrule.recomputed
// PLAN: ferrule_plan.entry @late
// PLAN-SAME: peak 525312 lower_bound 525312
// WHOLE: ferrule_plan.entry @late
// WHOLE-SAME: peak 786432
func.func @late(%x: tensor<256x256xf32> {ferrule.name = "x"}) -> (tensor<256xf32> {ferrule.name = "y"}) {
  %a = ferrule.dispatch(%p = %x : tensor<256x256xf32>) -> (tensor<256x256xf32>) {
    %0 = ferrule.neg %p : (tensor<256x256xf32>) -> tensor<256x256xf32>
    ferrule.yield %0 : tensor<256x256xf32>
  }
  %b = ferrule.dispatch(%p = %a : tensor<256x256xf32>, %q = %a : tensor<256x256xf32>) -> (tensor<256x256xf32>) {
    %0 = ferrule.matmul %p, %q : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
    ferrule.yield %0 : tensor<256x256xf32>
  }
  %c = ferrule.dispatch(%p = %b : tensor<256x256xf32>, %q = %b : tensor<256x256xf32>) -> (tensor<256x256xf32>) {
    %0 = ferrule.matmul %p, %q : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
    ferrule.yield %0 : tensor<256x256xf32>
  }
  %d = ferrule.dispatch(%p = %c : tensor<256x256xf32>, %q = %c : tensor<256x256xf32>) -> (tensor<256x256xf32>) {
    %0 = ferrule.matmul %p, %q : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
    ferrule.yield %0 : tensor<256x256xf32>
  }
  %s = ferrule.dispatch(%p = %a : tensor<256x256xf32>) -> (tensor<256xf32>) {
    %0 = ferrule.reduce_sum %p {axes = array<i64: 0>, keepdims = false} : (tensor<256x256xf32>) -> tensor<256xf32>
    ferrule.yield %0 : tensor<256xf32>
  }
  %y = ferrule.dispatch(%p = %d : tensor<256x256xf32>, %q = %s : tensor<256xf32>) -> (tensor<256xf32>) {
    %0 = ferrule.reduce_sum %p {axes = array<i64: 1>, keepdims = false} : (tensor<256x256xf32>) -> tensor<256xf32>
    %1 = ferrule.add %0, %q : (tensor<256xf32>, tensor<256xf32>) -> tensor<256xf32>
    ferrule.yield %1 : tensor<256xf32>
  }
  return %y : tensor<256xf32>
}
