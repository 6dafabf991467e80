// RUN: ferrule-opt %s --ferrule-prune | FileCheck %s

ferrule.variable @v : tensor<f32>
ferrule.variable @w : tensor<f32>

// The chain of two dead ops goes, and the assign of v's own value; the assign of w stays with what it needs.
// CHECK-LABEL: func.func @entry
// CHECK-NEXT: %[[W:.*]] = ferrule.neg
// CHECK-NEXT: ferrule.assign @w, %[[W]]
// CHECK-NEXT: return
func.func @entry(%x: tensor<f32>) -> tensor<f32> {
  %0 = ferrule.exp %x : (tensor<f32>) -> tensor<f32>
  %1 = ferrule.log %0 : (tensor<f32>) -> tensor<f32>
  %v = ferrule.read @v : tensor<f32>
  ferrule.assign @v, %v : tensor<f32>
  %w = ferrule.neg %x : (tensor<f32>) -> tensor<f32>
  ferrule.assign @w, %w : tensor<f32>
  return %x : tensor<f32>
}


// Nobody reads the sum, which only carries itself: it leaves, and with it its slices. The count stays, as the body's
// other carry reads it.
// CHECK-LABEL: func.func @carries
// CHECK: %[[R:.*]]:2 = ferrule.scan inits(%arg0, %arg0 : tensor<f32>, tensor<f32>) xs() captures()
// CHECK-NEXT: ^bb0(%[[COUNT:.*]]: tensor<f32>, %[[C:.*]]: tensor<f32>):
// CHECK-NOT: ferrule.exp
// CHECK: ferrule.yield %{{.*}}, %{{.*}} : tensor<f32>, tensor<f32>
// CHECK: return %[[R]]#1
func.func @carries(%x: tensor<f32>, %xs: tensor<5xf32>) -> tensor<f32> {
  %r:3 = ferrule.scan inits(%x, %x, %x : tensor<f32>, tensor<f32>, tensor<f32>) xs(%xs : tensor<5xf32>)
      captures(%x : tensor<f32>) attributes {length = #ferrule.dims<[5]>} -> tensor<f32>, tensor<f32>, tensor<f32> {
  ^bb0(%count: tensor<f32>, %sum: tensor<f32>, %c: tensor<f32>, %slice: tensor<f32>, %k: tensor<f32>):
    %0 = ferrule.add %count, %count : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %1 = ferrule.exp %slice : (tensor<f32>) -> tensor<f32>
    %2 = ferrule.add %sum, %1 : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %3 = ferrule.mul %c, %count : (tensor<f32>, tensor<f32>) -> tensor<f32>
    ferrule.yield %0, %2, %3 : tensor<f32>, tensor<f32>, tensor<f32>
  }
  return %r#2 : tensor<f32>
}


// A branch without the result that nobody reads, nor the capture that only that needs.
// CHECK-LABEL: func.func @branches
// CHECK: ferrule.if %arg0 : tensor<i1> captures(%arg1 : tensor<f32>) -> tensor<f32> {
func.func @branches(%p: tensor<i1>, %x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %r:2 = ferrule.if %p : tensor<i1> captures(%x, %y : tensor<f32>, tensor<f32>) -> tensor<f32>, tensor<f32> {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %0 = ferrule.exp %b : (tensor<f32>) -> tensor<f32>
    ferrule.yield %0, %a : tensor<f32>, tensor<f32>
  } else {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    ferrule.yield %b, %a : tensor<f32>, tensor<f32>
  }
  return %r#1 : tensor<f32>
}
