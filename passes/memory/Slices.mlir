// RUN: ferrule-opt %s --split-input-file --ferrule-plan-memory --ferrule-verify-plan | FileCheck %s

// A slice outside of dispatches moves nothing: what reads it reads a part of the buffer, which is kept until then. a is
// 4 rows of 2 floats, 32 bytes; row 3 begins at byte 24, and a row of rows 1 and 2 at byte 8, the second of them at 16.
// CHECK: ferrule_plan.entry @parts
// CHECK-SAME: peak 64
// CHECK: %[[A:.*]] = ferrule_plan.buffer arena @arena offset {{[0-9]+}} size <[32]> planned 32 live 0 to 3 "exp"
// CHECK: ferrule_plan.call @exp.0 outs(%[[A]])
// CHECK: %[[LAST:.*]] = ferrule_plan.view %[[A]] offset <[24]> size <[8]>
// CHECK-NEXT: ferrule_plan.call @neg.{{[0-9]}} outs(%{{.*}}) ins(%[[LAST]])
// CHECK: %[[SECOND:.*]] = ferrule_plan.view %[[A]] offset <[16]> size <[8]>
// CHECK-NEXT: ferrule_plan.call @neg.{{[0-9]}} outs(%{{.*}}) ins(%[[SECOND]])
// CHECK: %[[BOTH:.*]] = ferrule_plan.view %[[A]] offset <[8]> size <[16]>
// CHECK-NEXT: ferrule_plan.copy %{{.*}} from %[[BOTH]] size <[16]>
func.func @parts(%x: tensor<4x2xf32> {ferrule.name = "x"}) -> (tensor<1x2xf32> {ferrule.name = "y"}, tensor<1x2xf32> {ferrule.name = "z"}, tensor<2x2xf32> {ferrule.name = "both"}) {
  %a = ferrule.dispatch(%p = %x : tensor<4x2xf32>) -> (tensor<4x2xf32>) {
    %0 = ferrule.exp %p : (tensor<4x2xf32>) -> tensor<4x2xf32>
    ferrule.yield %0 : tensor<4x2xf32>
  }
  %last = ferrule.slice %a {starts = #ferrule.dims<[3, 0]>, stops = #ferrule.dims<[4, 2]>, steps = array<i64: 1, 1>} : (tensor<4x2xf32>) -> tensor<1x2xf32>
  %both = ferrule.slice %a {starts = #ferrule.dims<[1, 0]>, stops = #ferrule.dims<[3, 2]>, steps = array<i64: 1, 1>} : (tensor<4x2xf32>) -> tensor<2x2xf32>
  %second = ferrule.slice %both {starts = #ferrule.dims<[1, 0]>, stops = #ferrule.dims<[2, 2]>, steps = array<i64: 1, 1>} : (tensor<2x2xf32>) -> tensor<1x2xf32>
  %y = ferrule.dispatch(%p = %last : tensor<1x2xf32>) -> (tensor<1x2xf32>) {
    %0 = ferrule.neg %p : (tensor<1x2xf32>) -> tensor<1x2xf32>
    ferrule.yield %0 : tensor<1x2xf32>
  }
  %z = ferrule.dispatch(%p = %second : tensor<1x2xf32>) -> (tensor<1x2xf32>) {
    %0 = ferrule.neg %p : (tensor<1x2xf32>) -> tensor<1x2xf32>
    ferrule.yield %0 : tensor<1x2xf32>
  }
  return %y, %z, %both : tensor<1x2xf32>, tensor<1x2xf32>, tensor<2x2xf32>
}

// -----

// The new value is not written over the old one, of which a later dispatch reads a part.
// CHECK: ferrule_plan.entry @old_part
// CHECK: %[[W:.*]] = ferrule_plan.buffer variable @w
// CHECK: %[[N:.*]] = ferrule_plan.buffer arena
// CHECK: ferrule_plan.call @exp.0 outs(%[[N]]) ins(%[[W]])
// CHECK: ferrule_plan.view %[[W]] offset <[8]> size <[8]>
// CHECK: ferrule_plan.call @neg.1
// CHECK: ferrule_plan.copy %[[W]] from %[[N]]
ferrule.variable @w : tensor<4xf32>
func.func @old_part() -> (tensor<2xf32> {ferrule.name = "y"}) {
  %w = ferrule.read @w : tensor<4xf32>
  %n = ferrule.dispatch(%p = %w : tensor<4xf32>) -> (tensor<4xf32>) {
    %0 = ferrule.exp %p : (tensor<4xf32>) -> tensor<4xf32>
    ferrule.yield %0 : tensor<4xf32>
  }
  %half = ferrule.slice %w {starts = #ferrule.dims<[2]>, stops = #ferrule.dims<[4]>, steps = array<i64: 1>} : (tensor<4xf32>) -> tensor<2xf32>
  %y = ferrule.dispatch(%p = %half : tensor<2xf32>) -> (tensor<2xf32>) {
    %0 = ferrule.neg %p : (tensor<2xf32>) -> tensor<2xf32>
    ferrule.yield %0 : tensor<2xf32>
  }
  ferrule.assign @w, %n : tensor<4xf32>
  return %y : tensor<2xf32>
}

// -----

// A scan over the rows of a part: step t reads row 1 + t.
// CHECK: ferrule_plan.entry @scanned
// CHECK: ferrule_plan.view %{{.*}} offset <[loop0 * 8 + 8]> size <[8]>
func.func @scanned(%x: tensor<4x2xf32> {ferrule.name = "x"}, %first: tensor<2xf32> {ferrule.name = "first"}) -> (tensor<2xf32> {ferrule.name = "sum"}) {
  %a = ferrule.dispatch(%p = %x : tensor<4x2xf32>) -> (tensor<4x2xf32>) {
    %0 = ferrule.exp %p : (tensor<4x2xf32>) -> tensor<4x2xf32>
    ferrule.yield %0 : tensor<4x2xf32>
  }
  %rows = ferrule.slice %a {starts = #ferrule.dims<[1, 0]>, stops = #ferrule.dims<[4, 2]>, steps = array<i64: 1, 1>} : (tensor<4x2xf32>) -> tensor<3x2xf32>
  %sum = ferrule.scan inits(%first : tensor<2xf32>) xs(%rows : tensor<3x2xf32>) captures() attributes {length = #ferrule.dims<[3]>} -> tensor<2xf32> {
  ^bb0(%s: tensor<2xf32>, %row: tensor<2xf32>):
    %n = ferrule.dispatch(%p = %s : tensor<2xf32>, %q = %row : tensor<2xf32>) -> (tensor<2xf32>) {
      %0 = ferrule.add %p, %q : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      ferrule.yield %0 : tensor<2xf32>
    }
    ferrule.yield %n : tensor<2xf32>
  }
  return %sum : tensor<2xf32>
}
