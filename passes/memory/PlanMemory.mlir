// RUN: ferrule-opt %s --split-input-file --ferrule-plan-memory --ferrule-verify-plan | FileCheck %s
// RUN: ferrule-opt %s --split-input-file --ferrule-plan-memory="in-place=false" --ferrule-verify-plan | FileCheck %s --check-prefix=APART

// Two exp and an add. The first exp dies at the add, which reads it element for element: one alias group. Both exp are
// the same kernel. Each buffer is 64 floats = 256 bytes.
//   instruction 0: a = exp x      [0, 256)
//   instruction 1: b = exp a      over a
//   instruction 2: c = b + x      over b
//   instruction 3: y = exp c      y is the output
// So one place of 256 bytes holds a, b and c in turn, and a group counts once in all three numbers.
// CHECK: ferrule_plan.arena @arena size 256 align 64
// CHECK: ferrule_plan.kernel @exp.0(%{{.*}}: tensor<64xf32>)
// CHECK-NOT: ferrule_plan.kernel @exp
// CHECK: ferrule_plan.kernel @add.1(
// CHECK-NOT: ferrule_plan.kernel
// CHECK: ferrule_plan.entry @chain("x" : tensor<64xf32>) -> ("y" : tensor<64xf32>) peak 256 lower_bound 256 naive 256 {
// CHECK-DAG: %[[X:.*]] = ferrule_plan.buffer input 0 size <[256]> planned 256 live 0 to 2 "x"
// CHECK-DAG: %[[Y:.*]] = ferrule_plan.buffer output 0 size <[256]> planned 256 live 3 to 3 "y"
// CHECK: %[[A:.*]] = ferrule_plan.buffer arena @arena offset 0 size <[256]> planned 256 live 0 to 1 alias 1 "exp"
// CHECK: %[[B:.*]] = ferrule_plan.buffer arena @arena offset 0 size <[256]> planned 256 live 1 to 2 alias 1 "exp"
// CHECK: %[[C:.*]] = ferrule_plan.buffer arena @arena offset 0 size <[256]> planned 256 live 2 to 3 alias 1 "add"
// CHECK: ferrule_plan.call @exp.0 outs(%[[A]]) ins(%[[X]])
// CHECK: ferrule_plan.call @exp.0 outs(%[[B]]) ins(%[[A]])
// CHECK: ferrule_plan.call @add.1 outs(%[[C]]) ins(%[[B]], %[[X]])
// CHECK: ferrule_plan.call @exp.0 outs(%[[Y]]) ins(%[[C]])

// Apart: a and b are live together at instruction 1, b and c at 2, so two places; c goes where a was.
// APART: ferrule_plan.entry @chain
// APART-SAME: peak 512 lower_bound 512 naive 768
// APART-NOT: alias
// APART: ferrule_plan.call
func.func @chain(%x: tensor<64xf32> {ferrule.name = "x"}) -> (tensor<64xf32> {ferrule.name = "y"}) {
  %a = ferrule.dispatch(%p = %x : tensor<64xf32>) -> (tensor<64xf32>) {
    %0 = ferrule.exp %p : (tensor<64xf32>) -> tensor<64xf32>
    ferrule.yield %0 : tensor<64xf32>
  }
  %b = ferrule.dispatch(%p = %a : tensor<64xf32>) -> (tensor<64xf32>) {
    %0 = ferrule.exp %p : (tensor<64xf32>) -> tensor<64xf32>
    ferrule.yield %0 : tensor<64xf32>
  }
  %c = ferrule.dispatch(%p = %b : tensor<64xf32>, %q = %x : tensor<64xf32>) -> (tensor<64xf32>) {
    %0 = ferrule.add %p, %q : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    ferrule.yield %0 : tensor<64xf32>
  }
  %y = ferrule.dispatch(%p = %c : tensor<64xf32>) -> (tensor<64xf32>) {
    %0 = ferrule.exp %p : (tensor<64xf32>) -> tensor<64xf32>
    ferrule.yield %0 : tensor<64xf32>
  }
  return %y : tensor<64xf32>
}

// -----

