//===- StructureKey.cpp - When two fragments are the same -----------------===//

#include "frontend/core/StructureKey.h"

#include "ir/graph/FerruleDialect.h"
#include "ir/graph/Shape.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ferrule::frontend {
namespace {

class KeyBuilder {
public:
  explicit KeyBuilder(bool keepsSizes) : keepsSizes(keepsSizes) {}

  void add(const void *pointer) { key.push_back(reinterpret_cast<uintptr_t>(pointer)); }
  void add(size_t number) { key.push_back(number); }

  void addBlock(mlir::Block &block) {
    add(block.getNumArguments());
    for (mlir::BlockArgument argument : block.getArguments())
      define(argument);
    for (mlir::Operation &op : block)
      addOp(op);
  }

  StructureKey key;

private:
  void define(mlir::Value value) {
    numbers.try_emplace(value, numbers.size());
    addType(value.getType());
  }

  void addType(mlir::Type type) {
    auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
    if (keepsSizes || !tensor)
      return add(type.getAsOpaquePointer());
    add(tensor.getElementType().getAsOpaquePointer());
    add(tensor.getRank());
  }

  void addAttributes(mlir::Operation &op) {
    if (keepsSizes)
      return add(op.getAttrDictionary().getAsOpaquePointer());
    // The function's type repeats the sizes; its other attributes are names.
    if (llvm::isa<mlir::func::FuncOp>(op))
      return;
    bool isScalar = llvm::isa<mlir::ferrule::ConstantOp>(op) &&
                    llvm::cast<mlir::RankedTensorType>(op.getResult(0).getType()).getRank() == 0;
    if (isScalar)
      return;
    for (mlir::NamedAttribute attribute : op.getAttrs()) {
      auto dims = llvm::dyn_cast<mlir::ferrule::DimsAttr>(attribute.getValue());
      if (dims)
        add(dims.getDims().size());
      else
        add(attribute.getValue().getAsOpaquePointer());
    }
  }

  void addOp(mlir::Operation &op) {
    add(op.getName().getAsOpaquePointer());
    addAttributes(op);
    add(op.getNumOperands());
    for (mlir::Value operand : op.getOperands())
      add(numbers.lookup(operand));
    add(op.getNumResults());
    for (mlir::Value result : op.getResults())
      define(result);
    add(op.getNumRegions());
    for (mlir::Region &region : op.getRegions())
      for (mlir::Block &block : region)
        addBlock(block);
  }

  bool keepsSizes;
  llvm::DenseMap<mlir::Value, size_t> numbers;
};

StructureKey buildKey(mlir::ModuleOp module, bool keepsSizes) {
  KeyBuilder builder(keepsSizes);
  builder.add(module->getAttrDictionary().getAsOpaquePointer());
  builder.addBlock(*module.getBody());
  return std::move(builder.key);
}

} // namespace

StructureKey getStructureKey(mlir::ModuleOp module) { return buildKey(module, /*keepsSizes=*/true); }

StructureKey getSkeletonKey(mlir::ModuleOp module) { return buildKey(module, /*keepsSizes=*/false); }

} // namespace ferrule::frontend
