// RUN: ferrule-opt %s --split-input-file --ferrule-plan-memory="in-place=false" --ferrule-verify-plan | FileCheck %s

// What buffers hold, by the marks on the ops that make and read their values. Of the forward values, b is read by the
// backward computation and a is not; u comes of a gradient; r is computed a second time.
// CHECK-LABEL: ferrule_plan.entry @train
// CHECK-DAG: planned 16 live {{.*}} "exp" as activation of f32
// CHECK-DAG: planned 16 live {{.*}} "neg" as residual
// CHECK-DAG: planned 16 live {{.*}} "sin" as recomputed
// CHECK-DAG: planned 16 live {{.*}} "mul" as gradient
// CHECK-DAG: planned 16 live {{.*}} "cos" as state
// CHECK-DAG: ferrule_plan.buffer variable @w size <[16]> planned 16 live {{.*}} "w" of f32
ferrule.variable @w : tensor<4xf32>
func.func @train(%x: tensor<4xf32> {ferrule.name = "x"}) {
  %w = ferrule.read @w : tensor<4xf32>
  %a = ferrule.dispatch(%p = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    %0 = ferrule.exp %p : (tensor<4xf32>) -> tensor<4xf32>
    ferrule.yield %0 : tensor<4xf32>
  }
  %b = ferrule.dispatch(%p = %a : tensor<4xf32>) -> (tensor<4xf32>) {
    %0 = ferrule.neg %p : (tensor<4xf32>) -> tensor<4xf32>
    ferrule.yield %0 : tensor<4xf32>
  }
  %r = ferrule.dispatch(%p = %x : tensor<4xf32>) -> (tensor<4xf32>) attributes {ferrule.recomputed} {
    %0 = ferrule.sin %p : (tensor<4xf32>) -> tensor<4xf32>
    ferrule.yield %0 : tensor<4xf32>
  }
  %g = ferrule.dispatch(%p = %b : tensor<4xf32>, %q = %r : tensor<4xf32>) -> (tensor<4xf32>) {
    %0 = ferrule.mul %p, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("ferrule.backward"("model.py":3:1))
    ferrule.yield %0 : tensor<4xf32>
  }
  %u = ferrule.dispatch(%p = %g : tensor<4xf32>) -> (tensor<4xf32>) {
    %0 = ferrule.cos %p : (tensor<4xf32>) -> tensor<4xf32>
    ferrule.yield %0 : tensor<4xf32>
  }
  %n = ferrule.dispatch(%p = %w : tensor<4xf32>, %q = %u : tensor<4xf32>) -> (tensor<4xf32>) {
    %0 = ferrule.sub %p, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ferrule.yield %0 : tensor<4xf32>
  }
  ferrule.assign @w, %n : tensor<4xf32>
  return
}

// -----

// A variable's old value waits where its place is written before it is read.
// CHECK-LABEL: ferrule_plan.entry @swap
// CHECK-COUNT-2: as workspace
ferrule.variable @a : tensor<4xf32>
ferrule.variable @b : tensor<4xf32>
func.func @swap() {
  %a = ferrule.read @a : tensor<4xf32>
  %b = ferrule.read @b : tensor<4xf32>
  ferrule.assign @a, %b : tensor<4xf32>
  ferrule.assign @b, %a : tensor<4xf32>
  return
}
