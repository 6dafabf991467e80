// RUN: ferrule-opt %s --split-input-file --ferrule-plan-memory --ferrule-verify-plan | FileCheck %s
// RUN: ferrule-opt %s --split-input-file --ferrule-plan-memory="in-place=false" --ferrule-verify-plan | FileCheck %s --check-prefix=APART

// An optimizer step reads and writes each element once: straight into the variable, and the arena stays empty.
// CHECK: ferrule_plan.arena @arena size 0 align 64
// CHECK: ferrule_plan.entry @step("g" : tensor<4xf32>) -> () peak 0 lower_bound 0 naive 0 {
// CHECK-NEXT: %[[G:.*]] = ferrule_plan.buffer input 0 size <[16]> planned 16 live 0 to 0 "g"
// CHECK-NEXT: %[[W:.*]] = ferrule_plan.buffer variable @w size <[16]> planned 16 live 0 to 0 "w"
// CHECK-NEXT: ferrule_plan.call @sub.0 outs(%[[W]]) ins(%[[W]], %[[G]])
// CHECK-NEXT: }
// Apart it is computed elsewhere and copied: 16 bytes in the arena, rounded up to 64 in the peak.
// APART: ferrule_plan.entry @step
// APART-SAME: peak 64
// APART: ferrule_plan.call @sub.0 outs(%[[N:.*]]) ins(%[[W:.*]], %{{.*}})
// APART-NEXT: ferrule_plan.copy %[[W]] from %[[N]] size <[16]>
ferrule.variable @w : tensor<4xf32>
func.func @step(%g: tensor<4xf32> {ferrule.name = "g"}) {
  %w = ferrule.read @w : tensor<4xf32>
  %n = ferrule.dispatch(%p = %w : tensor<4xf32>, %q = %g : tensor<4xf32>) -> (tensor<4xf32>) {
    %0 = ferrule.sub %p, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ferrule.yield %0 : tensor<4xf32>
  }
  ferrule.assign @w, %n : tensor<4xf32>
  return
}

// -----

