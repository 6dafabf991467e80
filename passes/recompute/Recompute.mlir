// RUN: ferrule-opt %s --split-input-file --ferrule-recompute | FileCheck %s --check-prefix=NONE
// RUN: ferrule-opt %s --split-input-file --ferrule-recompute=budget-bytes=524288 | FileCheck %s
// RUN: ferrule-opt %s --split-input-file --ferrule-recompute=budget-bytes=524288 --ferrule-plan-memory \
// RUN:   | FileCheck %s --check-prefix=PLAN
// RUN: ferrule-opt %s --split-input-file --ferrule-recompute=budget-fraction=0.67 --ferrule-plan-memory \
// RUN:   | FileCheck %s --check-prefix=PLAN
// RUN: not ferrule-opt %s --split-input-file --ferrule-recompute=budget-bytes=262144 2>&1 \
// RUN:   | FileCheck %s --check-prefix=MISSED

// What a forward and a backward pass are to memory: %a is read at once and, long after, at the end. Each value takes
// 262144 bytes (65536 floats), and no product can be written over its operands. So two values of the chain and %a are live at each
// product, 786432 bytes. Without %a it is 524288, as at the last product, which reads %f and the second %a and writes the
// output, that lies outside. A budget of one value cannot be met.
// NONE-LABEL: func.func @chain
// NONE-NOT: ferrule.recomputed
// CHECK-LABEL: func.func @chain
// CHECK: ferrule.neg
// CHECK-COUNT-5: ferrule.matmul
// CHECK: %[[AGAIN:.*]] = ferrule.dispatch
// CHECK-SAME: attributes {ferrule.recomputed}
// CHECK-NEXT: ferrule.neg
// CHECK: ferrule.dispatch(%{{.*}} = %{{.*}}, %{{.*}} = %[[AGAIN]] :
// CHECK-NEXT: ferrule.matmul
// CHECK-NOT: ferrule.recomputed
// PLAN: ferrule_plan.entry @chain
// PLAN-SAME: peak 524288 lower_bound 524288
// MISSED: entry chain: memory_budget is 262144 bytes, but the smallest arena that was found takes 524288
// MISSED: the largest:
// MISSED: 262144 bytes: matmul at {{.*}}Recompute.mlir:
func.func @chain(%x: tensor<256x256xf32> {ferrule.name = "x"}, %s: tensor<2xi64> {ferrule.name = "s"}) -> (tensor<256x256xf32> {ferrule.name = "y"}) {
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

// -----

// A draw is a function of the state: the second run has the same numbers.
// NONE-LABEL: func.func @draw
// CHECK-LABEL: func.func @draw
// CHECK-COUNT-2: ferrule.random_uniform
// CHECK-NOT: ferrule.random_uniform
// PLAN: ferrule_plan.entry @draw
// PLAN-SAME: peak 524288
func.func @draw(%x: tensor<256x256xf32> {ferrule.name = "x"}, %s: tensor<2xi64> {ferrule.name = "s"}) -> (tensor<256x256xf32> {ferrule.name = "y"}) {
  %a = ferrule.dispatch(%p = %s : tensor<2xi64>) -> (tensor<256x256xf32>) {
    %0 = ferrule.random_uniform %p {shape = #ferrule.dims<[256, 256]>, dtype = f32} : (tensor<2xi64>) -> tensor<256x256xf32>
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
