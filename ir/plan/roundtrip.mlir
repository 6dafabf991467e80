// RUN: ferrule-opt %s | ferrule-opt | FileCheck %s
// RUN: ferrule-opt %s --mlir-print-op-generic | ferrule-opt --ferrule-verify-plan | FileCheck %s

// CHECK: ferrule.variable @w
ferrule.variable @w : tensor<4xf32>
// CHECK: ferrule_plan.arena @arena size 1024 align 64
ferrule_plan.arena @arena size 1024 align 64
// CHECK: ferrule_plan.arena @other size 64 align 32 device 1
ferrule_plan.arena @other size 64 align 32 device 1
// CHECK: ferrule_plan.constant @constant.0 dense<2.000000e+00> : tensor<4xf32>
ferrule_plan.constant @constant.0 dense<2.0> : tensor<4xf32>

// CHECK: ferrule_plan.kernel @add.0(%[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>) {
// CHECK-NEXT: ferrule.dispatch(%{{.*}} = %[[X]] : tensor<4xf32>, %{{.*}} = %[[Y]] : tensor<4xf32>) -> (tensor<4xf32>)
ferrule_plan.kernel @add.0(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  %0 = ferrule.dispatch(%p = %x : tensor<4xf32>, %q = %y : tensor<4xf32>) -> (tensor<4xf32>) {
    %1 = ferrule.add %p, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ferrule.yield %1 : tensor<4xf32>
  }
}

// CHECK: ferrule_plan.entry @empty() -> () peak 0 lower_bound 0 naive 0 {
// CHECK-NEXT: }
ferrule_plan.entry @empty() -> () peak 0 lower_bound 0 naive 0 {
}

