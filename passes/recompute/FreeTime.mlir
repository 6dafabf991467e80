// RUN: ferrule-opt %s --ferrule-recompute | FileCheck %s
// RUN: ferrule-opt %s --ferrule-recompute --ferrule-plan-memory | FileCheck %s --check-prefix=PLAN

// Without a budget. Each value takes 64 MiB. To compute %a again is a pass over 128 MiB, one part in 1,000 of what the
// products take by estimate, so two values are live at each of them and not three.

// CHECK-LABEL: func.func @large
// CHECK-SAME: ferrule.recomputed_share = 9.6
// CHECK: ferrule.neg
// CHECK-COUNT-5: ferrule.matmul
// CHECK: attributes {ferrule.recomputed}
// CHECK-NEXT: ferrule.neg
// CHECK: return
// PLAN: ferrule_plan.entry @large
// PLAN-SAME: peak 134217728 lower_bound 134217728
func.func @large(%x: tensor<4096x4096xf32> {ferrule.name = "x"}) -> (tensor<4096x4096xf32> {ferrule.name = "y"}) {
  %a = ferrule.dispatch(%p = %x : tensor<4096x4096xf32>) -> (tensor<4096x4096xf32>) {
    %0 = ferrule.neg %p : (tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
    ferrule.yield %0 : tensor<4096x4096xf32>
  }
  %b = ferrule.dispatch(%p = %a : tensor<4096x4096xf32>, %q = %a : tensor<4096x4096xf32>) -> (tensor<4096x4096xf32>) {
    %0 = ferrule.matmul %p, %q : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
    ferrule.yield %0 : tensor<4096x4096xf32>
  }
  %c = ferrule.dispatch(%p = %b : tensor<4096x4096xf32>, %q = %b : tensor<4096x4096xf32>) -> (tensor<4096x4096xf32>) {
    %0 = ferrule.matmul %p, %q : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
    ferrule.yield %0 : tensor<4096x4096xf32>
  }
  %d = ferrule.dispatch(%p = %c : tensor<4096x4096xf32>, %q = %c : tensor<4096x4096xf32>) -> (tensor<4096x4096xf32>) {
    %0 = ferrule.matmul %p, %q : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
    ferrule.yield %0 : tensor<4096x4096xf32>
  }
  %e = ferrule.dispatch(%p = %d : tensor<4096x4096xf32>, %q = %d : tensor<4096x4096xf32>) -> (tensor<4096x4096xf32>) {
    %0 = ferrule.matmul %p, %q : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
    ferrule.yield %0 : tensor<4096x4096xf32>
  }
  %f = ferrule.dispatch(%p = %e : tensor<4096x4096xf32>, %q = %e : tensor<4096x4096xf32>) -> (tensor<4096x4096xf32>) {
    %0 = ferrule.matmul %p, %q : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
    ferrule.yield %0 : tensor<4096x4096xf32>
  }
  %y = ferrule.dispatch(%p = %f : tensor<4096x4096xf32>, %q = %a : tensor<4096x4096xf32>) -> (tensor<4096x4096xf32>) {
    %0 = ferrule.matmul %p, %q : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
    ferrule.yield %0 : tensor<4096x4096xf32>
  }
  return %y : tensor<4096x4096xf32>
}

// A small arena stays as it is: here %a is as cheap, but takes a quarter of a MiB.

// CHECK-LABEL: func.func @small
// CHECK-NOT: ferrule.recomputed
// CHECK: return
// PLAN: ferrule_plan.entry @small
// PLAN-SAME: peak 786432 lower_bound 786432
func.func @small(%x: tensor<256x256xf32> {ferrule.name = "x"}) -> (tensor<256x256xf32> {ferrule.name = "y"}) {
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
  %e = ferrule.dispatch(%p = %d : tensor<256x256xf32>, %q = %d : tensor<256x256xf32>) -> (tensor<256x256xf32>) {
    %0 = ferrule.matmul %p, %q : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
    ferrule.yield %0 : tensor<256x256xf32>
  }
  %f = ferrule.dispatch(%p = %e : tensor<256x256xf32>, %q = %e : tensor<256x256xf32>) -> (tensor<256x256xf32>) {
    %0 = ferrule.matmul %p, %q : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
    ferrule.yield %0 : tensor<256x256xf32>
  }
  %y = ferrule.dispatch(%p = %f : tensor<256x256xf32>, %q = %a : tensor<256x256xf32>) -> (tensor<256x256xf32>) {
    %0 = ferrule.matmul %p, %q : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
    ferrule.yield %0 : tensor<256x256xf32>
  }
  return %y : tensor<256x256xf32>
}