// The old value is read after the new one is made: the new one waits in the arena until the end.
// CHECK: ferrule_plan.entry @read_later
// CHECK: ferrule_plan.call @neg.0 outs(%[[N:.*]]) ins(%[[W:.*]])
// CHECK-NEXT: ferrule_plan.call @exp.1 outs(%{{.*}}) ins(%[[W]])
// CHECK-NEXT: ferrule_plan.copy %[[W]] from %[[N]]
ferrule.variable @w : tensor<4xf32>
func.func @read_later() -> (tensor<4xf32> {ferrule.name = "y"}) {
  %w = ferrule.read @w : tensor<4xf32>
  %n = ferrule.dispatch(%p = %w : tensor<4xf32>) -> (tensor<4xf32>) {
    %0 = ferrule.neg %p : (tensor<4xf32>) -> tensor<4xf32>
    ferrule.yield %0 : tensor<4xf32>
  }
  %y = ferrule.dispatch(%p = %w : tensor<4xf32>) -> (tensor<4xf32>) {
    %0 = ferrule.exp %p : (tensor<4xf32>) -> tensor<4xf32>
    ferrule.yield %0 : tensor<4xf32>
  }
  ferrule.assign @w, %n : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// Two variables change places. Each old value is saved first, since the other's copy overwrites it: two saves of 16
// bytes, live from 0 to 2 and from 1 to 3, each in 64 bytes: 128 at instruction 1.
// CHECK: ferrule_plan.entry @swap() -> () peak 128 lower_bound 128 naive 128
// CHECK-DAG: %[[A:.*]] = ferrule_plan.buffer variable @a size <[16]> planned 16 live {{.*}} "a"
// CHECK-DAG: %[[B:.*]] = ferrule_plan.buffer variable @b size <[16]> planned 16 live {{.*}} "b"
// CHECK: %[[OLDB:.*]] = ferrule_plan.buffer arena @arena offset {{0|64}} size <[16]> planned 16 live 0 to 2 "b"
// CHECK: %[[OLDA:.*]] = ferrule_plan.buffer arena @arena offset {{0|64}} size <[16]> planned 16 live 1 to 3 "a"
// CHECK-NEXT: ferrule_plan.copy %[[OLDB]] from %[[B]] size <[16]>
// CHECK-NEXT: ferrule_plan.copy %[[OLDA]] from %[[A]] size <[16]>
// CHECK-NEXT: ferrule_plan.copy %[[A]] from %[[OLDB]] size <[16]>
// CHECK-NEXT: ferrule_plan.copy %[[B]] from %[[OLDA]] size <[16]>
ferrule.variable @a : tensor<4xf32>
ferrule.variable @b : tensor<4xf32>
func.func @swap() {
  %a = ferrule.read @a : tensor<4xf32>
  %b = ferrule.read @b : tensor<4xf32>
  ferrule.assign @a, %b : tensor<4xf32>
  ferrule.assign @b, %a : tensor<4xf32>
  return
}

// -----

// One value for two variables: written into the first, copied to the second.
// CHECK: ferrule_plan.entry @two_variables
// CHECK: %[[A:.*]] = ferrule_plan.buffer variable @a
// CHECK: %[[B:.*]] = ferrule_plan.buffer variable @b
// CHECK: ferrule_plan.call @exp.0 outs(%[[A]]) ins(%{{.*}})
// CHECK-NEXT: ferrule_plan.copy %[[B]] from %[[A]] size <[16]>
ferrule.variable @a : tensor<4xf32>
ferrule.variable @b : tensor<4xf32>
func.func @two_variables(%x: tensor<4xf32> {ferrule.name = "x"}) {
  %n = ferrule.dispatch(%p = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    %0 = ferrule.exp %p : (tensor<4xf32>) -> tensor<4xf32>
    ferrule.yield %0 : tensor<4xf32>
  }
  ferrule.assign @a, %n : tensor<4xf32>
  ferrule.assign @b, %n : tensor<4xf32>
  return
}

// -----

// Outputs. The old value is copied out before the update in place, the new one after it; an input that is returned is
// copied first of all; a result that is returned twice is written to the first output and copied to the second.
// CHECK: ferrule_plan.entry @outputs
// CHECK-DAG: %[[X:.*]] = ferrule_plan.buffer input 0
// CHECK-DAG: %[[W:.*]] = ferrule_plan.buffer variable @w
// CHECK-DAG: %[[OLD:.*]] = ferrule_plan.buffer output 0 {{.*}} "old"
// CHECK-DAG: %[[NEW:.*]] = ferrule_plan.buffer output 1 {{.*}} "new"
// CHECK-DAG: %[[SAME:.*]] = ferrule_plan.buffer output 2 {{.*}} "same"
// CHECK-DAG: %[[ONCE:.*]] = ferrule_plan.buffer output 3 {{.*}} "once"
// CHECK-DAG: %[[TWICE:.*]] = ferrule_plan.buffer output 4 {{.*}} "twice"
// CHECK: ferrule_plan.copy %[[OLD]] from %[[W]]
// CHECK-NEXT: ferrule_plan.copy %[[SAME]] from %[[X]]
// CHECK-NEXT: ferrule_plan.call @sub.0 outs(%[[W]]) ins(%[[W]], %[[X]])
// CHECK-NEXT: ferrule_plan.call @exp.1 outs(%[[ONCE]]) ins(%[[W]])
// CHECK-NEXT: ferrule_plan.copy %[[NEW]] from %[[W]]
// CHECK-NEXT: ferrule_plan.copy %[[TWICE]] from %[[ONCE]]
ferrule.variable @w : tensor<4xf32>
func.func @outputs(%x: tensor<4xf32> {ferrule.name = "x"})
    -> (tensor<4xf32> {ferrule.name = "old"}, tensor<4xf32> {ferrule.name = "new"}, tensor<4xf32> {ferrule.name = "same"},
        tensor<4xf32> {ferrule.name = "once"}, tensor<2x2xf32> {ferrule.name = "twice"}) {
  %w = ferrule.read @w : tensor<4xf32>
  %n = ferrule.dispatch(%p = %w : tensor<4xf32>, %q = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    %0 = ferrule.sub %p, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ferrule.yield %0 : tensor<4xf32>
  }
  %y = ferrule.dispatch(%p = %n : tensor<4xf32>) -> (tensor<4xf32>) {
    %0 = ferrule.exp %p : (tensor<4xf32>) -> tensor<4xf32>
    ferrule.yield %0 : tensor<4xf32>
  }
  %square = ferrule.reshape %y {shape = #ferrule.dims<[2, 2]>} : (tensor<4xf32>) -> tensor<2x2xf32>
  ferrule.assign @w, %n : tensor<4xf32>
  return %w, %n, %x, %y, %square : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2x2xf32>
}

// -----

// Constants: returned, and assigned. Equal ones are one. A kernel's name gives way to a variable that has it.
// CHECK: ferrule_plan.constant @constant.0 dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK-NOT: ferrule_plan.constant
// CHECK: ferrule_plan.entry @constants
// CHECK: %[[W:.*]] = ferrule_plan.buffer variable @exp.0
// CHECK: ferrule_plan.copy %{{.*}} from %[[C:.*]] size <[8]>
// CHECK: ferrule_plan.call @exp.0_0
// CHECK: ferrule_plan.copy %[[W]] from %{{.*}} size <[8]>
ferrule.variable @exp.0 : tensor<2xf32>
func.func @constants() -> (tensor<2xf32> {ferrule.name = "c"}, tensor<2xf32> {ferrule.name = "e"}) {
  %c = ferrule.constant {value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %d = ferrule.constant {value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %e = ferrule.dispatch(%p = %c : tensor<2xf32>) -> (tensor<2xf32>) {
    %0 = ferrule.exp %p : (tensor<2xf32>) -> tensor<2xf32>
    ferrule.yield %0 : tensor<2xf32>
  }
  ferrule.assign @exp.0, %d : tensor<2xf32>
  return %d, %e : tensor<2xf32>, tensor<2xf32>
}