// CHECK: ferrule_plan.entry @main("x" : tensor<4xf32>, "rows" : tensor<?x3xf32, #ferrule.dims<[batch, 3]>>) -> ("out.0" : tensor<4xf32>)
// CHECK-SAME: dims [#ferrule_plan.dim<"batch", min = 1, max = 64, multiple_of = 2>]
// CHECK-SAME: equalities [#ferrule.dims<[batch, 32]>] peak 1024 lower_bound 832 naive 2048 signature "{\22in\22: 1}" {
ferrule_plan.entry @main("x" : tensor<4xf32>, "rows" : tensor<?x3xf32, #ferrule.dims<[batch, 3]>>) -> ("out.0" : tensor<4xf32>)
    dims [#ferrule_plan.dim<"batch", min = 1, max = 64, multiple_of = 2>]
    equalities [#ferrule.dims<[batch, 32]>] peak 1024 lower_bound 832 naive 2048 signature "{\22in\22: 1}" {
  // CHECK: %[[IN:.*]] = ferrule_plan.buffer input 0 size <[16]> planned 16 live 0 to 0 "x"
  %in = ferrule_plan.buffer input 0 size <[16]> planned 16 live 0 to 0 "x"
  // CHECK: %[[ROWS:.*]] = ferrule_plan.buffer input 1 size <[batch * 12]> planned 768 live 2 to 2 "rows"
  %rows = ferrule_plan.buffer input 1 size <[batch * 12]> planned 768 live 2 to 2 "rows"
  // CHECK: %[[W:.*]] = ferrule_plan.buffer variable @w size <[16]> planned 16 live 0 to 1 "w"
  %w = ferrule_plan.buffer variable @w size <[16]> planned 16 live 0 to 1 "w"
  // CHECK: %[[C:.*]] = ferrule_plan.buffer constant @constant.0 size <[16]> planned 16 live 1 to 1 "constant"
  %c = ferrule_plan.buffer constant @constant.0 size <[16]> planned 16 live 1 to 1 "constant"
  // CHECK: %[[OUT:.*]] = ferrule_plan.buffer output 0 size <[16]> planned 16 live 3 to 3 "out.0"
  %out = ferrule_plan.buffer output 0 size <[16]> planned 16 live 3 to 3 "out.0"
  // CHECK: %[[A:.*]] = ferrule_plan.buffer arena @arena offset 64 size <[16]> planned 16 live 1 to 3 alias 1 "add" as residual of f32
  %a = ferrule_plan.buffer arena @arena offset 64 size <[16]> planned 16 live 1 to 3 alias 1 "add" as residual of f32
  // CHECK: %[[B:.*]] = ferrule_plan.buffer arena @arena offset 128 size <[batch * 12]> planned 768 live 2 to 2 "save"
  %b = ferrule_plan.buffer arena @arena offset 128 size <[batch * 12]> planned 768 live 2 to 2 "save"
  // CHECK: ferrule_plan.call @add.0 outs(%[[W]]) ins(%[[W]], %[[IN]]) dims <[]> tiles <[1]>
  ferrule_plan.call @add.0 outs(%w) ins(%w, %in) dims <[]> tiles <[1]>
  // CHECK: ferrule_plan.call @add.0 outs(%[[A]]) ins(%[[W]], %[[C]])
  ferrule_plan.call @add.0 outs(%a) ins(%w, %c)
  // CHECK: ferrule_plan.copy %[[B]] from %[[ROWS]] size <[batch * 12]>
  ferrule_plan.copy %b from %rows size <[batch * 12]>
  // CHECK: ferrule_plan.copy %[[OUT]] from %[[A]] size <[16]>
  ferrule_plan.copy %out from %a size <[16]>
}

// Branches and loops: buffers of deeper blocks, views that follow a loop's dim, a dim from a buffer.
// CHECK: ferrule_plan.entry @control
ferrule_plan.entry @control("x" : tensor<5x4xf32>, "p" : tensor<i1>, "n" : tensor<i64>) -> ("y" : tensor<5x4xf32>)
    peak 128 lower_bound 64 naive 64 {
  %x = ferrule_plan.buffer input 0 size <[80]> planned 80 live 0 to 0 "x"
  %p = ferrule_plan.buffer input 1 size <[1]> planned 1 live 1 to 3 "p"
  %n = ferrule_plan.buffer input 2 size <[8]> planned 8 live 2 to 2 "n"
  %y = ferrule_plan.buffer output 0 size <[80]> planned 80 live 0 to 4 "y"
  // CHECK: ferrule_plan.loop count <[5]> dim "loop0" {
  ferrule_plan.loop count <[5]> dim "loop0" {
    // CHECK-NEXT: %[[T:.*]] = ferrule_plan.buffer arena @arena offset 64 size <[16]> planned 16 live 0 to 1 "t"
    %t = ferrule_plan.buffer arena @arena offset 64 size <[16]> planned 16 live 0 to 1 "t"
    // CHECK-NEXT: %[[XT:.*]] = ferrule_plan.view %x offset <[loop0 * 16]> size <[16]>
    %xt = ferrule_plan.view %x offset <[loop0 * 16]> size <[16]>
    // CHECK-NEXT: %[[YT:.*]] = ferrule_plan.view %y offset <[64 - loop0 * 16]> size <[16]>
    %yt = ferrule_plan.view %y offset <[64 - loop0 * 16]> size <[16]>
    // CHECK-NEXT: ferrule_plan.call @add.0 outs(%[[T]]) ins(%[[XT]], %[[XT]])
    ferrule_plan.call @add.0 outs(%t) ins(%xt, %xt)
    // CHECK-NEXT: ferrule_plan.copy %[[YT]] from %[[T]] size <[16]>
    ferrule_plan.copy %yt from %t size <[16]>
  }
  // CHECK: ferrule_plan.if %p {
  // CHECK-NEXT: } else {
  // CHECK: ferrule_plan.copy
  // CHECK: }
  ferrule_plan.if %p {
  } else {
    %head = ferrule_plan.view %y offset <[0]> size <[16]>
    %tail = ferrule_plan.view %y offset <[64]> size <[16]>
    ferrule_plan.copy %head from %tail size <[16]>
  }
  // CHECK: ferrule_plan.bind_dim <"count0", min = 0, max = 5, multiple_of = 1> at_most <[5]> from %n
  ferrule_plan.bind_dim <"count0", min = 0, max = 5, multiple_of = 1> at_most <[5]> from %n
  %q = ferrule_plan.buffer arena @arena offset 0 size <[1]> planned 1 live 3 to 3 "q"
  // CHECK: ferrule_plan.while %{{.*}} condition {
  // CHECK: } body {
  ferrule_plan.while %q condition {
    ferrule_plan.copy %q from %p size <[1]>
  } body {
    ferrule_plan.loop count <[count0]> dim "loop1" {
    }
  }
  %z = ferrule_plan.view %y offset <[0]> size <[16]>
  %v = ferrule_plan.buffer variable @w size <[16]> planned 16 live 4 to 4 "w"
  ferrule_plan.copy %v from %z size <[16]>
}
