// The passes over the graph. This file is their manual: each entry says why the pass exists, what holds before and
// after, and shows it. `passes/Pipelines.cpp` orders them.
#ifndef FERRULE_PASSES_PASSES_TD
#define FERRULE_PASSES_PASSES_TD

include "mlir/Pass/PassBase.td"

def VerifyInputPass : Pass<"ferrule-verify-input", "::mlir::ModuleOp"> {
  let summary = "Checks what the frontend hands over";
  let description = [{
    **Why.** Later passes rely on rules that no single op can check.

    **After.** Every function is an entry: one block, arguments and results named by `ferrule.name`, names unique among
    arguments and among results. `read` and `assign` stand at an entry's top level, and a variable is assigned at most
    once an entry. Every dim used is declared in the module's `ferrule.dims` with 0 <= min <= max. Where a reshape or
    broadcast takes two symbolic sizes as equal, the module's `ferrule.equalities` (or the ranges) say so.

    ```mlir
    module attributes {ferrule.dims = {batch = {min = 1, max = 64, multiple_of = 1}}} {
      func.func @predict(%0: tensor<?x4xf32, #ferrule.dims<[batch, 4]>> {ferrule.name = "image"})
          -> (tensor<?x4xf32, #ferrule.dims<[batch, 4]>> {ferrule.name = "out.0"}) { ... }
    }
    ```
  }];
  let dependentDialects = ["::mlir::ferrule::FerruleDialect"];
}

def ExpandGradientsPass : Pass<"ferrule-expand-gradients", "::mlir::ModuleOp"> {
  let summary = "Replaces ferrule.gradient by the ops that compute it (reverse mode)";
  let description = [{
    **Why.** The frontend records that a gradient is wanted, not how it is computed, so that gradients of gradients and
    of any value need no second tape.

    **Before.** `ferrule.gradient(cost, cotangent?, wrt...)` anywhere in an entry. **After.** None is left. Ops stand in
    the order of recording, forward before backward; each new op carries the location of the op that it differentiates.

    Gradients expand innermost first, that is in program order. A value that is used several times adds its cotangents
    in reverse order of recorded use, left to right; this order is part of the result's bits, hence no pass may merge
    ops before this one. An independent wrt gets zeros. An op without a gradient on the way is an error at its location.

    A branch becomes a branch over the gradients of its regions, which compute the forward values again. A scan stacks
    the carries of its steps and the results of their contractions; its gradient is a scan in the other direction, each
    step of which computes the rest of the forward step again. The cotangents of what a scan captures add up over the steps, last step first, as if the loop was unrolled. A
    while loop with `max_steps` becomes a scan of that many steps first, with a branch on "the condition still holds".

    ```mlir
    %y = ferrule.mul %x, %x : ...
    %g = ferrule.gradient %cost, %w, %x {...}      =>      %1 = ferrule.mul %w, %x : ...   // of operand 1
                                                           %0 = ferrule.mul %w, %x : ...   // of operand 0
                                                           %g = ferrule.add %1, %0 : ...
    ```
  }];
  let dependentDialects = ["::mlir::ferrule::FerruleDialect"];
}

def WidenElementsPass : Pass<"ferrule-widen-elements", "::mlir::ModuleOp"> {
  let summary = "Gives every op a dtype that has a kernel";
  let description = [{
    **Why.** float16 and bfloat16 are computed in float32 and rounded once an op; few kernels know narrow integers. Casts
    around the op say that in the graph, fusion takes them into its kernel, and kernels stay few.

    **Before.** Gradients are expanded: a gradient has the dtype of what it belongs to. **After.** Ops that compute have
    operands of float32, float64, int32 or int64; elementwise integer arithmetic also of the other widths. uint64 is
    ordered as int64 with its top bit flipped. Ops that only move elements (shape ops, casts, `where`) keep any dtype.

    ```mlir
    %z = ferrule.add %x, %y : f16      =>      %0 = ferrule.cast %x : f16 -> f32,  %1 = ferrule.cast %y : f16 -> f32
                                               %2 = ferrule.add %0, %1 : f32
                                               %z = ferrule.cast %2 : f32 -> f16
    ```
  }];
  let dependentDialects = ["::mlir::ferrule::FerruleDialect"];
}