// A transpose reads other elements than it writes: no sharing. a, 8 * 4 floats = 128 bytes, and t, as many, are both
// live at instruction 1: 256 bytes.
// CHECK: ferrule_plan.entry @not_elementwise
// CHECK-SAME: peak 256 lower_bound 256 naive 256
// CHECK: ferrule_plan.buffer arena @arena offset {{0|128}} size <[128]> planned 128 live 0 to 1 "exp"
// CHECK: ferrule_plan.buffer arena @arena offset {{0|128}} size <[128]> planned 128 live 1 to 2 "transpose"
// CHECK-NOT: alias
// CHECK: ferrule_plan.call
func.func @not_elementwise(%x: tensor<8x4xf32> {ferrule.name = "x"}) -> (tensor<4x8xf32> {ferrule.name = "y"}) {
  %a = ferrule.dispatch(%p = %x : tensor<8x4xf32>) -> (tensor<8x4xf32>) {
    %0 = ferrule.exp %p : (tensor<8x4xf32>) -> tensor<8x4xf32>
    ferrule.yield %0 : tensor<8x4xf32>
  }
  %t = ferrule.dispatch(%p = %a : tensor<8x4xf32>) -> (tensor<4x8xf32>) {
    %0 = ferrule.transpose %p {pattern = array<i64: 1, 0>} : (tensor<8x4xf32>) -> tensor<4x8xf32>
    ferrule.yield %0 : tensor<4x8xf32>
  }
  %y = ferrule.dispatch(%p = %t : tensor<4x8xf32>) -> (tensor<4x8xf32>) {
    %0 = ferrule.exp %p : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ferrule.yield %0 : tensor<4x8xf32>
  }
  return %y : tensor<4x8xf32>
}

// -----

