#include <string.h>

#include "runtime/base/arithmetic.h"
#include "runtime/program/entry_checks.h"
#include "runtime/program/layout.h"

namespace ferrule::runtime {
namespace {

using ull = unsigned long long;

// One entry under verification, and its map, which grows on the way.
class EntryVerifier : public EntryChecks {
 public:
  EntryVerifier(const schema::Program& program, const schema::Entry& entry, const VerifyContext& context, EntryMap* map)
      : EntryChecks(program, entry, *map, context), new_map_(*map) {}

  Status verify() {
    FERRULE_RETURN_IF_ERROR(verify_text(*entry_.signature(), context_.name, "the signature of an entry"));
    FERRULE_RETURN_IF_ERROR(verify_dims());
    FERRULE_RETURN_IF_ERROR(verify_expressions());
    FERRULE_RETURN_IF_ERROR(new_map_.build(entry_, context_.name, *context_.allocator));
    FERRULE_RETURN_IF_ERROR(verify_specs(*entry_.inputs(), "input"));
    FERRULE_RETURN_IF_ERROR(verify_specs(*entry_.outputs(), "output"));
    FERRULE_RETURN_IF_ERROR(verify_spec_values());
    FERRULE_RETURN_IF_ERROR(verify_dims_bound());
    FERRULE_RETURN_IF_ERROR(verify_equalities());
    FERRULE_RETURN_IF_ERROR(verify_assigned_variables());
    for (uint32_t i = 0; i < entry_.buffers()->size(); ++i) FERRULE_RETURN_IF_ERROR(verify_buffer(i));
    FERRULE_RETURN_IF_ERROR(verify_instructions(program_, entry_, map_, context_));
    FERRULE_RETURN_IF_ERROR(verify_live_intervals(entry_, map_, context_));
    return new_map_.finish(entry_, *context_.allocator);
  }

 private:
  Status verify_dims() {
    Array<const char*> names;
    FERRULE_RETURN_IF_ERROR(names.allocate(*context_.allocator, entry_.dims()->size(), "the list of dims"));
    for (uint32_t i = 0; i < entry_.dims()->size(); ++i) {
      const schema::Dim& dim = *entry_.dims()->Get(i);
      FERRULE_RETURN_IF_ERROR(verify_name(*dim.name(), context_.name, "a dim"));
      names[i] = dim.name()->c_str();
      if (dim.min() < 0 || dim.max() < dim.min() || dim.multiple_of() < 1) {
        return Status::error(StatusCode::kInvalidArtifact,
                             "%s: entry '%s': dim '%s' has the range %lld to %lld and multiple_of %lld", context_.name,
                             entry_.name()->c_str(), names[i], static_cast<long long>(dim.min()),
                             static_cast<long long>(dim.max()), static_cast<long long>(dim.multiple_of()));
      }
      FERRULE_RETURN_IF_ERROR(verify_source(dim, i));
    }
    return verify_unique_names(names.data(), names.size(), context_.name, "dim");
  }

  Status verify_source(const schema::Dim& dim, uint32_t position) {
    FERRULE_RETURN_IF_ERROR(
        check_index("the source of a dim", dim.source(), position, static_cast<uint32_t>(schema::DimSource_MAX) + 1));
    if (dim.source() == schema::DimSource_instruction) {
      return check_expression("the limit of a dim", dim.limit(), position);
    }
    const char* wrong = nullptr;
    if (dim.limit() != 0) wrong = "has a limit, but no instruction reads it";
    if (dim.source() == schema::DimSource_iteration && (dim.min() != 0 || dim.multiple_of() != 1)) {
      wrong = "counts a loop, but not from 0 in steps of 1";
    }
    if (dim.source() == schema::DimSource_input && position != 0 &&
        entry_.dims()->Get(position - 1)->source() != schema::DimSource_input) {
      wrong = "is an input's, but stands behind one that is not";
    }
    if (wrong == nullptr) return Status();
    return Status::error(StatusCode::kInvalidArtifact, "%s: entry '%s': dim '%s' %s", context_.name,
                         entry_.name()->c_str(), dim.name()->c_str(), wrong);
  }