def DecomposeNormalizePass : Pass<"ferrule-decompose-normalize", "::mlir::ModuleOp"> {
  let summary = "Replaces ferrule.normalize by moments and elementwise ops";
  let description = [{
    **Why.** The decomposition defines the bits of a norm, and the fuser then joins its parts with their neighbours.

    **Before.** Gradients are expanded (the gradient of normalize is better than that of its parts). **After.** No
    normalize is left.

    ```mlir
    %y, %m, %v, %r = ferrule.normalize %x, %w, %b {axes = [0, 2], param_axes = [1], eps = 1e-5}
    =>
    %m, %v, %r = ferrule.moments %x {axes = [0, 2], eps = 1e-5}
    %y = fma((x - m) * r, w, b)                   // m, r, w and b broadcast; without bias a product instead
    ```
  }];
  let dependentDialects = ["::mlir::ferrule::FerruleDialect"];
}

def BoundLoopsPass : Pass<"ferrule-bound-loops", "::mlir::ModuleOp"> {
  let summary = "Makes the most steps of a while loop a part of its condition";
  let description = [{
    **Why.** The gradient of a loop needs to know its most steps; later passes know loops by their condition alone.

    **Before.** Gradients are expanded. **After.** No `ferrule.while` has `max_steps`.

    ```mlir
    while (condition(c)) c = body(c), max_steps = n
    =>
    while (n0 < n && condition(c)) n0 = n0 + 1, c = body(c)
    ```
  }];
  let dependentDialects = ["::mlir::ferrule::FerruleDialect"];
}

def SimplifyPass : Pass<"ferrule-simplify", "::mlir::ModuleOp"> {
  let summary = "Merges equal ops and removes ops that change no bit";
  let description = [{
    **Why.** Gradient rules and the frontend emit the general form.

    **Before.** Gradients are expanded: merging ops earlier would change the order in which cotangents add up.
    **After.** Canonical forms: no reshape of a reshape, transpose of a transpose or broadcast of a broadcast; no op that
    is the identity for every bit pattern, zero's sign included: x * 1, x / 1, x - 0, x + -0 (but not x + 0), neg(neg x),
    a cast to the same dtype, where(m, x, x), stop_gradient. The sum of parts that are padded with zeros, which the gradients
    of slices are, is the concatenation of the parts (each + 0). Equal ops are one.

    ```mlir
    %0 = ferrule.reshape %x {shape = [6]}
    %1 = ferrule.reshape %0 {shape = [3, 2]}      =>      %1 = ferrule.reshape %x {shape = [3, 2]}
    ```
  }];
  let dependentDialects = ["::mlir::ferrule::FerruleDialect"];
}

def FoldConstantsPass : Pass<"ferrule-fold-constants", "::mlir::ModuleOp"> {
  let summary = "Evaluates elementwise and shape ops of constants";
  let description = [{
    **Why.** What does not depend on inputs or variables need not be computed in every run.

    **After.** An elementwise or shape op whose operands are constants is a constant, computed by the scalar references
    that define each op's bits; an elementwise op of broadcast scalars is a scalar op before the broadcast. A result
    above `max-bytes` is left to the run time, and a broadcast is never made larger than its operand.

    ```mlir
    %2 = ferrule.broadcast_to %two : [8]
    %3 = ferrule.broadcast_to %three : [8]
    %5 = ferrule.add %2, %3                       =>      %5 = ferrule.broadcast_to %five : [8]
    ```
  }];
  let options = [Option<"maxBytes", "max-bytes", "int64_t", "64 << 20", "Largest constant made, in bytes">];
  let dependentDialects = ["::mlir::ferrule::FerruleDialect"];
}

