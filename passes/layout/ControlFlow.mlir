// RUN: ferrule-opt %s --split-input-file --ferrule-layout --ferrule-prune | FileCheck %s

// A weight that a loop captures is packed once for the program: the body takes the panels. Along its rows they are
// transposed, before the loop.
// CHECK: ferrule.variable @w {layout
// CHECK-LABEL: func.func @recurrent
// CHECK: %[[W:.*]] = ferrule.read @w
// CHECK: %[[T:.*]] = ferrule.transpose_panels %[[W]]
// CHECK: ferrule.scan inits(%arg0 : tensor<2x32xf32>) xs() captures(%[[W]], %[[T]]
// CHECK-NEXT: ^bb0(%[[C:.*]]: tensor<2x32xf32>, %[[P:.*]]: tensor<2x32x16xf32>, %[[Q:.*]]: tensor<2x32x16xf32>):
// CHECK-NEXT: %[[A:.*]] = ferrule.panel_matmul %[[C]], %[[P]]
// CHECK-NEXT: %[[B:.*]] = ferrule.panel_matmul %[[A]], %[[Q]]
// CHECK-NEXT: ferrule.yield %[[B]]
ferrule.variable @w : tensor<32x32xf32>
func.func @recurrent(%c: tensor<2x32xf32> {ferrule.name = "c"}) -> (tensor<2x32xf32> {ferrule.name = "y"}) {
  %w = ferrule.read @w : tensor<32x32xf32>
  %y = ferrule.scan inits(%c : tensor<2x32xf32>) xs() captures(%w : tensor<32x32xf32>)
      attributes {length = #ferrule.dims<[5]>} -> tensor<2x32xf32> {
  ^bb0(%a: tensor<2x32xf32>, %k: tensor<32x32xf32>):
    %0 = ferrule.matmul %a, %k : (tensor<2x32xf32>, tensor<32x32xf32>) -> tensor<2x32xf32>
    %1 = ferrule.matmul %0, %k {transpose_b = true} : (tensor<2x32xf32>, tensor<32x32xf32>) -> tensor<2x32xf32>
    ferrule.yield %1 : tensor<2x32xf32>
  }
  return %y : tensor<2x32xf32>
}

// -----

// What every step computes alike leaves the inner loop and then the outer one; index maps stay where they are read, and
// nothing leaves a branch.
// CHECK-LABEL: func.func @invariant
// CHECK: %[[E:.*]] = ferrule.exp %arg1
// CHECK: ferrule.scan {{.*}} captures(%{{.*}}, %[[E]]
// CHECK: ferrule.scan
// CHECK-NOT: ferrule.exp
// CHECK: ferrule.broadcast_to
// CHECK: ferrule.if
// CHECK: ferrule.sin
func.func @invariant(%c: tensor<3x4xf32> {ferrule.name = "c"}, %k: tensor<4xf32> {ferrule.name = "k"},
                     %p: tensor<i1> {ferrule.name = "p"}) -> (tensor<3x4xf32> {ferrule.name = "y"}) {
  %y = ferrule.scan inits(%c : tensor<3x4xf32>) xs() captures(%k, %p : tensor<4xf32>, tensor<i1>)
      attributes {length = #ferrule.dims<[5]>} -> tensor<3x4xf32> {
  ^bb0(%a: tensor<3x4xf32>, %w: tensor<4xf32>, %q: tensor<i1>):
    %inner = ferrule.scan inits(%a : tensor<3x4xf32>) xs() captures(%w, %q : tensor<4xf32>, tensor<i1>)
        attributes {length = #ferrule.dims<[2]>} -> tensor<3x4xf32> {
    ^bb0(%b: tensor<3x4xf32>, %v: tensor<4xf32>, %r: tensor<i1>):
      %0 = ferrule.exp %v : (tensor<4xf32>) -> tensor<4xf32>
      %1 = ferrule.broadcast_to %0 {shape = #ferrule.dims<[3, 4]>} : (tensor<4xf32>) -> tensor<3x4xf32>
      %2 = ferrule.mul %b, %1 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
      %3 = ferrule.if %r : tensor<i1> captures(%2, %v : tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32> {
      ^bb0(%x: tensor<3x4xf32>, %u: tensor<4xf32>):
        %4 = ferrule.sin %u : (tensor<4xf32>) -> tensor<4xf32>
        %5 = ferrule.broadcast_to %4 {shape = #ferrule.dims<[3, 4]>} : (tensor<4xf32>) -> tensor<3x4xf32>
        %6 = ferrule.add %x, %5 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
        ferrule.yield %6 : tensor<3x4xf32>
      } else {
      ^bb0(%x: tensor<3x4xf32>, %u: tensor<4xf32>):
        ferrule.yield %x : tensor<3x4xf32>
      }
      ferrule.yield %3 : tensor<3x4xf32>
    }
    ferrule.yield %inner : tensor<3x4xf32>
  }
  return %y : tensor<3x4xf32>
}
