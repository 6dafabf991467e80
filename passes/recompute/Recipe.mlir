// RUN: ferrule-opt %s --ferrule-recompute=budget-bytes=1048576 | FileCheck %s
// RUN: ferrule-opt %s --ferrule-recompute=budget-bytes=1048576 --ferrule-plan-memory | FileCheck %s --check-prefix=PLAN
// RUN: ferrule-opt %s --ferrule-plan-memory | FileCheck %s --check-prefix=WHOLE

// A product is stored together with a sigmoid of it and twice that, 262144 bytes each; all three are read again at the end. The
// two are made again of the product element for element, without another product. So the product, and an operand and a result of the
// chain are live at once instead of five values; and at the end, where the result lies outside, the three and the last of the chain.
// CHECK-LABEL: func.func @recipe
// CHECK: %[[P:.*]]:3 = ferrule.dispatch
// CHECK-NEXT: ferrule.matmul
// CHECK-COUNT-6: ferrule.matmul
// CHECK: %[[AGAIN:.*]]:2 = ferrule.dispatch(%[[X:.*]] = %[[P]]#0 : tensor<256x256xf32>)
// CHECK-SAME: ferrule.recomputed
// CHECK-NEXT: %[[S:.*]] = ferrule.sigmoid %[[X]]
// CHECK-NEXT: %[[T:.*]] = ferrule.add %[[S]], %[[S]]
// CHECK-NEXT: ferrule.yield %[[S]], %[[T]]
// CHECK: ferrule.dispatch({{.*}} = %[[P]]#0 : {{.*}} = %[[AGAIN]]#0 : {{.*}} = %[[AGAIN]]#1 :
// CHECK-NOT: ferrule.recomputed
// WHOLE: ferrule_plan.entry @recipe
// WHOLE-SAME: peak 1310720
// PLAN: ferrule_plan.entry @recipe
// PLAN-SAME: peak 1048576
func.func @recipe(%x: tensor<256x256xf32> {ferrule.name = "x"}) -> (tensor<256x256xf32> {ferrule.name = "y"}) {
  %a:3 = ferrule.dispatch(%p = %x : tensor<256x256xf32>) -> (tensor<256x256xf32>, tensor<256x256xf32>, tensor<256x256xf32>) {
    %0 = ferrule.matmul %p, %p : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
    %1 = ferrule.sigmoid %0 : (tensor<256x256xf32>) -> tensor<256x256xf32>
    %2 = ferrule.add %1, %1 : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
    ferrule.yield %0, %1, %2 : tensor<256x256xf32>, tensor<256x256xf32>, tensor<256x256xf32>
  }
  %b = ferrule.dispatch(%p = %a#2 : tensor<256x256xf32>) -> (tensor<256x256xf32>) {
    %0 = ferrule.matmul %p, %p : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
    ferrule.yield %0 : tensor<256x256xf32>
  }
  %c = ferrule.dispatch(%p = %b : tensor<256x256xf32>) -> (tensor<256x256xf32>) {
    %0 = ferrule.matmul %p, %p : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
    ferrule.yield %0 : tensor<256x256xf32>
  }
  %d = ferrule.dispatch(%p = %c : tensor<256x256xf32>) -> (tensor<256x256xf32>) {
    %0 = ferrule.matmul %p, %p : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
    ferrule.yield %0 : tensor<256x256xf32>
  }
  %e = ferrule.dispatch(%p = %d : tensor<256x256xf32>) -> (tensor<256x256xf32>) {
    %0 = ferrule.matmul %p, %p : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
    ferrule.yield %0 : tensor<256x256xf32>
  }
  %f = ferrule.dispatch(%p = %e : tensor<256x256xf32>) -> (tensor<256x256xf32>) {
    %0 = ferrule.matmul %p, %p : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
    ferrule.yield %0 : tensor<256x256xf32>
  }
  %g = ferrule.dispatch(%p = %f : tensor<256x256xf32>) -> (tensor<256x256xf32>) {
    %0 = ferrule.matmul %p, %p : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
    ferrule.yield %0 : tensor<256x256xf32>
  }
  %y = ferrule.dispatch(%p = %g : tensor<256x256xf32>, %q = %a#0 : tensor<256x256xf32>, %r = %a#1 : tensor<256x256xf32>, %s = %a#2 : tensor<256x256xf32>) -> (tensor<256x256xf32>) {
    %0 = ferrule.matmul %p, %q : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
    %1 = ferrule.mul %0, %r : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
    %2 = ferrule.mul %1, %s : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
    ferrule.yield %2 : tensor<256x256xf32>
  }
  return %y : tensor<256x256xf32>
}
