//===- LibraryKernels.cpp - Ops that one kernel function computes -------===//

#include "codegen/common/KernelEmission.h"

#include "ir/graph/Attention.h"
#include "kernels/attention/shape.h"

using namespace mlir;
using namespace mlir::ferrule;

static_assert(attentionStripRows == ::ferrule::kernels::kAttentionStripRows &&
              attentionTableSize == ::ferrule::kernels::kAttentionTableSize);

/// "_f32" or "_b4"; nothing if no kernel has this dtype, or if the call has no suffix.
static std::optional<std::string> getSuffix(const LibraryCall &call) {
  if (!call.element)
    return "";
  if (call.byWidth)
    return widthSuffixOf(call.element);
  std::string suffix = suffixOf(call.element, /*integers=*/true);
  return suffix.empty() ? std::nullopt : std::optional<std::string>(suffix);
}

LogicalResult KernelEmission::emitLibrary(LibraryOpInterface root) {
  LibraryCall call = root.getLibraryCall();
  std::optional<std::string> suffix = getSuffix(call);
  if (!suffix)
    return unsupported(root, describe(call.element));
  assert(context.getOutputCount() == root->getNumResults() && "the kernel writes every result");
  spec.tiles = call.tiles;
  spec.scratchBytes = call.scratchBytes;
  emitFunction([&](FunctionEmitter &e, Value ctx) {
    SmallVector<Value> arguments;
    for (unsigned slot = 0; slot < context.getOutputCount(); ++slot)
      arguments.push_back(context.getBuffer(e, ctx, slot));
    for (Value operand : root->getOperands())
      arguments.push_back(getInput(e, ctx, operand));
    for (const DimExpr &size : call.sizes)
      arguments.push_back(context.getSize(e, ctx, size));
    if (!call.table.empty()) {
      Value table = e.stackSlots(call.table.size());
      for (auto [number, size] : llvm::enumerate(call.table))
        e.store(context.getSize(e, ctx, size), e.elementPointer(table, e.indexType(), e.index(number)), 8);
      arguments.push_back(table);
    }
    for (double number : call.numbers)
      arguments.push_back(e.f64(number));
    arguments.push_back(tileBegin(e));
    arguments.push_back(tileEnd(e));
    if (call.scratchBytes != DimExpr(0))
      arguments.push_back(scratch(e));
    if (call.canFail)
      arguments.push_back(getArgsField(e, offsetof(FerruleKernelArgs, error), e.pointerType()));
    return e.call("ferrule_" + call.stem + *suffix, arguments,
                  call.canFail ? e.builder().getI32Type() : Type());
  });
  return success();
}
