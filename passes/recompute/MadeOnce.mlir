// RUN: ferrule-opt %s --ferrule-recompute=budget-bytes=1572864 | FileCheck %s
// RUN: ferrule-opt %s --ferrule-recompute=budget-bytes=1572864 --ferrule-plan-memory | FileCheck %s --check-prefix=PLAN
// RUN: ferrule-opt %s --ferrule-plan-memory | FileCheck %s --check-prefix=WHOLE

// Values of 262144 bytes. At the product of %t and %s4 seven of them are live, one more than the budget, so %a, which costs
// a pass over memory, is made again. It is read twice behind that, six steps apart; as there is room by then, it is kept in
// between.
// CHECK-LABEL: func.func @once
// CHECK: ferrule.neg
// CHECK-COUNT-8: ferrule.matmul
// CHECK: %[[AGAIN:.*]] = ferrule.dispatch({{.*}} = %arg0 :
// CHECK-SAME: ferrule.recomputed
// CHECK-NEXT: ferrule.neg
// CHECK: ferrule.dispatch({{.*}} = %[[AGAIN]] :
// CHECK-NOT: ferrule.recomputed
// CHECK: ferrule.dispatch({{.*}} = %[[AGAIN]] :
// CHECK-NOT: ferrule.recomputed
// WHOLE: ferrule_plan.entry @once
// WHOLE-SAME: peak 1835008
// PLAN: ferrule_plan.entry @once
// PLAN-SAME: peak 1572864
func.func @once(%x: tensor<256x256xf32> {ferrule.name = "x"}) -> (tensor<256x256xf32> {ferrule.name = "y"}) {
  %a = ferrule.dispatch(%p = %x : tensor<256x256xf32>) -> (tensor<256x256xf32>) {
    %0 = ferrule.neg %p : (tensor<256x256xf32>) -> tensor<256x256xf32>
    ferrule.yield %0 : tensor<256x256xf32>
  }
  %s1 = ferrule.dispatch(%p = %a : tensor<256x256xf32>, %q = %a : tensor<256x256xf32>) -> (tensor<256x256xf32>) {
    %0 = ferrule.matmul %p, %q : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
    ferrule.yield %0 : tensor<256x256xf32>
  }
  %s2 = ferrule.dispatch(%p = %s1 : tensor<256x256xf32>, %q = %s1 : tensor<256x256xf32>) -> (tensor<256x256xf32>) {
    %0 = ferrule.matmul %p, %q : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
    ferrule.yield %0 : tensor<256x256xf32>
  }
  %s3 = ferrule.dispatch(%p = %s2 : tensor<256x256xf32>, %q = %s2 : tensor<256x256xf32>) -> (tensor<256x256xf32>) {
    %0 = ferrule.matmul %p, %q : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
    ferrule.yield %0 : tensor<256x256xf32>
  }
  %s4 = ferrule.dispatch(%p = %s3 : tensor<256x256xf32>, %q = %s3 : tensor<256x256xf32>) -> (tensor<256x256xf32>) {
    %0 = ferrule.matmul %p, %q : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
    ferrule.yield %0 : tensor<256x256xf32>
  }
  %t = ferrule.dispatch(%p = %s4 : tensor<256x256xf32>, %q = %s4 : tensor<256x256xf32>) -> (tensor<256x256xf32>) {
    %0 = ferrule.matmul %p, %q : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
    ferrule.yield %0 : tensor<256x256xf32>
  }
  %u1 = ferrule.dispatch(%p = %t : tensor<256x256xf32>, %q = %s4 : tensor<256x256xf32>) -> (tensor<256x256xf32>) {
    %0 = ferrule.matmul %p, %q : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
    ferrule.yield %0 : tensor<256x256xf32>
  }
  %u2 = ferrule.dispatch(%p = %u1 : tensor<256x256xf32>, %q = %s3 : tensor<256x256xf32>) -> (tensor<256x256xf32>) {
    %0 = ferrule.matmul %p, %q : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
    ferrule.yield %0 : tensor<256x256xf32>
  }
  %u3 = ferrule.dispatch(%p = %u2 : tensor<256x256xf32>, %q = %s2 : tensor<256x256xf32>) -> (tensor<256x256xf32>) {
    %0 = ferrule.matmul %p, %q : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
    ferrule.yield %0 : tensor<256x256xf32>
  }
  %u4 = ferrule.dispatch(%p = %u3 : tensor<256x256xf32>, %q = %a : tensor<256x256xf32>) -> (tensor<256x256xf32>) {
    %0 = ferrule.matmul %p, %q : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
    ferrule.yield %0 : tensor<256x256xf32>
  }
  %u5 = ferrule.dispatch(%p = %u4 : tensor<256x256xf32>, %q = %u4 : tensor<256x256xf32>) -> (tensor<256x256xf32>) {
    %0 = ferrule.matmul %p, %q : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
    ferrule.yield %0 : tensor<256x256xf32>
  }
  %u6 = ferrule.dispatch(%p = %u5 : tensor<256x256xf32>, %q = %u5 : tensor<256x256xf32>) -> (tensor<256x256xf32>) {
    %0 = ferrule.matmul %p, %q : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
    ferrule.yield %0 : tensor<256x256xf32>
  }
  %u7 = ferrule.dispatch(%p = %u6 : tensor<256x256xf32>, %q = %u6 : tensor<256x256xf32>) -> (tensor<256x256xf32>) {
    %0 = ferrule.matmul %p, %q : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
    ferrule.yield %0 : tensor<256x256xf32>
  }
  %u8 = ferrule.dispatch(%p = %u7 : tensor<256x256xf32>, %q = %u7 : tensor<256x256xf32>) -> (tensor<256x256xf32>) {
    %0 = ferrule.matmul %p, %q : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
    ferrule.yield %0 : tensor<256x256xf32>
  }
  %u9 = ferrule.dispatch(%p = %u8 : tensor<256x256xf32>, %q = %u8 : tensor<256x256xf32>) -> (tensor<256x256xf32>) {
    %0 = ferrule.matmul %p, %q : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
    ferrule.yield %0 : tensor<256x256xf32>
  }
  %u10 = ferrule.dispatch(%p = %u9 : tensor<256x256xf32>, %q = %a : tensor<256x256xf32>) -> (tensor<256x256xf32>) {
    %0 = ferrule.matmul %p, %q : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
    ferrule.yield %0 : tensor<256x256xf32>
  }
  %y = ferrule.dispatch(%p = %u10 : tensor<256x256xf32>, %q = %s1 : tensor<256x256xf32>) -> (tensor<256x256xf32>) {
    %0 = ferrule.matmul %p, %q : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
    ferrule.yield %0 : tensor<256x256xf32>
  }
  return %y : tensor<256x256xf32>
}
