// RUN: ferrule-opt %s --split-input-file --verify-diagnostics --ferrule-verify-input

module attributes {ferrule.dims = {batch = {min = 1, max = 64}, rows = {}}, ferrule.equalities = [#ferrule.dims<[batch, rows]>]} {
  func.func @recorded(%x: tensor<?xf32, #ferrule.dims<[batch]>> {ferrule.name = "x"}) -> (tensor<?xf32, #ferrule.dims<[rows]>> {ferrule.name = "out.0"}) {
    %0 = ferrule.broadcast_to %x {shape = #ferrule.dims<[rows]>} : (tensor<?xf32, #ferrule.dims<[batch]>>) -> tensor<?xf32, #ferrule.dims<[rows]>>
    return %0 : tensor<?xf32, #ferrule.dims<[rows]>>
  }
}

// -----

module attributes {ferrule.dims = {batch = {min = 1, max = 64}, rows = {}}} {
  func.func @unrecorded(%x: tensor<?xf32, #ferrule.dims<[batch]>> {ferrule.name = "x"}) -> (tensor<?xf32, #ferrule.dims<[rows]>> {ferrule.name = "out.0"}) {
    // expected-error @+1 {{broadcast_to takes batch and rows as equal, which neither the dims' ranges nor a recorded equality decide}}
    %0 = ferrule.broadcast_to %x {shape = #ferrule.dims<[rows]>} : (tensor<?xf32, #ferrule.dims<[batch]>>) -> tensor<?xf32, #ferrule.dims<[rows]>>
    return %0 : tensor<?xf32, #ferrule.dims<[rows]>>
  }
}

// -----

// expected-error @+1 {{the dim 'batch' has no value: no input has it (the module's ferrule.dims do not declare it)}}
func.func @undeclared(%x: tensor<?xf32, #ferrule.dims<[batch]>> {ferrule.name = "x"}) {
  return
}

// -----

// expected-error @+1 {{ferrule.dims: 'batch' has min = 5, max = 4, multiple_of = 1}}
module attributes {ferrule.dims = {batch = {min = 5, max = 4}}} {
}

// -----

// expected-error @+1 {{entry 'f': input 1 has no ferrule.name}}
func.func @f(%x: tensor<f32> {ferrule.name = "x"}, %y: tensor<f32>) {
  return
}

// -----

// expected-error @+1 {{entry 'f': inputs 0 and 1 are both called 'x'}}
func.func @f(%x: tensor<f32> {ferrule.name = "x"}, %y: tensor<f32> {ferrule.name = "x"}) {
  return
}

// -----

ferrule.variable @v : tensor<f32>
func.func @twice(%x: tensor<f32> {ferrule.name = "x"}) {
  // expected-note @+1 {{the first assign is here}}
  ferrule.assign @v, %x : tensor<f32>
  // expected-error @+1 {{entry 'twice' assigns the variable 'v' twice}}
  ferrule.assign @v, %x : tensor<f32>
  return
}
