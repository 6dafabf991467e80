#include <stdlib.h>

#include <new>

#include "runtime/api/handles.h"
#include "runtime/api/shape_text.h"
#include "runtime/program/layout.h"

using namespace ferrule::runtime;
namespace schema = ferrule::schema;

namespace {

void describe_tensor(ProgramDescriptions& tables, const schema::Entry& entry, const schema::TensorSpec& spec,
                     uint32_t tensor) {
  int64_t* shape = tables.tensor_shapes.data() + size_t{tensor} * kMaximumRank;
  for (uint32_t axis = 0; axis < spec.shape()->size(); ++axis) {
    const schema::Expression& size = *entry.expressions()->Get(spec.shape()->Get(axis));
    shape[axis] = size.kind() == schema::ExpressionKind_constant ? size.value() : -1;
  }
  write_shape_text(entry, spec, tables.tensor_texts.data() + size_t{tensor} * kShapeTextBytes, kShapeTextBytes);
}

Status describe_tensors(const schema::Program& program, ProgramDescriptions& tables) {
  const Allocator& allocator = system_allocator();
  FERRULE_RETURN_IF_ERROR(tables.first_tensor.allocate(allocator, program.entries()->size(), "the table of entries"));
  uint32_t count = 0;
  for (uint32_t e = 0; e < program.entries()->size(); ++e) {
    const schema::Entry& entry = *program.entries()->Get(e);
    tables.first_tensor[e] = count;
    count += entry.inputs()->size() + entry.outputs()->size();
  }
  FERRULE_RETURN_IF_ERROR(
      tables.tensor_shapes.allocate(allocator, size_t{count} * kMaximumRank, "the table of shapes"));
  FERRULE_RETURN_IF_ERROR(
      tables.tensor_texts.allocate(allocator, size_t{count} * kShapeTextBytes, "the table of shapes"));
  uint32_t tensor = 0;
  for (const schema::Entry* entry : *program.entries()) {
    for (const schema::TensorSpec* spec : *entry->inputs()) describe_tensor(tables, *entry, *spec, tensor++);
    for (const schema::TensorSpec* spec : *entry->outputs()) describe_tensor(tables, *entry, *spec, tensor++);
  }
  return Status();
}

Status describe_variables(const schema::Program& program, ProgramDescriptions& tables) {
  const auto& variables = *program.variables();
  const Allocator& allocator = system_allocator();
  FERRULE_RETURN_IF_ERROR(tables.first_alias.allocate(allocator, variables.size(), "the table of variables"));
  FERRULE_RETURN_IF_ERROR(
      tables.variable_shapes.allocate(allocator, size_t{variables.size()} * kMaximumRank, "the table of variables"));
  uint32_t aliases = 0;
  for (uint32_t v = 0; v < variables.size(); ++v) {
    const schema::Variable& variable = *variables.Get(v);
    tables.first_alias[v] = aliases;
    aliases += variable.aliases()->size();
    for (uint32_t axis = 0; axis < variable.shape()->size(); ++axis)
      tables.variable_shapes[size_t{v} * kMaximumRank + axis] = variable.shape()->Get(axis);
  }
  FERRULE_RETURN_IF_ERROR(tables.aliases.allocate(allocator, aliases, "the table of variables"));
  uint32_t next = 0;
  for (const schema::Variable* variable : variables)
    for (const flatbuffers::String* alias : *variable->aliases()) tables.aliases[next++] = alias->c_str();
  return Status();
}

void destroy(ProgramDescriptions* descriptions) {
  descriptions->~ProgramDescriptions();
  free(descriptions);
}

Status make(const FerruleProgram& program, ProgramDescriptions** out) {
  void* memory = malloc(sizeof(ProgramDescriptions));
  if (memory == nullptr) return Status::error(StatusCode::kOutOfMemory, "out of memory: the program's descriptions");
  auto* made = new (memory) ProgramDescriptions();
  const schema::Program& metadata = *program.program->metadata();
  Status status = describe_tensors(metadata, *made);
  if (status.ok()) status = describe_variables(metadata, *made);
  if (status.ok())
    *out = made;
  else
    destroy(made);
  return status;
}

}  // namespace

namespace ferrule::runtime {

Status describe(const FerruleProgram& program, const ProgramDescriptions** out) {
  ProgramDescriptions* known = __atomic_load_n(&program.descriptions, __ATOMIC_ACQUIRE);
  if (known == nullptr) {
    ProgramDescriptions* made;
    FERRULE_RETURN_IF_ERROR(make(program, &made));
    // Of several threads that made them at once one is first.
    if (__atomic_compare_exchange_n(&program.descriptions, &known, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
      known = made;
    else
      destroy(made);
  }
  *out = known;
  return Status();
}

}  // namespace ferrule::runtime
