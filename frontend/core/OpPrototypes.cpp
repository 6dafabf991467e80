//===- OpPrototypes.cpp - Ops that were made before -----------------------===//

#include "frontend/core/OpPrototypes.h"

#include "mlir/IR/IRMapping.h"

namespace ferrule::frontend {
namespace {

mlir::SmallVector<mlir::Value, 4> getPresent(llvm::ArrayRef<mlir::Value> operands) {
  mlir::SmallVector<mlir::Value, 4> present;
  for (mlir::Value operand : operands)
    if (operand)
      present.push_back(operand);
  return present;
}

} // namespace

mlir::Operation *copyOp(mlir::Operation *op, mlir::Location location, mlir::ValueRange operands) {
  mlir::Operation *copy = mlir::Operation::create(location, op->getName(), op->getResultTypes(), operands,
                                                  op->getDiscardableAttrDictionary(), op->getPropertiesStorage(),
                                                  /*successors=*/{}, op->getNumRegions());
  if (op->getNumRegions() == 0)
    return copy;
  mlir::IRMapping mapping;
  for (auto [from, to] : llvm::zip_equal(op->getRegions(), copy->getRegions()))
    from.cloneInto(&to, mapping);
  copy->walk([&](mlir::Operation *inner) { inner->setLoc(location); });
  return copy;
}

OpSignature::OpSignature(mlir::OperationName name, llvm::ArrayRef<mlir::Value> operands,
                         llvm::ArrayRef<mlir::NamedAttribute> attributes) {
  id.AddPointer(name.getAsOpaquePointer());
  id.AddInteger(unsigned(operands.size()));
  for (mlir::Value operand : operands)
    id.AddPointer(operand ? operand.getType().getAsOpaquePointer() : nullptr);
  for (mlir::NamedAttribute attribute : attributes) {
    id.AddPointer(attribute.getName().getAsOpaquePointer());
    id.AddPointer(attribute.getValue().getAsOpaquePointer());
  }
}

/// Its op has no operands: values of the record do not live as long.
struct OpPrototypes::Prototype : llvm::FastFoldingSetNode {
  Prototype(const llvm::FoldingSetNodeID &id, mlir::Operation *op) : FastFoldingSetNode(id), op(op) {}
  ~Prototype() { op->destroy(); }

  mlir::Operation *op;
};

OpPrototypes::OpPrototypes() : prototypes(std::make_unique<llvm::FoldingSet<Prototype>>()) {}

OpPrototypes::~OpPrototypes() { clear(); }

void OpPrototypes::clear() {
  for (auto it = prototypes->begin(); it != prototypes->end();)
    delete &*it++;
  prototypes->clear();
}

mlir::Operation *OpPrototypes::create(const OpSignature &signature, mlir::Location location,
                                      llvm::ArrayRef<mlir::Value> operands) {
  void *place;
  Prototype *found = prototypes->FindNodeOrInsertPos(signature.getId(), place);
  return found ? copyOp(found->op, location, getPresent(operands)) : nullptr;
}

void OpPrototypes::add(const OpSignature &signature, mlir::Operation *op) {
  if (prototypes->size() == maximumCount)
    clear();
  prototypes->GetOrInsertNode(new Prototype(signature.getId(), copyOp(op, mlir::UnknownLoc::get(op->getContext()), {})));
}

} // namespace ferrule::frontend
