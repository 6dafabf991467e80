//===- Variable.cpp - A tensor that outlives calls ------------------------===//

#include "frontend/core/Variable.h"

#include <atomic>

namespace ferrule::frontend {
namespace {

std::atomic<uint64_t> nextVariableId{1};

} // namespace

Variable::Variable(TensorRef initial, std::string name, std::string role, bool isTrainable, VariableRef owner)
    : id(nextVariableId++), name(std::move(name)), role(std::move(role)), trainable(isTrainable),
      owner(std::move(owner)), value(std::move(initial)) {}

std::string Variable::describe() const {
  if (name.empty())
    return "an unnamed variable of shape " + toString(getShape());
  return "variable `" + name + "`";
}

} // namespace ferrule::frontend
