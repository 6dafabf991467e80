#include <string.h>

#include "runtime/base/arithmetic.h"
#include "runtime/program/layout.h"
#include "runtime/program/verify.h"

namespace ferrule::runtime {
namespace {

using ull = unsigned long long;

// One entry under verification, with what its errors need.
class EntryVerifier {
 public:
  EntryVerifier(const schema::Program& program, const schema::Entry& entry, const VerifyContext& context)
      : program_(program), entry_(entry), context_(context) {}

  Status verify() {
    FERRULE_RETURN_IF_ERROR(verify_text(*entry_.signature(), context_.name, "the signature of an entry"));
    FERRULE_RETURN_IF_ERROR(verify_dims());
    FERRULE_RETURN_IF_ERROR(verify_expressions());
    FERRULE_RETURN_IF_ERROR(verify_specs(*entry_.inputs(), "input"));
    FERRULE_RETURN_IF_ERROR(verify_specs(*entry_.outputs(), "output"));
    FERRULE_RETURN_IF_ERROR(verify_dims_bound());
    FERRULE_RETURN_IF_ERROR(verify_equalities());
    FERRULE_RETURN_IF_ERROR(verify_assigned_variables());
    if (entry_.blocks()->size() != 1)
      return index_error("number of blocks (allowed: 1)", entry_.blocks()->size(), 0, 2);
    for (uint32_t i = 0; i < entry_.buffers()->size(); ++i) FERRULE_RETURN_IF_ERROR(verify_buffer(i));
    FERRULE_RETURN_IF_ERROR(verify_instructions());
    return verify_live_intervals(entry_, context_);
  }

 private:
  Status index_error(const char* what, uint64_t value, uint64_t position, uint64_t limit) {
    return Status::error(StatusCode::kInvalidArtifact,
                         "%s: entry '%s': %s at position %llu is %llu; it must be below %llu", context_.name,
                         entry_.name()->c_str(), what, static_cast<ull>(position), static_cast<ull>(value),
                         static_cast<ull>(limit));
  }
  Status check_index(const char* what, uint64_t value, uint64_t position, uint64_t limit) {
    return value < limit ? Status() : index_error(what, value, position, limit);
  }
  Status check_expression(const char* what, uint64_t value, uint64_t position) {
    return check_index(what, value, position, entry_.expressions()->size());
  }
  Status check_location(uint32_t location, uint64_t position) {
    if (location == 0 || location <= context_.location_limit) return Status();
    return index_error("the location", location - 1, position, context_.location_limit);
  }

