// RUN: ferrule-opt %s --ferrule-schedule | FileCheck %s
// RUN: ferrule-opt %s --ferrule-schedule --ferrule-plan-memory | FileCheck %s --check-prefix=PLAN
// RUN: ferrule-opt %s --ferrule-plan-memory | FileCheck %s --check-prefix=UNORDERED

// A diamond: two branches blow x up to 4096 bytes (1024 floats) and reduce that to 4 bytes, which takes 64 in the
// arena. As written, both are blown up first; the first reduction then has both large values and its sum live:
// 4096 + 4096 + 64 = 8256. One branch after the other: the second reduction has its large value and two sums live,
// 4096 + 64 + 64 = 4224. The input and the output are the caller's and count nothing.
// CHECK-LABEL: func.func @diamond
// CHECK: ferrule.exp
// CHECK: ferrule.reduce_sum
// CHECK: ferrule.neg
// CHECK: ferrule.reduce_sum
// CHECK: ferrule.add
// CHECK: return

// PLAN: ferrule_plan.entry @diamond
// PLAN-SAME: peak 4224 lower_bound 4224
// UNORDERED: ferrule_plan.entry @diamond
// UNORDERED-SAME: peak 8256 lower_bound 8256
func.func @diamond(%x: tensor<1024xf32> {ferrule.name = "x"}) -> (tensor<f32> {ferrule.name = "y"}) {
  %a = ferrule.dispatch(%p = %x : tensor<1024xf32>) -> (tensor<1024xf32>) {
    %0 = ferrule.exp %p : (tensor<1024xf32>) -> tensor<1024xf32>
    ferrule.yield %0 : tensor<1024xf32>
  }
  %b = ferrule.dispatch(%p = %x : tensor<1024xf32>) -> (tensor<1024xf32>) {
    %0 = ferrule.neg %p : (tensor<1024xf32>) -> tensor<1024xf32>
    ferrule.yield %0 : tensor<1024xf32>
  }
  // Nobody reads it; it still may not stand before what it reads.
  %unread = ferrule.reshape %b {shape = #ferrule.dims<[32, 32]>} : (tensor<1024xf32>) -> tensor<32x32xf32>
  %c = ferrule.dispatch(%p = %a : tensor<1024xf32>) -> (tensor<f32>) {
    %0 = ferrule.reduce_sum %p {axes = array<i64: 0>, keepdims = false} : (tensor<1024xf32>) -> tensor<f32>
    ferrule.yield %0 : tensor<f32>
  }
  %d = ferrule.dispatch(%p = %b : tensor<1024xf32>) -> (tensor<f32>) {
    %0 = ferrule.reduce_sum %p {axes = array<i64: 0>, keepdims = false} : (tensor<1024xf32>) -> tensor<f32>
    ferrule.yield %0 : tensor<f32>
  }
  %y = ferrule.dispatch(%p = %c : tensor<f32>, %q = %d : tensor<f32>) -> (tensor<f32>) {
    %0 = ferrule.add %p, %q : (tensor<f32>, tensor<f32>) -> tensor<f32>
    ferrule.yield %0 : tensor<f32>
  }
  return %y : tensor<f32>
}

// A chain has one order only, and an order that is no better is not taken: nothing moves.
// CHECK-LABEL: func.func @kept
// CHECK: ferrule.neg
// CHECK: ferrule.exp
// CHECK: ferrule.add
func.func @kept(%x: tensor<8xf32> {ferrule.name = "x"}) -> (tensor<8xf32> {ferrule.name = "y"}) {
  %b = ferrule.dispatch(%p = %x : tensor<8xf32>) -> (tensor<8xf32>) {
    %0 = ferrule.neg %p : (tensor<8xf32>) -> tensor<8xf32>
    ferrule.yield %0 : tensor<8xf32>
  }
  %a = ferrule.dispatch(%p = %x : tensor<8xf32>) -> (tensor<8xf32>) {
    %0 = ferrule.exp %p : (tensor<8xf32>) -> tensor<8xf32>
    ferrule.yield %0 : tensor<8xf32>
  }
  %y = ferrule.dispatch(%p = %a : tensor<8xf32>, %q = %b : tensor<8xf32>) -> (tensor<8xf32>) {
    %0 = ferrule.add %p, %q : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    ferrule.yield %0 : tensor<8xf32>
  }
  return %y : tensor<8xf32>
}

// The new value of @w is made after the last read of the old one and stays there: read, then write, in any order of
// the rest.
// CHECK-LABEL: func.func @variable
// CHECK: ferrule.exp
// CHECK: ferrule.neg
// CHECK: ferrule.assign @w
ferrule.variable @w : tensor<8xf32>
func.func @variable() -> (tensor<8xf32> {ferrule.name = "y"}) {
  %w = ferrule.read @w : tensor<8xf32>
  %y = ferrule.dispatch(%p = %w : tensor<8xf32>) -> (tensor<8xf32>) {
    %0 = ferrule.exp %p : (tensor<8xf32>) -> tensor<8xf32>
    ferrule.yield %0 : tensor<8xf32>
  }
  %n = ferrule.dispatch(%p = %w : tensor<8xf32>) -> (tensor<8xf32>) {
    %0 = ferrule.neg %p : (tensor<8xf32>) -> tensor<8xf32>
    ferrule.yield %0 : tensor<8xf32>
  }
  ferrule.assign @w, %n : tensor<8xf32>
  return %y : tensor<8xf32>
}
