//===- MergeEntries.cpp - One module out of several traces ----------------===//

#include "frontend/core/MergeEntries.h"

#include "frontend/core/Error.h"
#include "frontend/core/GraphTypes.h"
#include "ir/graph/State.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

namespace ferrule::frontend {
namespace {

struct ProgramVariable {
  VariableRef variable;
  std::string name;
  std::vector<std::string> aliases;
};

/// The variables of a program, by identity, in order.
using VariableTable = llvm::MapVector<Variable *, ProgramVariable>;

llvm::Expected<VariableTable> nameVariables(const NamedEntries &entries, const NamedVariables &names) {
  VariableTable used;
  llvm::MapVector<Variable *, std::string> users;
  for (const auto &[entryName, entry] : entries)
    for (const EntryVariable &use : entry->getVariables())
      users.insert({use.variable.get(), entryName});

  for (const auto &[name, variable] : names) {
    if (!users.count(variable.get()))
      continue;
    auto [place, isNew] = used.insert({variable.get(), {variable, name, variable->aliases}});
    std::vector<std::string> &aliases = place->second.aliases;
    if (!isNew && !llvm::is_contained(aliases, name))
      aliases.push_back(name);
  }
  for (const auto &[entryName, entry] : entries)
    for (const EntryVariable &use : entry->getVariables()) {
      if (used.count(use.variable.get()))
        continue;
      const Variable &variable = *use.variable;
      if (variable.getName().empty())
        return makeError(ErrorKind::Value, "entry `" + entryName + "` uses " + variable.describe() + " (dtype " +
                                               getName(variable.getType()) + ", role " + variable.getRole() +
                                               "), which no module in `modules=` holds and no closure names; "
                                               "give it a name or pass the module that owns it");
      used.insert({use.variable.get(), {use.variable, variable.getName(), variable.aliases}});
    }
  return used;
}

llvm::Error checkNames(const VariableTable &variables, const NamedEntries &entries) {
  llvm::StringMap<llvm::StringRef> taken;
  for (const auto &entry : entries)
    taken[entry.first] = "an entry";
  auto take = [&](llvm::StringRef name) -> llvm::Error {
    auto [place, isNew] = taken.try_emplace(name, "a variable");
    if (isNew)
      return llvm::Error::success();
    return makeError(ErrorKind::Value, "the name `" + name + "` of a variable is taken by " + place->second);
  };
  for (const auto &entry : variables) {
    if (llvm::Error error = take(entry.second.name))
      return error;
    for (const std::string &alias : entry.second.aliases)
      if (llvm::Error error = take(alias))
        return error;
  }
  return llvm::Error::success();
}

void createVariable(const ProgramVariable &entry, const VariableTable &variables, mlir::OpBuilder &builder) {
  const Variable &variable = *entry.variable;
  mlir::MLIRContext *context = builder.getContext();
  mlir::OperationState state(builder.getUnknownLoc(), "ferrule.variable");
  state.addAttribute("sym_name", builder.getStringAttr(entry.name));
  state.addAttribute("type", mlir::TypeAttr::get(toTensorType(variable.getType(), variable.getShape(), context)));
  state.addAttribute("role", builder.getStringAttr(variable.getRole()));
  state.addAttribute("trainable", builder.getBoolAttr(variable.isTrainable()));
  if (!entry.aliases.empty())
    state.addAttribute("aliases", builder.getStrArrayAttr(llvm::to_vector(
                                      llvm::map_range(entry.aliases, [](auto &s) { return llvm::StringRef(s); }))));
  auto owner = variables.find(variable.getOwner().get());
  if (owner != variables.end())
    state.addAttribute("of", mlir::FlatSymbolRefAttr::get(context, owner->second.name));
  builder.create(state);
}

/// Copies the function of `entry` and gives its variables their names.
void copyFunction(llvm::StringRef name, const Entry &entry, const VariableTable &variables, mlir::OpBuilder &builder) {
  auto function = llvm::cast<mlir::func::FuncOp>(builder.clone(*entry.getFunction()));
  function.setName(name);
  llvm::StringMap<mlir::FlatSymbolRefAttr> renamed;
  for (const EntryVariable &use : entry.getVariables()) {
    const ProgramVariable &variable = variables.find(use.variable.get())->second;
    renamed[use.symbol] = mlir::FlatSymbolRefAttr::get(builder.getContext(), variable.name);
  }
  for (mlir::Operation &op : function.getBody().front()) {
    if (auto read = llvm::dyn_cast<mlir::ferrule::ReadOp>(op))
      read.setVariableAttr(renamed.lookup(read.getVariable()));
    else if (auto assign = llvm::dyn_cast<mlir::ferrule::AssignOp>(op))
      assign.setVariableAttr(renamed.lookup(assign.getVariable()));
  }
}

std::set<std::string> getUsedDims(const Entry &entry) {
  std::set<std::string> dims;
  for (mlir::BlockArgument argument : entry.getFunction().getArguments())
    for (const DimExpr &size : frontend::getShape(argument))
      size.collectDims(dims);
  return dims;
}

llvm::Error mergeConstraints(const NamedEntries &entries, DimConstraints &merged, std::set<std::string> &usedDims) {
  llvm::StringMap<std::string> declaredBy;
  for (const auto &[name, entry] : entries) {
    for (const std::string &dim : getUsedDims(*entry)) {
      DimRange range = entry->getConstraints().getRange(dim);
      DimRange known = merged.getRange(dim);
      bool isSame = known.min == range.min && known.max == range.max && known.multipleOf == range.multipleOf;
      auto [owner, isNew] = declaredBy.try_emplace(dim, name);
      if (!isNew && !isSame)
        return makeError(ErrorKind::Value, "the dim `" + dim +
                                               "` has different ranges in the "
                                               "entries `" +
                                               owner->second + "` and `" + name +
                                               "`; declare it once, or under two names");
      merged.declare(dim, range);
      usedDims.insert(dim);
    }
    for (const auto &[left, right] : entry->getConstraints().getEqualities())
      merged.addEquality(left, right);
  }
  return llvm::Error::success();
}

} // namespace

llvm::Expected<MergedProgram> mergeEntries(const NamedEntries &entries, const NamedVariables &names,
                                           mlir::MLIRContext *context) {
  llvm::Expected<VariableTable> variables = nameVariables(entries, names);
  if (!variables)
    return variables.takeError();
  if (llvm::Error error = checkNames(*variables, entries))
    return error;
  DimConstraints constraints;
  std::set<std::string> usedDims;
  if (llvm::Error error = mergeConstraints(entries, constraints, usedDims))
    return error;

  mlir::OpBuilder builder(context);
  MergedProgram program;
  program.module = mlir::ModuleOp::create(builder.getUnknownLoc());
  builder.setInsertionPointToEnd(program.module->getBody());
  for (const auto &entry : *variables) {
    createVariable(entry.second, *variables, builder);
    program.initialValues.emplace_back(entry.second.name, entry.second.variable->getValue());
  }
  for (const auto &[name, entry] : entries)
    copyFunction(name, *entry, *variables, builder);
  setDimAttributes(*program.module, constraints, usedDims);
  return program;
}

} // namespace ferrule::frontend