  Status verify_dims() {
    Array<const char*> names;
    FERRULE_RETURN_IF_ERROR(names.allocate(*context_.allocator, entry_.dims()->size(), "the list of dims"));
    for (uint32_t i = 0; i < entry_.dims()->size(); ++i) {
      const schema::Dim& dim = *entry_.dims()->Get(i);
      FERRULE_RETURN_IF_ERROR(verify_name(*dim.name(), context_.name, "a dim"));
      FERRULE_RETURN_IF_ERROR(
          check_index("the source of a dim", dim.source(), i, static_cast<uint32_t>(schema::DimSource_MAX) + 1));
      names[i] = dim.name()->c_str();
      if (dim.min() < 0 || dim.max() < dim.min() || dim.multiple_of() < 1) {
        return Status::error(StatusCode::kInvalidArtifact,
                             "%s: entry '%s': dim '%s' has the range %lld to %lld and multiple_of %lld", context_.name,
                             entry_.name()->c_str(), names[i], static_cast<long long>(dim.min()),
                             static_cast<long long>(dim.max()), static_cast<long long>(dim.multiple_of()));
      }
    }
    return verify_unique_names(names.data(), names.size(), context_.name, "dim");
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
      if (!bound[i]) {
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
    FERRULE_RETURN_IF_ERROR(check_index("the block of a buffer", buffer.block(), position, entry_.blocks()->size()));
    FERRULE_RETURN_IF_ERROR(verify_text(*buffer.debug_name(), context_.name, "the name of a buffer"));
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
    return check_index("the end of a buffer", buffer.end(), position, entry_.blocks()->Get(0)->instructions()->size());
  }

  Status verify_operand(const schema::Operand& operand, uint32_t instruction, bool is_written) {
    FERRULE_RETURN_IF_ERROR(
        check_index("the buffer of an operand", operand.buffer(), instruction, entry_.buffers()->size()));
    FERRULE_RETURN_IF_ERROR(check_expression("the offset of an operand", operand.offset(), instruction));
    const schema::Buffer& buffer = *entry_.buffers()->Get(operand.buffer());
    if (buffer.storage() == schema::Storage_arena) return verify_arena_use(operand.buffer(), instruction, is_written);
    if (!is_written || buffer.storage() == schema::Storage_output) return Status();
    if (buffer.storage() == schema::Storage_variable && is_assigned(buffer.index())) return Status();
    return Status::error(StatusCode::kInvalidArtifact, "%s: entry '%s': instruction %u writes buffer %u, which is %s",
                         context_.name, entry_.name()->c_str(), instruction, operand.buffer(),
                         buffer.storage() == schema::Storage_variable ? "a variable that the entry does not assign"
                         : buffer.storage() == schema::Storage_input  ? "an input"
                                                                      : "a constant");
  }

  bool is_assigned(uint32_t variable) {
    const auto& assigned = *entry_.assigned_variables();
    uint32_t low = 0, high = assigned.size();
    while (low < high) {
      const uint32_t middle = low + (high - low) / 2;
      if (assigned.Get(middle) < variable) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low < assigned.size() && assigned.Get(low) == variable;
  }

  Status verify_arena_use(uint32_t position, uint32_t instruction, bool is_written) {
    const schema::Buffer& buffer = *entry_.buffers()->Get(position);
    const char* wrong = nullptr;
    if (instruction < buffer.begin() || instruction > buffer.end()) wrong = "outside its live interval";
    // A buffer of an alias group may read what another of the group wrote.
    if (!is_written && !written_[position] && buffer.alias_group() == 0) wrong = "before anything was written to it";
    if (is_written) written_[position] = true;
    if (wrong == nullptr) return Status();
    return Status::error(StatusCode::kInvalidArtifact,
                         "%s: entry '%s': instruction %u uses buffer %u (live from %u to %u) %s", context_.name,
                         entry_.name()->c_str(), instruction, position, buffer.begin(), buffer.end(), wrong);
  }

  Status verify_call(const schema::KernelCall& call, uint32_t instruction) {
    FERRULE_RETURN_IF_ERROR(
        check_index("the kernel of a call", call.kernel(), instruction, program_.kernels()->size()));
    const schema::Kernel& kernel = *program_.kernels()->Get(call.kernel());
    if (call.operands()->size() != kernel.operand_count() || call.output_count() != kernel.output_count() ||
        call.dims()->size() != kernel.dim_count()) {
      return Status::error(StatusCode::kInvalidArtifact,
                           "%s: entry '%s': instruction %u gives kernel '%s' %u operands, %u outputs and %u dims; it "
                           "takes %u, %u and %u",
                           context_.name, entry_.name()->c_str(), instruction, kernel.name()->c_str(),
                           call.operands()->size(), call.output_count(), call.dims()->size(), kernel.operand_count(),
                           kernel.output_count(), kernel.dim_count());
    }
    // Reads first: what an instruction writes is not there before it.
    for (uint32_t i = call.operands()->size(); i-- > 0;) {
      FERRULE_RETURN_IF_ERROR(verify_operand(*call.operands()->Get(i), instruction, i < call.output_count()));
    }
    for (uint32_t expression : *call.dims()) {
      FERRULE_RETURN_IF_ERROR(check_expression("a dim of a call", expression, instruction));
    }
    FERRULE_RETURN_IF_ERROR(check_expression("the tile count of a call", call.tiles(), instruction));
    FERRULE_RETURN_IF_ERROR(
        check_index("the device of a call", call.device(), instruction, program_.devices()->size()));
    return check_location(call.location(), instruction);
  }

  Status verify_copy(const schema::Copy& copy, uint32_t instruction) {
    FERRULE_RETURN_IF_ERROR(verify_operand(*copy.source(), instruction, false));
    FERRULE_RETURN_IF_ERROR(verify_operand(*copy.target(), instruction, true));
    FERRULE_RETURN_IF_ERROR(check_expression("the size of a copy", copy.byte_size(), instruction));
    FERRULE_RETURN_IF_ERROR(
        check_index("the device of a copy", copy.device(), instruction, program_.devices()->size()));
    return check_location(copy.location(), instruction);
  }

  Status verify_instructions() {
    FERRULE_RETURN_IF_ERROR(
        written_.allocate_zeroed(*context_.allocator, entry_.buffers()->size(), "the list of buffers"));
    const auto& instructions = *entry_.blocks()->Get(0)->instructions();
    for (uint32_t i = 0; i < instructions.size(); ++i) {
      const schema::InstructionNode& node = *instructions.Get(i);
      switch (node.instruction_type()) {
        case schema::Instruction_KernelCall:
          FERRULE_RETURN_IF_ERROR(verify_call(*node.instruction_as_KernelCall(), i));
          break;
        case schema::Instruction_Copy:
          FERRULE_RETURN_IF_ERROR(verify_copy(*node.instruction_as_Copy(), i));
          break;
        default:
          return Status::error(StatusCode::kUnsupported,
                               "%s: entry '%s': instruction %u is of kind %u, which this runtime does not know",
                               context_.name, entry_.name()->c_str(), i, node.instruction_type());
      }
    }
    return Status();
  }

  const schema::Program& program_;
  const schema::Entry& entry_;
  const VerifyContext& context_;
  Array<bool> written_;  // arena buffers that an instruction so far wrote
};

}  // namespace

Status verify_entry(const schema::Program& program, const schema::Entry& entry, const VerifyContext& context) {
  return EntryVerifier(program, entry, context).verify();
}

}  // namespace ferrule::runtime
