// RUN: ferrule-opt %s --split-input-file --verify-diagnostics

// A type rule's sentence is what the frontend shows; the verifier of text adds that types could not be inferred.

func.func @shapes(%x: tensor<2x3xf32>, %y: tensor<3xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{add: x is float32[2, 3] and y is float32[3]; they must have one shape (broadcast first)}}
  %0 = "ferrule.add"(%x, %y) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @dtypes(%x: tensor<3xf32>, %y: tensor<3xi32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{mul: x is float32[3] and y is int32[3]; they must have one dtype (cast first)}}
  %0 = "ferrule.mul"(%x, %y) : (tensor<3xf32>, tensor<3xi32>) -> tensor<3xf32>
  return
}

// -----

func.func @kind(%x: tensor<3xi32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{exp: x is int32[3]; its dtype must be a float}}
  %0 = "ferrule.exp"(%x) : (tensor<3xi32>) -> tensor<3xi32>
  return
}

// -----

func.func @inner(%a: tensor<2x3xf32>, %b: tensor<4x5xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{matmul: a is float32[2, 3] and b is float32[4, 5]; the inner sizes 3 and 4 must be equal}}
  %0 = "ferrule.matmul"(%a, %b) : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @kernel(%x: tensor<1x1x2x2xf32>, %w: tensor<1x1x5x5xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{convolution: the input is [1, 1, 2, 2] and the weight [1, 1, 5, 5]; on axis 2 the dilated kernel of 5 is larger than the padded input of 4}}
  %0 = "ferrule.convolution"(%x, %w) {strides = array<i64: 1, 1>, pads_begin = array<i64: 1, 1>, pads_end = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x1x2x2xf32>, tensor<1x1x5x5xf32>) -> tensor<1x1x1x1xf32>
  return
}

// -----

func.func @count(%x: tensor<?x6xf32, #ferrule.dims<[batch, 6]>>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{reshape: x is float32[batch, 6] with batch * 6 elements and the new shape [batch, 5] has batch * 5; the counts must be equal}}
  %0 = "ferrule.reshape"(%x) {shape = #ferrule.dims<[batch, 5]>} : (tensor<?x6xf32, #ferrule.dims<[batch, 6]>>) -> tensor<?x5xf32, #ferrule.dims<[batch, 5]>>
  return
}

// -----

func.func @axis(%x: tensor<2x3xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{reduce_sum: axes names axis 2 of float32[2, 3]; allowed are 0 to 1}}
  %0 = "ferrule.reduce_sum"(%x) {axes = array<i64: 2>} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @empty(%x: tensor<2x0xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{reduce_max: x is float32[2, 0]; axis 1 must not be empty}}
  %0 = "ferrule.reduce_max"(%x) {axes = array<i64: 1>} : (tensor<2x0xf32>) -> tensor<2xf32>
  return
}

// -----

// expected-error @+1 {{axis 1 of the tensor is 3 where #ferrule.dims has 4}}
func.func @encoding(%x: tensor<?x3xf32, #ferrule.dims<[batch, 4]>>) {
  return
}

// -----

ferrule.variable @v : tensor<2xf32>
func.func @type() {
  // expected-error @+1 {{has the type 'tensor<3xf32>' but the variable @v is 'tensor<2xf32>'}}
  %0 = ferrule.read @v : tensor<3xf32>
  return
}

// -----

func.func @missing() {
  // expected-error @+1 {{names the variable @v, which the module does not have}}
  %0 = ferrule.read @v : tensor<3xf32>
  return
}

// -----

func.func @if_predicate(%p: tensor<1xi1>) {
  // expected-error@+1 {{has a predicate of type 'tensor<1xi1>'; it must be a bool of rank 0}}
  ferrule.if %p : tensor<1xi1> captures() {
    ferrule.yield
  } else {
    ferrule.yield
  }
  return
}

// -----

func.func @if_branches(%p: tensor<i1>, %x: tensor<4xf32>) {
  // expected-error@+1 {{has a region `else` that yields () where ('tensor<4xf32>') is needed}}
  %0 = ferrule.if %p : tensor<i1> captures(%x : tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    ferrule.yield %a : tensor<4xf32>
  } else {
  ^bb0(%a: tensor<4xf32>):
    ferrule.yield
  }
  return
}

// -----

func.func @scan_length(%x: tensor<5xf32>) {
  // expected-error@+1 {{runs over float32[5], whose first size must be the length 4}}
  ferrule.scan inits() xs(%x : tensor<5xf32>) captures() attributes {length = #ferrule.dims<[4]>} {
  ^bb0(%a: tensor<f32>):
    ferrule.yield
  }
  return
}

// -----

func.func @while_condition(%x: tensor<f32>) {
  // expected-error@+1 {{has a region `condition` that yields ('tensor<f32>') where ('tensor<i1>') is needed}}
  %0 = ferrule.while inits(%x : tensor<f32>) captures() -> tensor<f32> condition {
  ^bb0(%a: tensor<f32>):
    ferrule.yield %a : tensor<f32>
  } body {
  ^bb0(%a: tensor<f32>):
    ferrule.yield %a : tensor<f32>
  }
  return
}
