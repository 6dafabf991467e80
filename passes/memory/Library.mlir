// RUN: ferrule-opt %s --ferrule-fuse --ferrule-plan-memory --ferrule-verify-plan | FileCheck %s

// An op that one kernel computes is a dispatch of its own, and its operands and result stand in memory.
//   instruction 0: a = exp x            [0, 256)
//   instruction 1: b = put(a, i, v)     over a, which dies there
//   instruction 2: y = exp b            y is the output
// CHECK-LABEL: ferrule_plan.entry @overwrites
// CHECK-SAME: peak 256 lower_bound 256 naive 256
// CHECK: %[[A:.*]] = ferrule_plan.buffer arena @arena offset 0 size <[256]> planned 256 live 0 to 1 alias 1 "exp"
// CHECK: %[[B:.*]] = ferrule_plan.buffer arena @arena offset 0 size <[256]> planned 256 live 1 to 2 alias 1 "put"
// CHECK: ferrule_plan.call @exp
// CHECK: ferrule_plan.call @put{{.*}} outs(%[[B]]) ins(%[[A]],
// CHECK: ferrule_plan.call @exp
func.func @overwrites(%x: tensor<64xf32> {ferrule.name = "x"}, %i: tensor<3x1xi32> {ferrule.name = "i"},
                      %v: tensor<3xf32> {ferrule.name = "v"}) -> (tensor<64xf32> {ferrule.name = "y"}) {
  %a = ferrule.exp %x : (tensor<64xf32>) -> tensor<64xf32>
  %b = ferrule.put %a, %i, %v {axis = 0 : i64} : (tensor<64xf32>, tensor<3x1xi32>, tensor<3xf32>) -> tensor<64xf32>
  %y = ferrule.exp %b : (tensor<64xf32>) -> tensor<64xf32>
  return %y : tensor<64xf32>
}

// The values that are written are the tensor itself: it is read after the first write, so the result stands apart, 64 bytes on.
// CHECK-LABEL: ferrule_plan.entry @reads_it_twice
// CHECK-SAME: peak 128 lower_bound 128 naive 128
// CHECK-NOT: alias
// CHECK: ferrule_plan.call
func.func @reads_it_twice(%x: tensor<4xf32> {ferrule.name = "x"}, %i: tensor<4x1xi32> {ferrule.name = "i"})
    -> (tensor<4xf32> {ferrule.name = "y"}) {
  %a = ferrule.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %b = ferrule.put %a, %i, %a {axis = 0 : i64} : (tensor<4xf32>, tensor<4x1xi32>, tensor<4xf32>) -> tensor<4xf32>
  %y = ferrule.exp %b : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
