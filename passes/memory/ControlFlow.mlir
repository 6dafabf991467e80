// RUN: ferrule-opt %s --split-input-file --ferrule-plan-memory --ferrule-verify-plan | FileCheck %s
// RUN: ferrule-opt %s --split-input-file --ferrule-plan-memory="in-place=false" --ferrule-verify-plan | FileCheck %s --check-prefix=APART

// A scan over 5 slices of 16 bytes. The carry lies in the output from the start: the init is copied there, and the body
// updates it in place. Step t reads its slice of xs and writes that of ys where they are. Only t takes bytes of the
// arena, inside.
// CHECK: ferrule_plan.arena @arena size 64 align 64
// CHECK: ferrule_plan.entry @scan
// CHECK-SAME: peak 64 lower_bound 64 naive 64 {
// CHECK-DAG: %[[INIT:.*]] = ferrule_plan.buffer input 0 size <[16]> planned 16 live 0 to 0 "init"
// CHECK-DAG: %[[XS:.*]] = ferrule_plan.buffer input 1 size <[80]> planned 80 live 1 to 1 "xs"
// CHECK-DAG: %[[LAST:.*]] = ferrule_plan.buffer output 0 size <[16]> planned 16 live 0 to 1 "last"
// CHECK-DAG: %[[YS:.*]] = ferrule_plan.buffer output 1 size <[80]> planned 80 live 1 to 1 "ys"
// CHECK: ferrule_plan.copy %[[LAST]] from %[[INIT]] size <[16]>
// CHECK: ferrule_plan.loop count <[5]> dim "loop0" {
// CHECK-NEXT: %[[T:.*]] = ferrule_plan.buffer arena @arena offset 0 size <[16]> planned 16 live 0 to 1 "exp"
// CHECK-NEXT: %[[X:.*]] = ferrule_plan.view %[[XS]] offset <[loop0 * 16]> size <[16]>
// CHECK-NEXT: ferrule_plan.call @exp.0 outs(%[[T]]) ins(%[[X]])
// CHECK-NEXT: %[[Y:.*]] = ferrule_plan.view %[[YS]] offset <[loop0 * 16]> size <[16]>
// CHECK-NEXT: ferrule_plan.call @mul.1 outs(%[[LAST]], %[[Y]]) ins(%[[LAST]], %[[T]])
// CHECK-NEXT: }

// Apart: the carry is made in a place of its own and copied at the end of the step.
// APART: ferrule_plan.entry @scan
// APART: ferrule_plan.loop
// APART: ferrule_plan.copy %{{.*}} from %{{.*}} size <[16]>
// APART-NEXT: }
func.func @scan(%init: tensor<4xf32> {ferrule.name = "init"}, %xs: tensor<5x4xf32> {ferrule.name = "xs"})
    -> (tensor<4xf32> {ferrule.name = "last"}, tensor<5x4xf32> {ferrule.name = "ys"}) {
  %last, %ys = ferrule.scan inits(%init : tensor<4xf32>) xs(%xs : tensor<5x4xf32>) captures()
      attributes {length = #ferrule.dims<[5]>} -> tensor<4xf32>, tensor<5x4xf32> {
  ^bb0(%c: tensor<4xf32>, %x: tensor<4xf32>):
    %t = ferrule.dispatch(%p = %x : tensor<4xf32>) -> (tensor<4xf32>) {
      %0 = ferrule.exp %p : (tensor<4xf32>) -> tensor<4xf32>
      ferrule.yield %0 : tensor<4xf32>
    }
    %n:2 = ferrule.dispatch(%p = %c : tensor<4xf32>, %q = %t : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
      %0 = ferrule.add %p, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %1 = ferrule.mul %0, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      ferrule.yield %0, %1 : tensor<4xf32>, tensor<4xf32>
    }
    ferrule.yield %n#0, %n#1 : tensor<4xf32>, tensor<4xf32>
  }
  return %last, %ys : tensor<4xf32>, tensor<5x4xf32>
}

// -----

