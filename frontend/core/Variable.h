//===- Variable.h - A tensor that outlives calls --------------------------===//
#ifndef FERRULE_FRONTEND_CORE_VARIABLE_H
#define FERRULE_FRONTEND_CORE_VARIABLE_H

#include "frontend/core/Tensor.h"

#include <string>
#include <vector>

namespace ferrule::frontend {

class Variable;
using VariableRef = std::shared_ptr<Variable>;

/// A parameter, buffer, optimizer state or schedule. In dynamic mode it holds
/// its current tensor and an assignment rebinds it; in a trace the trace keeps
/// what it reads and assigns, and the tensor here stays as it was.
///
/// The shape is static and, like the dtype, never changes.
class Variable {
public:
  Variable(TensorRef initial, std::string name, std::string role, bool isTrainable, VariableRef owner);

  uint64_t getId() const { return id; }
  const std::string &getName() const { return name; }
  void setName(std::string newName) { name = std::move(newName); }

  /// An open word: parameter, buffer, gradient, optimizer_state, schedule,
  /// random_state.
  const std::string &getRole() const { return role; }
  bool isTrainable() const { return trainable; }
  void setTrainable(bool isTrainable) { trainable = isTrainable; }

  /// The parameter to which an optimizer state or a gradient belongs, or null.
  const VariableRef &getOwner() const { return owner; }

  /// Further names under which a session finds the variable.
  std::vector<std::string> aliases;

  DataType getType() const { return value->getType(); }
  const Shape &getShape() const { return value->getShape(); }

  /// The value in dynamic mode: concrete or pending, never traced.
  const TensorRef &getValue() const { return value; }
  void setValue(TensorRef newValue) { value = std::move(newValue); }

  /// "variable `net.conv1.weight`", for messages.
  std::string describe() const;

private:
  uint64_t id;
  std::string name;
  std::string role;
  bool trainable;
  VariableRef owner;
  TensorRef value;
};

} // namespace ferrule::frontend

#endif // FERRULE_FRONTEND_CORE_VARIABLE_H