  Status verify_expressions() {
    const auto& nodes = *entry_.expressions();
    for (uint32_t i = 0; i < nodes.size(); ++i) {
      const schema::Expression& node = *nodes.Get(i);
      FERRULE_RETURN_IF_ERROR(check_index("the kind of an expression", static_cast<uint32_t>(node.kind()), i,
                                          static_cast<uint32_t>(schema::ExpressionKind_MAX) + 1));
      FERRULE_RETURN_IF_ERROR(check_index("the reserved field of an expression", node.reserved(), i, 1));
      if (node.kind() == schema::ExpressionKind_constant) continue;
      if (node.kind() == schema::ExpressionKind_dim) {
        // A negative value becomes a large one and is refused with the rest.
        FERRULE_RETURN_IF_ERROR(
            check_index("the dim of an expression", static_cast<uint64_t>(node.value()), i, entry_.dims()->size()));
        continue;
      }
      FERRULE_RETURN_IF_ERROR(check_index("the left operand of an expression", node.left(), i, i));
      FERRULE_RETURN_IF_ERROR(check_index("the right operand of an expression", node.right(), i, i));
    }
    return Status();
  }

  Status verify_specs(const flatbuffers::Vector<flatbuffers::Offset<schema::TensorSpec>>& specs, const char* what) {
    Array<const char*> names;
    FERRULE_RETURN_IF_ERROR(names.allocate(*context_.allocator, specs.size(), "the list of inputs and outputs"));
    for (uint32_t i = 0; i < specs.size(); ++i) {
      const schema::TensorSpec& spec = *specs.Get(i);
      FERRULE_RETURN_IF_ERROR(verify_name(*spec.name(), context_.name, what));
      names[i] = spec.name()->c_str();
      FERRULE_RETURN_IF_ERROR(verify_dtype(*spec.dtype(), context_.name, names[i]));
      FERRULE_RETURN_IF_ERROR(check_index("the rank of an input or output", spec.shape()->size(), i, kMaximumRank + 1));
      for (uint32_t expression : *spec.shape()) {
        FERRULE_RETURN_IF_ERROR(check_expression("a dim of an input or output", expression, i));
      }
    }
    return verify_unique_names(names.data(), names.size(), context_.name, what);
  }

  // Inputs' shapes are known before the run, outputs' when it ends.
  Status verify_spec_values() {
    for (uint32_t i = 0; i < entry_.inputs()->size(); ++i) {
      for (uint32_t expression : *entry_.inputs()->Get(i)->shape()) {
        if (!map_.is_static(expression)) return no_value("a dim of an input", expression, i);
      }
    }
    for (uint32_t i = 0; i < entry_.outputs()->size(); ++i) {
      for (uint32_t expression : *entry_.outputs()->Get(i)->shape()) {
        if (!map_.known_at_call(expression)) return no_value("a dim of an output", expression, i);
      }
    }
    return Status();
  }

  Status verify_dims_bound() {
    Array<bool> bound;
    FERRULE_RETURN_IF_ERROR(bound.allocate_zeroed(*context_.allocator, entry_.dims()->size(), "the list of dims"));
    for (const schema::TensorSpec* spec : *entry_.inputs()) {
      for (uint32_t expression : *spec->shape()) {
        const schema::Expression& node = *entry_.expressions()->Get(expression);
        if (node.kind() == schema::ExpressionKind_dim) bound[static_cast<size_t>(node.value())] = true;
      }
    }
    for (uint32_t i = 0; i < entry_.dims()->size(); ++i) {
      if (!bound[i] && entry_.dims()->Get(i)->source() == schema::DimSource_input) {
        return Status::error(StatusCode::kInvalidArtifact, "%s: entry '%s': no input has the dim '%s'", context_.name,
                             entry_.name()->c_str(), entry_.dims()->Get(i)->name()->c_str());
      }
    }
    return Status();
  }

  Status verify_equalities() {
    for (uint32_t i = 0; i < entry_.equalities()->size(); ++i) {
      const schema::Equality& equality = *entry_.equalities()->Get(i);
      FERRULE_RETURN_IF_ERROR(check_expression("the left side of an equality", equality.left(), i));
      FERRULE_RETURN_IF_ERROR(check_expression("the right side of an equality", equality.right(), i));
      FERRULE_RETURN_IF_ERROR(check_location(equality.location(), i));
      if (!map_.scope(equality.left()).meets(map_.scope(equality.right()))) {
        return no_value("the right side of an equality", equality.right(), i);
      }
    }
    return Status();
  }

