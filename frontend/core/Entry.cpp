//===- Entry.cpp - A finished trace ---------------------------------------===//

#include "frontend/core/Entry.h"

#include "frontend/core/CompiledProgram.h"

#include "llvm/Support/raw_ostream.h"

namespace ferrule::frontend {

Entry::Entry(std::string name, mlir::OwningOpRef<mlir::ModuleOp> module, std::vector<EntryVariable> variables,
             DimConstraints constraints)
    : name(std::move(name)), module(std::move(module)), variables(std::move(variables)),
      constraints(std::move(constraints)) {}

Entry::~Entry() = default;

mlir::func::FuncOp Entry::getFunction() const { return *getModule().getOps<mlir::func::FuncOp>().begin(); }

std::string Entry::getText() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  getModule().print(os);
  return text;
}

} // namespace ferrule::frontend
