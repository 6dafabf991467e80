// RUN: ferrule-opt %s --ferrule-fuse | FileCheck %s
// RUN: ferrule-opt %s --ferrule-fuse=fuse=false | FileCheck %s --check-prefix=APART

// A contraction takes its epilogue with it.

// CHECK-LABEL: func.func @epilogue
// CHECK: %[[R:.*]] = ferrule.dispatch
// CHECK-NEXT: ferrule.matmul
// CHECK: ferrule.add
// CHECK: ferrule.relu
// CHECK: ferrule.yield
// CHECK: return %[[R]]
// APART-LABEL: func.func @epilogue
// APART-COUNT-3: ferrule.dispatch
// APART: return
func.func @epilogue(%x: tensor<8x12xf32>, %w: tensor<12x20xf32>, %b: tensor<20xf32>) -> tensor<8x20xf32> {
  %y = ferrule.matmul %x, %w : (tensor<8x12xf32>, tensor<12x20xf32>) -> tensor<8x20xf32>
  %bb = ferrule.broadcast_to %b {shape = #ferrule.dims<[8, 20]>} : (tensor<20xf32>) -> tensor<8x20xf32>
  %s = ferrule.add %y, %bb : (tensor<8x20xf32>, tensor<8x20xf32>) -> tensor<8x20xf32>
  %r = ferrule.relu %s : (tensor<8x20xf32>) -> tensor<8x20xf32>
  return %r : tensor<8x20xf32>
}

// A transposed right operand that the kernel copies anyway stays as it is; a small one, or one of a size that is not known,
// is transposed before.

// CHECK-LABEL: func.func @transposed
// CHECK: ferrule.matmul {{.*}} {transpose_b = true} : (tensor<64x64xf32>, tensor<128x64xf32>)
// CHECK: ferrule.transpose
// CHECK: ferrule.matmul {{.*}} : (tensor<63x64xf32>, tensor<64x128xf32>)
// CHECK: return
func.func @transposed(%x: tensor<64x64xf32>, %z: tensor<63x64xf32>, %w: tensor<128x64xf32>) -> (tensor<64x128xf32>, tensor<63x128xf32>) {
  %y = ferrule.matmul %x, %w {transpose_b = true} : (tensor<64x64xf32>, tensor<128x64xf32>) -> tensor<64x128xf32>
  %v = ferrule.matmul %z, %w {transpose_b = true} : (tensor<63x64xf32>, tensor<128x64xf32>) -> tensor<63x128xf32>
  return %y, %v : tensor<64x128xf32>, tensor<63x128xf32>
}

// Two sums of different products over one domain are one pass, and the products are never stored.

// CHECK-LABEL: func.func @sums
// CHECK: %{{.*}}:2 = ferrule.dispatch({{.*}}) -> (tensor<20xf32>, tensor<20xf32>)
// CHECK-COUNT-2: ferrule.reduce_sum
// CHECK: ferrule.yield
// CHECK-NOT: ferrule.dispatch
// CHECK: return
func.func @sums(%x: tensor<8x20xf32>, %g: tensor<8x20xf32>) -> (tensor<20xf32>, tensor<20xf32>) {
  %p = ferrule.mul %x, %g : (tensor<8x20xf32>, tensor<8x20xf32>) -> tensor<8x20xf32>
  %a = ferrule.reduce_sum %p {axes = array<i64: 0>} : (tensor<8x20xf32>) -> tensor<20xf32>
  %b = ferrule.reduce_sum %g {axes = array<i64: 0>} : (tensor<8x20xf32>) -> tensor<20xf32>
  return %a, %b : tensor<20xf32>, tensor<20xf32>
}

// An optimizer's update writes its state and the parameter in one pass.

// CHECK-LABEL: func.func @update
// CHECK: %[[U:.*]]:2 = ferrule.dispatch
// CHECK: ferrule.yield
// CHECK-NOT: ferrule.dispatch
// CHECK: return %[[U]]#0, %[[U]]#1
func.func @update(%w: tensor<64xf32>, %m: tensor<64xf32>, %g: tensor<64xf32>, %rate: tensor<f32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %n = ferrule.add %m, %g : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %r = ferrule.broadcast_to %rate {shape = #ferrule.dims<[64]>} : (tensor<f32>) -> tensor<64xf32>
  %s = ferrule.mul %r, %n : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %u = ferrule.sub %w, %s : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %n, %u : tensor<64xf32>, tensor<64xf32>
}

// What is dear is stored: exp is computed once, though two kernels read it.

// CHECK-LABEL: func.func @dear
// CHECK-COUNT-1: ferrule.exp
// CHECK-NOT: ferrule.exp
// CHECK: return
func.func @dear(%x: tensor<8x20xf32>) -> (tensor<20xf32>, tensor<8xf32>) {
  %e = ferrule.exp %x : (tensor<8x20xf32>) -> tensor<8x20xf32>
  %a = ferrule.reduce_sum %e {axes = array<i64: 0>} : (tensor<8x20xf32>) -> tensor<20xf32>
  %b = ferrule.reduce_sum %e {axes = array<i64: 1>} : (tensor<8x20xf32>) -> tensor<8xf32>
  return %a, %b : tensor<20xf32>, tensor<8xf32>
}

// x is normalised by its own maximum: the division waits for the reduction, so it cannot join the producer of x.

// CHECK-LABEL: func.func @no_cycle
// CHECK: ferrule.matmul
// CHECK: ferrule.yield
// CHECK: ferrule.reduce_max
// CHECK: ferrule.yield
// CHECK: ferrule.div
func.func @no_cycle(%a: tensor<8x12xf32>, %b: tensor<12x20xf32>) -> tensor<8x20xf32> {
  %x = ferrule.matmul %a, %b : (tensor<8x12xf32>, tensor<12x20xf32>) -> tensor<8x20xf32>
  %m = ferrule.reduce_max %x {axes = array<i64: 0, 1>} : (tensor<8x20xf32>) -> tensor<f32>
  %mb = ferrule.broadcast_to %m {shape = #ferrule.dims<[8, 20]>} : (tensor<f32>) -> tensor<8x20xf32>
  %y = ferrule.div %x, %mb : (tensor<8x20xf32>, tensor<8x20xf32>) -> tensor<8x20xf32>
  return %y : tensor<8x20xf32>
}

// A view that the root reads whole stays in memory, though the epilogue could compute it.

// CHECK-LABEL: func.func @whole_operand
// CHECK: %[[T:.*]] = ferrule.dispatch
// CHECK-NEXT: ferrule.transpose
// CHECK: ferrule.dispatch({{.*}}%[[ARG:.*]] = %[[T]]
// CHECK-NOT: ferrule.transpose
// CHECK: ferrule.matmul %{{.*}}, %[[ARG]]
// CHECK-NOT: ferrule.transpose
// CHECK: return
func.func @whole_operand(%a: tensor<6x6xf32>, %b: tensor<6x6xf32>) -> tensor<6x6xf32> {
  %t = ferrule.transpose %b {pattern = array<i64: 1, 0>} : (tensor<6x6xf32>) -> tensor<6x6xf32>
  %y = ferrule.matmul %a, %t : (tensor<6x6xf32>, tensor<6x6xf32>) -> tensor<6x6xf32>
  %z = ferrule.mul %t, %y : (tensor<6x6xf32>, tensor<6x6xf32>) -> tensor<6x6xf32>
  return %z : tensor<6x6xf32>
}

// Gates of a recurrent cell read parts of one product: one kernel makes them all.

// CHECK-LABEL: func.func @gates
// CHECK: ferrule.matmul
// CHECK: ferrule.yield
// CHECK: ferrule.dispatch
// CHECK: ferrule.sigmoid
// CHECK: ferrule.tanh
// CHECK: ferrule.mul
// CHECK: ferrule.yield
// CHECK-NOT: ferrule.dispatch
// CHECK: return
func.func @gates(%a: tensor<2x8xf32>, %w: tensor<8x32xf32>) -> tensor<2x16xf32> {
  %p = ferrule.matmul %a, %w : (tensor<2x8xf32>, tensor<8x32xf32>) -> tensor<2x32xf32>
  %l = ferrule.slice %p {starts = #ferrule.dims<[0, 0]>, steps = array<i64: 1, 1>, stops = #ferrule.dims<[2, 16]>} : (tensor<2x32xf32>) -> tensor<2x16xf32>
  %r = ferrule.slice %p {starts = #ferrule.dims<[0, 16]>, steps = array<i64: 1, 1>, stops = #ferrule.dims<[2, 32]>} : (tensor<2x32xf32>) -> tensor<2x16xf32>
  %s = ferrule.sigmoid %l : (tensor<2x16xf32>) -> tensor<2x16xf32>
  %t = ferrule.tanh %r : (tensor<2x16xf32>) -> tensor<2x16xf32>
  %y = ferrule.mul %s, %t : (tensor<2x16xf32>, tensor<2x16xf32>) -> tensor<2x16xf32>
  return %y : tensor<2x16xf32>
}

// Sums of different tensors would keep both: each stands by itself.

// CHECK-LABEL: func.func @separate_sums
// CHECK: ferrule.dispatch
// CHECK-NEXT: ferrule.reduce_sum
// CHECK-NEXT: ferrule.yield
// CHECK: ferrule.dispatch
// CHECK-NEXT: ferrule.reduce_sum
// CHECK-NEXT: ferrule.yield
func.func @separate_sums(%a: tensor<8x20xf32>, %b: tensor<8x20xf32>) -> (tensor<20xf32>, tensor<20xf32>) {
  %x = ferrule.reduce_sum %a {axes = array<i64: 0>} : (tensor<8x20xf32>) -> tensor<20xf32>
  %y = ferrule.reduce_sum %b {axes = array<i64: 0>} : (tensor<8x20xf32>) -> tensor<20xf32>
  return %x, %y : tensor<20xf32>, tensor<20xf32>
}

// One column uses 1 of 16 lanes: a costly op on many rows is a pass of its own, a cheap one stays.

// CHECK-LABEL: func.func @narrow
// CHECK: ferrule.matmul
// CHECK-NEXT: ferrule.yield
// CHECK: ferrule.dispatch
// CHECK-NEXT: ferrule.sigmoid
// CHECK: ferrule.matmul
// CHECK-NEXT: ferrule.relu
func.func @narrow(%a: tensor<8192x8xf32>, %w: tensor<8x1xf32>) -> (tensor<8192x1xf32>, tensor<8192x1xf32>) {
  %x = ferrule.matmul %a, %w : (tensor<8192x8xf32>, tensor<8x1xf32>) -> tensor<8192x1xf32>
  %s = ferrule.sigmoid %x : (tensor<8192x1xf32>) -> tensor<8192x1xf32>
  %y = ferrule.matmul %a, %w : (tensor<8192x8xf32>, tensor<8x1xf32>) -> tensor<8192x1xf32>
  %r = ferrule.relu %y : (tensor<8192x1xf32>) -> tensor<8192x1xf32>
  return %s, %r : tensor<8192x1xf32>, tensor<8192x1xf32>
}

// The gradient of a function of %x: what it needs of %x alone is computed where %x is read again, with the product of the
// cotangent, not stored by the product that makes %x.

// CHECK-LABEL: func.func @read_again
// CHECK: %[[X:.*]]:2 = ferrule.dispatch
// CHECK-NEXT: ferrule.matmul
// CHECK-NEXT: ferrule.tanh
// CHECK-NEXT: ferrule.yield
// CHECK: ferrule.dispatch({{.*}} = %[[X]]
// CHECK: ferrule.exp
// CHECK: ferrule.yield
// CHECK-NOT: ferrule.dispatch
// CHECK: return
func.func @read_again(%a: tensor<8x8xf32>, %w: tensor<8x8xf32>, %v: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %x = ferrule.matmul %a, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %y = ferrule.tanh %x : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %g = ferrule.matmul %y, %v : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %p = ferrule.mul %g, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %n = ferrule.neg %x : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %e = ferrule.exp %n : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %r = ferrule.mul %p, %e : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y, %r : tensor<8x8xf32>, tensor<8x8xf32>
}

// A sum with what another group makes belongs to the product, though the other comes later: only the tanh is stored.

// CHECK-LABEL: func.func @product_first
// CHECK: %[[Z:.*]] = ferrule.dispatch
// CHECK-NEXT: ferrule.tanh
// CHECK-NEXT: ferrule.yield
// CHECK: %[[S:.*]] = ferrule.dispatch({{.*}} = %[[Z]]
// CHECK: ferrule.matmul
// CHECK: ferrule.relu
// CHECK: ferrule.add
// CHECK: ferrule.yield
// CHECK-NOT: ferrule.dispatch
// CHECK: return %[[S]], %[[Z]]
func.func @product_first(%a: tensor<8x8xf32>, %w: tensor<8x20xf32>, %x: tensor<8x20xf32>) -> (tensor<8x20xf32>, tensor<8x20xf32>) {
  %y = ferrule.matmul %a, %w : (tensor<8x8xf32>, tensor<8x20xf32>) -> tensor<8x20xf32>
  %z = ferrule.tanh %x : (tensor<8x20xf32>) -> tensor<8x20xf32>
  %r = ferrule.relu %z : (tensor<8x20xf32>) -> tensor<8x20xf32>
  %s = ferrule.add %y, %r : (tensor<8x20xf32>, tensor<8x20xf32>) -> tensor<8x20xf32>
  return %s, %z : tensor<8x20xf32>, tensor<8x20xf32>
}