// Two carries that change places: each step saves one of them first. In reverse, slice 4 is read first.
// CHECK: ferrule_plan.entry @swap
// CHECK: ferrule_plan.loop count <[5]> dim "loop0" {
// CHECK: ferrule_plan.view %{{.*}} offset <[64 - loop0 * 16]> size <[16]>
// CHECK: ferrule_plan.copy
// CHECK: }
func.func @swap(%a: tensor<4xf32> {ferrule.name = "a"}, %b: tensor<4xf32> {ferrule.name = "b"})
    -> (tensor<4xf32> {ferrule.name = "x"}, tensor<4xf32> {ferrule.name = "y"}, tensor<5x4xf32> {ferrule.name = "ys"}) {
  %r:3 = ferrule.scan inits(%a, %b : tensor<4xf32>, tensor<4xf32>) xs() captures()
      attributes {length = #ferrule.dims<[5]>, reverse = true} -> tensor<4xf32>, tensor<4xf32>, tensor<5x4xf32> {
  ^bb0(%c: tensor<4xf32>, %d: tensor<4xf32>):
    ferrule.yield %d, %c, %c : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<4xf32>, tensor<4xf32>, tensor<5x4xf32>
}

// -----

// A variable that a loop carries is updated where it is: no copy at all.
// CHECK: ferrule_plan.entry @variable
// CHECK: %[[W:.*]] = ferrule_plan.buffer variable @w
// CHECK-NOT: ferrule_plan.copy
// CHECK: ferrule_plan.loop count <[5]> dim "loop0" {
// CHECK-NEXT: ferrule_plan.call @exp.0 outs(%[[W]]) ins(%[[W]])
// CHECK-NEXT: }
// CHECK-NEXT: }
// APART: ferrule_plan.entry @variable
ferrule.variable @w : tensor<4xf32>
func.func @variable() {
  %w = ferrule.read @w : tensor<4xf32>
  %n = ferrule.scan inits(%w : tensor<4xf32>) xs() captures() attributes {length = #ferrule.dims<[5]>} -> tensor<4xf32> {
  ^bb0(%c: tensor<4xf32>):
    %0 = ferrule.dispatch(%p = %c : tensor<4xf32>) -> (tensor<4xf32>) {
      %1 = ferrule.exp %p : (tensor<4xf32>) -> tensor<4xf32>
      ferrule.yield %1 : tensor<4xf32>
    }
    ferrule.yield %0 : tensor<4xf32>
  }
  ferrule.assign @w, %n : tensor<4xf32>
  return
}

// -----

// Two branches in a row: what the first gives is live during the second, whose own buffers must lie elsewhere; the
// buffers of the two regions of one op may be the same bytes. The predicate of a while loop is a byte that its condition
// writes.
// CHECK: ferrule_plan.entry @branches
// CHECK-SAME: peak 192 lower_bound 192
// CHECK: %[[R:.*]] = ferrule_plan.buffer arena @arena offset [[R0:[0-9]+]] size <[16]> planned 16 live 0 to 2 "if"
// CHECK: %[[FLAG:.*]] = ferrule_plan.buffer arena @arena offset {{.*}} size <[1]> planned 1 live 3 to 3 "condition"
// CHECK: ferrule_plan.if %{{.*}} {
// CHECK: ferrule_plan.call @exp.0 outs(%[[R]])
// CHECK: } else {
// CHECK: ferrule_plan.copy %[[R]] from
// CHECK: ferrule_plan.if %{{.*}} {
// CHECK: %[[T:.*]] = ferrule_plan.buffer arena @arena offset
// CHECK: } else {
// CHECK: ferrule_plan.while %[[FLAG]] condition {
// CHECK: ferrule_plan.call @{{.*}} outs(%[[FLAG]])
// CHECK: } body {
func.func @branches(%p: tensor<i1> {ferrule.name = "p"}, %x: tensor<4xf32> {ferrule.name = "x"})
    -> (tensor<4xf32> {ferrule.name = "y"}) {
  %r = ferrule.if %p : tensor<i1> captures(%x : tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %0 = ferrule.dispatch(%q = %a : tensor<4xf32>) -> (tensor<4xf32>) {
      %1 = ferrule.exp %q : (tensor<4xf32>) -> tensor<4xf32>
      ferrule.yield %1 : tensor<4xf32>
    }
    ferrule.yield %0 : tensor<4xf32>
  } else {
  ^bb0(%a: tensor<4xf32>):
    ferrule.yield %a : tensor<4xf32>
  }
  %s = ferrule.if %p : tensor<i1> captures(%r : tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %0 = ferrule.dispatch(%q = %a : tensor<4xf32>) -> (tensor<4xf32>) {
      %1 = ferrule.exp %q : (tensor<4xf32>) -> tensor<4xf32>
      ferrule.yield %1 : tensor<4xf32>
    }
    %2 = ferrule.dispatch(%q = %0 : tensor<4xf32>, %s = %a : tensor<4xf32>) -> (tensor<4xf32>) {
      %3 = ferrule.add %q, %s : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      ferrule.yield %3 : tensor<4xf32>
    }
    ferrule.yield %2 : tensor<4xf32>
  } else {
  ^bb0(%a: tensor<4xf32>):
    ferrule.yield %a : tensor<4xf32>
  }
  %t = ferrule.dispatch(%q = %r : tensor<4xf32>, %u = %s : tensor<4xf32>) -> (tensor<4xf32>) {
    %3 = ferrule.add %q, %u : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ferrule.yield %3 : tensor<4xf32>
  }
  %y = ferrule.while inits(%t : tensor<4xf32>) captures(%x : tensor<4xf32>) -> tensor<4xf32> condition {
  ^bb0(%c: tensor<4xf32>, %k: tensor<4xf32>):
    %0 = ferrule.dispatch(%q = %c : tensor<4xf32>) -> (tensor<i1>) {
      %1 = ferrule.reduce_max %q {axes = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
      %2 = ferrule.less %1, %1 : (tensor<f32>, tensor<f32>) -> tensor<i1>
      ferrule.yield %2 : tensor<i1>
    }
    ferrule.yield %0 : tensor<i1>
  } body {
  ^bb0(%c: tensor<4xf32>, %k: tensor<4xf32>):
    %0 = ferrule.dispatch(%q = %c : tensor<4xf32>, %u = %k : tensor<4xf32>) -> (tensor<4xf32>) {
      %1 = ferrule.add %q, %u : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      ferrule.yield %1 : tensor<4xf32>
    }
    ferrule.yield %0 : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
