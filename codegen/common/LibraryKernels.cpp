//===- LibraryKernels.cpp - Ops that one kernel function computes -------===//

#include "codegen/common/KernelEmission.h"

#include "ir/graph/Attention.h"
#include "kernels/attention/shape.h"

using namespace mlir;
using namespace mlir::ferrule;

static_assert(attentionStripRows == ::ferrule::kernels::kAttentionStripRows &&
              attentionTableSize == ::ferrule::kernels::kAttentionTableSize &&
              attentionGradientTableSize == ::ferrule::kernels::kAttentionGradientTableSize);

/// "_f32" or "_b4"; nothing if no kernel has this dtype, or if the call has no suffix.
static std::optional<std::string> getSuffix(const LibraryCall &call) {
  if (!call.element)
    return "";
  if (call.byWidth)
    return widthSuffixOf(call.element);
  std::string suffix = suffixOf(call.element, /*integers=*/true);
  return suffix.empty() ? std::nullopt : std::optional<std::string>(suffix);
}

/// Where the kernel reads the table. As a constant, where it is one: a kernel that keeps the pointer in memory chooses its
/// instances by what stands there while it is inlined.
static Value getTable(FunctionEmitter &e, KernelContext &context, Value ctx, ArrayRef<DimExpr> table) {
  SmallVector<int64_t> constants;
  for (const DimExpr &size : table)
    if (std::optional<int64_t> constant = size.getConstant())
      constants.push_back(*constant);
  if (constants.size() == table.size())
    return e.constantSlots(constants);
  Value slots = e.stackSlots(table.size());
  for (auto [number, size] : llvm::enumerate(table))
    e.store(context.getSize(e, ctx, size), e.elementPointer(slots, e.indexType(), e.index(number)), 8);
  return slots;
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
    if (!call.table.empty())
      arguments.push_back(getTable(e, context, ctx, call.table));
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