def FuseAttentionPass : Pass<"ferrule-fuse-attention", "::mlir::ModuleOp"> {
  let summary = "Makes one op of the parts of an attention";
  let description = [{
    **Why.** The scores of all queries with all keys are the largest tensor of a transformer, and are read and written
    several times on the way through scaling, mask and softmax. One kernel keeps a strip of them in the cache.

    **Before.** Gradients are expanded.
    **After.** `ferrule.attention_gradient` stands for the gradients for q, k and v of an attention, from the product of g and v
    to those that give them. It computes the weights again, so that the attention itself has no other reader of them. If
    somebody reads what was in between (the gradient of a bias, a second gradient), or if one of the three is not wanted,
    the ops stay.
    `ferrule.attention` stands for softmax(q k^T * scale + bias) v, with `where(mask, scores, fill)` before or
    after the bias, and for the composition by which `scaled_dot_product_attention` leaves masked keys out. Nobody else
    reads what was in between. The op reads its operands through transposes, slices, broadcasts and reshapes, and writes
    its result in the order in which a transpose behind it had it; so heads are neither split nor joined in memory.

    ```mlir
    %q = ferrule.transpose %x {pattern = [0, 2, 1, 3]}     // k and v alike
    %s = ferrule.matmul %q, %k {transpose_b = true}
    %w = ferrule.softmax %s {axis = 3}                =>   %y = ferrule.attention %x, %..., %... {sizes = ..., ...}
    %o = ferrule.matmul %w, %v
    %y = ferrule.transpose %o {pattern = [0, 2, 1, 3]}
    ```
  }];
  let dependentDialects = ["::mlir::ferrule::FerruleDialect"];
}

def PrunePass : Pass<"ferrule-prune", "::mlir::ModuleOp"> {
  let summary = "Removes what no result and no assigned variable depends on";
  let description = [{
    **Why.** Gradient rules build the gradient of every operand, and a traced function may compute what nobody asked
    for.

    **After.** Every op's result reaches a return or an assign. Branches and loops have lost the results that nobody
    reads, carries that only carry themselves, and captures without a use. An assign of a variable's own value is gone too, so that
    the variable can stay shared and read-only.

    ```mlir
    %0 = ferrule.exp %x
    %1 = ferrule.read @v
    ferrule.assign @v, %1
    return %x                                     =>      return %x
    ```
  }];
}

def VerifyPrimitivesPass : Pass<"ferrule-verify-primitives", "::mlir::ModuleOp"> {
  let summary = "Checks that only ops with a kernel are left";
  let description = [{
    **Why.** The border between the passes that give the program its meaning and those that make it fast.

    **After.** No op of kind Expand (gradient, normalize) is left.
  }];
}

def SubstituteMaterializedPass : Pass<"ferrule-substitute-materialized", "::mlir::ModuleOp"> {
  let summary = "Lets the backward pass read forward values that are known already";
  let description = [{
    **Why.** In dynamic mode a value may have been looked at before its gradient is asked for. The frontend then records
    the forward ops again, and says with `ferrule.materialized` (per result: the number of the function argument that
    holds it, or -1) which values it kept.

    **Before.** Gradients are expanded. **After.** No op carries the attribute; every use of such a result reads the
    argument, so that the forward ops have no use left and are pruned.
  }];
}

def DropCustomGradientsPass : Pass<"ferrule-drop-custom-gradients", "::mlir::ModuleOp"> {
  let summary = "Replaces ferrule.custom_gradient by its values";
  let description = [{
    **Why.** The op only tells the gradients where to go.

    **Before.** Gradients are expanded, and results that are known already are substituted. **After.** No
    ferrule.custom_gradient is left; its values stand for its results.
  }];
}

def LayoutPass : Pass<"ferrule-layout", "::mlir::ModuleOp"> {
  let summary = "Channels-last images and weights in panels";
  let description = [{
    **Why.** The micro-kernels read channels-last rows and panels of 16 output columns; a weight, its gradient and its
    optimizer state stay in panels for the whole program, so that no run packs them.

    **After.** Convolutions and pooling are channels-last ops; products with a weight matrix are panel products; a
    variable that is a weight has a `layout`, and its reads and assigns have the physical type. The conversions between
    the two worlds (`transpose`, `pack`, `unpack`) are explicit, and moved until they meet and vanish: through elementwise
    ops, reductions, concatenations, slices, and through the reshapes and broadcasts that repeat or flatten an image.
    What every step of a loop would compute alike is computed before the loop: above all the packing of weights.

    ```mlir
    %w = ferrule.read @w : tensor<32x16x3x3xf32>                %w = ferrule.read @w : tensor<2x144x16xf32>
    %y = ferrule.convolution %x, %w                   =>        %t = ferrule.transpose %x {pattern = [0, 2, 3, 1]}
    %z = ferrule.relu %y                                        %y = ferrule.image_convolution %t, %w
                                                                %z = ferrule.relu %y
                                                                %u = ferrule.transpose %z {pattern = [0, 3, 1, 2]}
    ```
  }];
  let dependentDialects = ["::mlir::ferrule::FerruleDialect"];
}

