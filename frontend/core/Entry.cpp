//===- Entry.cpp - A finished trace ---------------------------------------===//

#include "frontend/core/Entry.h"

#include "frontend/core/CompiledProgram.h"
#include "passes/recompute/Marks.h"

#include "llvm/Support/raw_ostream.h"

namespace ferrule::frontend {

Entry::Entry(std::string name, mlir::OwningOpRef<mlir::ModuleOp> module, std::vector<EntryVariable> variables,
             DimConstraints constraints)
    : name(std::move(name)), module(std::move(module)), variables(std::move(variables)),
      constraints(std::move(constraints)) {}

Entry::~Entry() = default;

mlir::func::FuncOp Entry::getFunction() const { return *getModule().getOps<mlir::func::FuncOp>().begin(); }

void Entry::setMemoryBudget(int64_t bytes, double fraction) {
  mlir::Builder builder(getModule().getContext());
  mlir::Attribute budget = builder.getF64FloatAttr(fraction);
  if (bytes > 0)
    budget = builder.getI64IntegerAttr(bytes);
  getFunction()->setAttr(mlir::ferrule::memoryBudgetAttributeName, budget);
}

std::string Entry::getText() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  getModule().print(os);
  return text;
}

} // namespace ferrule::frontend
