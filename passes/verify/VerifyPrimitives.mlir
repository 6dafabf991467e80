// RUN: ferrule-opt %s --verify-diagnostics --ferrule-verify-primitives

func.func @left(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @+1 {{must have been replaced by other ops before this point}}
  %g = ferrule.gradient %x, %x {operandSegmentSizes = array<i32: 1, 0, 1>} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %g : tensor<f32>
}