def FusePass : Pass<"ferrule-fuse", "::mlir::ModuleOp"> {
  let summary = "Groups ops into dispatches, one kernel each";
  let description = [{
    **Why.** A value that is consumed while it is in a register costs no memory traffic.

    **Before.** Layouts are chosen. **After.** Entries hold only read, assign, constant, reshape, `ferrule.dispatch`, and
    branches and loops, whose regions hold the same.
    A contraction has its epilogue in its dispatch, a reduction its producers, an optimizer update all its results. A layer
    over [batch, steps, width] is computed over its rows, [batch * steps, width], up to where the two sizes are told apart:
    a reshape moves behind elementwise ops and reductions, since a dispatch holds none. Costly
    elementwise ops and sums that read the same value share a pass over it, as the gates of a recurrent cell do.
    Cheap values are computed where they are read, unless they lie in memory anyway, and costly ones where everything that
    they are made of is read again with their reader; an activation that the backward pass needs long after its first reader
    is stored again by a dispatch that computes it there on the way.
    Convolutions, and the gradients of their weights, read the parts of a concatenation of channels where they lie, up to
    eight, unless another op needs the whole: neither the copy nor its bytes exist then. The gradients for the parts are
    made one by one, where they share the channels by whole panels.
    Every op still rounds by itself, so results are the same with `fuse=false`, where each op is its own dispatch.
  }];
  let options = [Option<"fuse", "fuse", "bool", "true", "Off: one op a dispatch">];
  let dependentDialects = ["::mlir::ferrule::FerruleDialect"];
}

def SchedulePass : Pass<"ferrule-schedule", "::mlir::ModuleOp"> {
  let summary = "Orders dispatches so that less memory is live at once";
  let description = [{
    **Why.** The most that is live at one time bounds the arena from below, and depends on the order of independent
    branches.

    **After.** Dispatches stand in the order in which they run. The order of the program stays unless another one is
    strictly better.
  }];
}

def RecomputePass : Pass<"ferrule-recompute", "::mlir::ModuleOp"> {
  let summary = "Computes values again so that the arena stays within a budget";
  let description = [{
    **Why.** What the backward pass reads of the forward pass is most of what training needs. A value that is computed
    again just before it is read takes no memory in between.

    **Before.** Dispatches stand in the order in which they run. **After.** If there is less than the entry takes, what
    frees memory runs as soon as it can (the program has the updates of weights behind the backward pass). Some stand
    twice (the second with the attribute `ferrule.recomputed`), and later readers read the second results; the bits are
    the same, since they are the same ops of the same operands. The arena of each entry takes at most `budget-bytes`,
    or `budget-fraction` of what the largest entry takes otherwise; if that cannot be reached there is an error that
    names the smallest arena found. Without a budget, what takes a few thousandths of the entry's time in all runs
    again, if the arena is large. What the user marked is computed again in any case. Ops that count a dim and while
    loops never run twice. A scan whose slices the scan of its gradient reads may become a scan over segments of its
    steps, which that one runs again (`ferrule.segment`). The steps behind whole segments read slices along the first
    axis that stand outside of dispatches, as reshapes do.

    docs/memory.md says how the choice is made.

    ```mlir
    %b = ferrule.dispatch(%p = %a) { exp }              %b = ferrule.dispatch(%p = %a) { exp }
    %c = ferrule.dispatch(%p = %b) { ... }              %c = ferrule.dispatch(%p = %b) { ... }
    ...                                           =>    ...
                                                        %b1 = ferrule.dispatch(%p = %a) {ferrule.recomputed} { exp }
    %z = ferrule.dispatch(%p = %y, %q = %b) { ... }     %z = ferrule.dispatch(%p = %y, %q = %b1) { ... }
    ```
  }];
  let options = [
    Option<"budgetBytes", "budget-bytes", "uint64_t", "0", "The most bytes for the arena; 0: no limit">,
    Option<"budgetFraction", "budget-fraction", "double", "0", "The same as a part of the arena without a budget">,
    Option<"inPlace", "in-place", "bool", "true", "As the memory pass will be told">,
    Option<"searchSteps", "search-steps", "uint64_t", "20000000", "As the memory pass will be told">
  ];
  let dependentDialects = ["::mlir::ferrule::FerruleDialect"];
}

