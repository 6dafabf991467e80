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