  Status verify_assigned_variables() {
    const auto& assigned = *entry_.assigned_variables();
    for (uint32_t i = 0; i < assigned.size(); ++i) {
      FERRULE_RETURN_IF_ERROR(check_index("an assigned variable", assigned.Get(i), i, program_.variables()->size()));
      if (i > 0 && assigned.Get(i) <= assigned.Get(i - 1)) {
        return Status::error(StatusCode::kInvalidArtifact, "%s: entry '%s': its assigned variables are not in order",
                             context_.name, entry_.name()->c_str());
      }
    }
    return Status();
  }

  // How many things a buffer of that storage can name, and how many bytes number `index` has.
  Status find_storage(uint32_t position, uint64_t* out_byte_size) {
    const schema::Buffer& buffer = *entry_.buffers()->Get(position);
    const uint32_t index = buffer.index();
    *out_byte_size = UINT64_MAX;
    switch (buffer.storage()) {
      case schema::Storage_arena:
        FERRULE_RETURN_IF_ERROR(check_index("the arena of a buffer", index, position, program_.arenas()->size()));
        *out_byte_size = program_.arenas()->Get(index)->byte_size();
        return Status();
      case schema::Storage_variable:
        FERRULE_RETURN_IF_ERROR(check_index("the variable of a buffer", index, position, program_.variables()->size()));
        *out_byte_size = program_.variables()->Get(index)->byte_size();
        return Status();
      case schema::Storage_constant:
        FERRULE_RETURN_IF_ERROR(check_index("the constant of a buffer", index, position, program_.constants()->size()));
        *out_byte_size = program_.constants()->Get(index)->byte_size();
        return Status();
      case schema::Storage_input:
        return check_index("the input of a buffer", index, position, entry_.inputs()->size());
      case schema::Storage_output:
        return check_index("the output of a buffer", index, position, entry_.outputs()->size());
    }
    return index_error("the storage of a buffer", buffer.storage(), position, schema::Storage_MAX + 1);
  }

  Status verify_buffer(uint32_t position) {
    const schema::Buffer& buffer = *entry_.buffers()->Get(position);
    uint64_t byte_size;
    FERRULE_RETURN_IF_ERROR(find_storage(position, &byte_size));
    FERRULE_RETURN_IF_ERROR(check_expression("the size of a buffer", buffer.size(), position));
    if (map_.scope(buffer.size()).empty()) return no_value("the size of a buffer", buffer.size(), position);
    FERRULE_RETURN_IF_ERROR(check_index("the block of a buffer", buffer.block(), position, entry_.blocks()->size()));
    FERRULE_RETURN_IF_ERROR(verify_text(*buffer.debug_name(), context_.name, "the name of a buffer"));
    FERRULE_RETURN_IF_ERROR(verify_dtype(*buffer.dtype(), context_.name, buffer.debug_name()->c_str()));
    FERRULE_RETURN_IF_ERROR(
        check_index("the kind of a buffer", buffer.kind(), position, uint64_t{schema::BufferKind_MAX} + 1));
    const bool in_arena = buffer.storage() == schema::Storage_arena;
    const bool offset_allowed = in_arena ? buffer.offset() % 64 == 0 : buffer.offset() == 0;
    if (!offset_allowed || !range_fits(buffer.offset(), buffer.planned_size(), byte_size)) {
      return Status::error(StatusCode::kInvalidArtifact,
                           "%s: entry '%s': buffer %u takes %llu bytes at offset %llu; what holds it has %llu bytes%s",
                           context_.name, entry_.name()->c_str(), position, static_cast<ull>(buffer.planned_size()),
                           static_cast<ull>(buffer.offset()), static_cast<ull>(byte_size),
                           in_arena ? " and 64-byte alignment" : " and no offsets");
    }
    if (!in_arena) return Status();
    FERRULE_RETURN_IF_ERROR(check_index("the begin of a buffer", buffer.begin(), position, uint64_t{buffer.end()} + 1));
    return check_index("the end of a buffer", buffer.end(), position,
                       entry_.blocks()->Get(buffer.block())->instructions()->size());
  }

  EntryMap& new_map_;
};

}  // namespace

Status verify_entry(const schema::Program& program, const schema::Entry& entry, const VerifyContext& context,
                    EntryMap* out_map) {
  return EntryVerifier(program, entry, context, out_map).verify();
}

}  // namespace ferrule::runtime