def PlanMemoryPass : Pass<"ferrule-plan-memory", "::mlir::ModuleOp"> {
  let summary = "Gives every value a place and makes plans of the entries";
  let description = [{
    **Why.** A run allocates nothing: where each value lies, what is written over what, and in which order kernels run,
    is decided here once, and can be read and checked before anything is compiled.

    **Before.** Entries hold only read, assign, constant, reshape, slices along the first axis, dispatch, branches and
    loops, in the order in which they run.
    **After.** No function is left. Each is a `ferrule_plan.entry`; the module holds the arena, the constants and the
    kernels that they use, one kernel for equal dispatches.

    A dispatch writes straight into an output or an assigned variable where that is allowed. It is for a variable if no
    later dispatch reads the old value, and this one reads it only element for element. What cannot be written in place
    is copied at the end; an old value that is returned, or assigned to another variable, is copied at the start. In the
    arena a result takes the bytes of an operand of its size that dies there and is read element for element (an alias
    group). The rest is placed by runtime/memory/planner; sizes are the upper bounds of their expressions.

    A carry of a loop is treated as a variable is: it has one place, that of the loop's result, which the body updates,
    in place where it may. Slices, also those that a scan reads and stacks, are views of whole buffers, captures are the
    buffers that they capture. Inner blocks are planned first; what they need is one more buffer of the block around,
    live at the branch or loop, and what the two regions of one op need is the same bytes.

    The pass
    then runs each plan symbolically against the graph: every buffer that is read holds the value that is meant.

    ```mlir
    func.func @step(%x {ferrule.name = "x"})              ferrule_plan.entry @step("x" : ...) -> () ... {
      %w = ferrule.read @w                                  %x = ferrule_plan.buffer input 0 ...
      %n = ferrule.dispatch(%a = %w, %b = %x) { sub }  =>   %w = ferrule_plan.buffer variable @w ...
      ferrule.assign @w, %n                                 ferrule_plan.call @sub.0 outs(%w) ins(%w, %x)
    }                                                     }
    ```
  }];
  let options = [
    Option<"inPlace", "in-place", "bool", "true", "Off: no result takes an operand's bytes; results stay the same">,
    Option<"searchSteps", "search-steps", "uint64_t", "20000000", "Work allowed to the search for a smaller arena">
  ];
  let dependentDialects = ["::mlir::ferrule::FerruleDialect", "::mlir::ferrule::plan::FerrulePlanDialect"];
}

def VerifyPlanPass : Pass<"ferrule-verify-plan", "::mlir::ModuleOp"> {
  let summary = "Checks plans without knowing how they were made";
  let description = [{
    **Why.** A wrong plan is a wrong result at some sizes only. This is the border between the passes and code
    generation.

    **After.** Of each entry: arena buffers that are live together share no bytes outside an alias group, and all end
    before the peak (runtime/memory/planner/validator.h, which shares no code with the planner). The buffers of a deeper
    block share none with what is live around it. Loops are run twice. Every buffer that an
    instruction reads was written before it, and none of its bytes since by another buffer. A call that writes over
    bytes that it reads does so element for element. Every output is written.

    ```mlir
    ferrule_plan.call @exp.0 outs(%a) ins(%x)     // a lies at 0
    ferrule_plan.call @exp.0 outs(%b) ins(%x)     // b too: "a" was overwritten, says the next line's error
    ferrule_plan.call @add.1 outs(%y) ins(%a, %b)
    ```
  }];
}

#endif // FERRULE_PASSES_PASSES_TD
