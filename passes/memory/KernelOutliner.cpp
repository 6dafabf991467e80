#include "passes/memory/KernelOutliner.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::ferrule;

/// Equal for dispatches of the same structure; who feeds whom is left to the comparison.
static unsigned hashStructure(DispatchOp dispatch) {
  llvm::hash_code code = llvm::hash_value(dispatch.getInputs().size());
  for (Type type : dispatch.getInputs().getTypes())
    code = llvm::hash_combine(code, type);
  for (Operation &op : dispatch.getBodyBlock()) {
    code = llvm::hash_combine(code, op.getName(), op.getAttrDictionary());
    for (Type type : op.getResultTypes())
      code = llvm::hash_combine(code, type);
  }
  return unsigned(size_t(code));
}

static bool isSameStructure(DispatchOp a, DispatchOp b) {
  return OperationEquivalence::isRegionEquivalentTo(&a.getBody(), &b.getBody(), OperationEquivalence::IgnoreLocations);
}

/// What a kernel is called in profiles: the first op that stands for it.
static StringRef getTitle(DispatchOp dispatch) {
  StringRef title = "copy";
  for (Operation &op : dispatch.getBodyBlock()) {
    auto interface = dyn_cast<FerruleOpInterface>(&op);
    if (!interface || isa<YieldOp>(op))
      continue;
    LoweringKind kind = interface.getLoweringKind();
    if (kind == LoweringKind::Elementwise)
      title = op.getName().stripDialect();
    else if (kind != LoweringKind::Shape && kind != LoweringKind::Constant)
      return op.getName().stripDialect();
  }
  return title;
}

plan::KernelOp KernelOutliner::getKernel(DispatchOp dispatch, Operation *insertion) {
  SmallVector<plan::KernelOp, 1> &sameHash = kernels[hashStructure(dispatch)];
  for (plan::KernelOp kernel : sameHash)
    if (isSameStructure(kernel.getDispatch(), dispatch))
      return kernel;

  OpBuilder builder(insertion);
  std::string name = (getTitle(dispatch) + "." + Twine(kernelCount++)).str();
  auto kernel = plan::KernelOp::create(builder, dispatch.getLoc(), name);
  Block &block = kernel.getBody().emplaceBlock();
  IRMapping mapping;
  for (Value input : dispatch.getInputs())
    if (Value argument = block.addArgument(input.getType(), dispatch.getLoc()); !mapping.contains(input))
      mapping.map(input, argument);
  builder.setInsertionPointToStart(&block);
  auto body = cast<DispatchOp>(builder.clone(*dispatch, mapping));
  // An operand that is passed twice is two arguments.
  body.getInputsMutable().assign(ValueRange(block.getArguments()));
  // Variables and entries have the user's names, which may look like a kernel's.
  symbols.insert(kernel, Block::iterator(insertion));
  sameHash.push_back(kernel);
  return kernel;
}