// A size that depends on a dim is planned at its upper bound, 64 * 4 * 4 = 1024 bytes. The other buffer has 12 bytes
// and, since offsets are multiples of 64, takes 64. Both are live at instruction 2: 1024 + 64 = 1088.
// CHECK: ferrule_plan.arena @arena size 1088 align 64
// CHECK: ferrule_plan.entry @symbolic
// CHECK-SAME: dims [#ferrule_plan.dim<"batch", min = 1, max = 64, multiple_of = 1>] peak 1088 lower_bound 1088 naive 1088
// CHECK-DAG: size <[12]> planned 12 live 0 to 2 "exp"
// CHECK-DAG: size <[batch * 16]> planned 1024 live 1 to 2 "neg"
module attributes {ferrule.dims = {batch = {min = 1, max = 64, multiple_of = 1}}} {
  func.func @symbolic(%x: tensor<?x4xf32, #ferrule.dims<[batch, 4]>> {ferrule.name = "x"}, %s: tensor<3xf32> {ferrule.name = "s"})
      -> (tensor<?x4xf32, #ferrule.dims<[batch, 4]>> {ferrule.name = "y"}, tensor<3xf32> {ferrule.name = "z"}) {
    %e = ferrule.dispatch(%p = %s : tensor<3xf32>) -> (tensor<3xf32>) {
      %0 = ferrule.exp %p : (tensor<3xf32>) -> tensor<3xf32>
      ferrule.yield %0 : tensor<3xf32>
    }
    %n = ferrule.dispatch(%p = %x : tensor<?x4xf32, #ferrule.dims<[batch, 4]>>) -> (tensor<?x4xf32, #ferrule.dims<[batch, 4]>>) {
      %0 = ferrule.neg %p : (tensor<?x4xf32, #ferrule.dims<[batch, 4]>>) -> tensor<?x4xf32, #ferrule.dims<[batch, 4]>>
      ferrule.yield %0 : tensor<?x4xf32, #ferrule.dims<[batch, 4]>>
    }
    %y, %z = ferrule.dispatch(%p = %n : tensor<?x4xf32, #ferrule.dims<[batch, 4]>>, %q = %e : tensor<3xf32>) -> (tensor<?x4xf32, #ferrule.dims<[batch, 4]>>, tensor<3xf32>) {
      %0 = ferrule.exp %p : (tensor<?x4xf32, #ferrule.dims<[batch, 4]>>) -> tensor<?x4xf32, #ferrule.dims<[batch, 4]>>
      %1 = ferrule.exp %q : (tensor<3xf32>) -> tensor<3xf32>
      ferrule.yield %0, %1 : tensor<?x4xf32, #ferrule.dims<[batch, 4]>>, tensor<3xf32>
    }
    return %y, %z : tensor<?x4xf32, #ferrule.dims<[batch, 4]>>, tensor<3xf32>
  }
}

// -----

// Two entries use one arena, each from its start: the larger one's 256 bytes. Kernels are shared between entries.
// CHECK: ferrule_plan.arena @arena size 256 align 64
// CHECK: ferrule_plan.kernel @exp.0(%{{.*}}: tensor<16xf32>)
// CHECK: ferrule_plan.entry @small
// CHECK-SAME: peak 64
// CHECK: ferrule_plan.entry @large
// CHECK-SAME: peak 256
func.func @small(%x: tensor<16xf32> {ferrule.name = "x"}) -> (tensor<16xf32> {ferrule.name = "y"}) {
  %a = ferrule.dispatch(%p = %x : tensor<16xf32>) -> (tensor<16xf32>) {
    %0 = ferrule.exp %p : (tensor<16xf32>) -> tensor<16xf32>
    ferrule.yield %0 : tensor<16xf32>
  }
  %y = ferrule.dispatch(%p = %a : tensor<16xf32>) -> (tensor<16xf32>) {
    %0 = ferrule.exp %p : (tensor<16xf32>) -> tensor<16xf32>
    ferrule.yield %0 : tensor<16xf32>
  }
  return %y : tensor<16xf32>
}
func.func @large(%x: tensor<64xf32> {ferrule.name = "x"}) -> (tensor<64xf32> {ferrule.name = "y"}) {
  %a = ferrule.dispatch(%p = %x : tensor<64xf32>) -> (tensor<64xf32>) {
    %0 = ferrule.exp %p : (tensor<64xf32>) -> tensor<64xf32>
    ferrule.yield %0 : tensor<64xf32>
  }
  %y = ferrule.dispatch(%p = %a : tensor<64xf32>) -> (tensor<64xf32>) {
    %0 = ferrule.exp %p : (tensor<64xf32>) -> tensor<64xf32>
    ferrule.yield %0 : tensor<64xf32>
  }
  return %y : tensor<64xf32>
}

// -----

// A kernel stores its first result before it computes the second, so the first must not take the bytes of what only
// the second reads: exp x lies apart from a, and neg a over it. 16 bytes each, 64 in the arena: a is live from 0 to 1,
// both results at 1 and 2, and a with its heir is one place: 128.
// CHECK: ferrule_plan.entry @second_reads
// CHECK-SAME: peak 128 lower_bound 128 naive 128
// CHECK: %[[A:.*]] = ferrule_plan.buffer arena @arena offset [[#AT:]] size <[16]> planned 16 live 0 to 1 alias 1 "sqrt"
// CHECK: %[[Y:.*]] = ferrule_plan.buffer arena @arena offset {{0|64}} size <[16]> planned 16 live 1 to 2 "exp"
// CHECK: %[[Z:.*]] = ferrule_plan.buffer arena @arena offset [[#AT]] size <[16]> planned 16 live 1 to 2 alias 1 "exp"
// CHECK: ferrule_plan.call @sqrt.0 outs(%[[A]])
// CHECK: ferrule_plan.call @neg.1 outs(%[[Y]], %[[Z]]) ins(%{{.*}}, %[[A]])
func.func @second_reads(%x: tensor<4xf32> {ferrule.name = "x"}) -> (tensor<4xf32> {ferrule.name = "s"}) {
  %a = ferrule.dispatch(%p = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    %0 = ferrule.sqrt %p : (tensor<4xf32>) -> tensor<4xf32>
    ferrule.yield %0 : tensor<4xf32>
  }
  %y, %z = ferrule.dispatch(%p = %x : tensor<4xf32>, %q = %a : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = ferrule.exp %p : (tensor<4xf32>) -> tensor<4xf32>
    %1 = ferrule.neg %q : (tensor<4xf32>) -> tensor<4xf32>
    ferrule.yield %0, %1 : tensor<4xf32>, tensor<4xf32>
  }
  %s = ferrule.dispatch(%p = %y : tensor<4xf32>, %q = %z : tensor<4xf32>) -> (tensor<4xf32>) {
    %0 = ferrule.add %p, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ferrule.yield %0 : tensor<4xf32>
  }
  return %s : tensor<4xf32>
}
