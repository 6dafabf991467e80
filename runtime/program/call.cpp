#include "runtime/program/call.h"

#include "runtime/base/arithmetic.h"
#include "runtime/program/layout.h"

namespace ferrule::runtime {
namespace {

using ll = long long;

// The dim that `node` stands for, or null when it is anything else.
const schema::Dim* plain_dim(const schema::Entry& entry, uint32_t expression) {
  const schema::Expression& node = *entry.expressions()->Get(expression);
  if (node.kind() != schema::ExpressionKind_dim) return nullptr;
  return entry.dims()->Get(static_cast<uint32_t>(node.value()));
}

Status check_range(const schema::Entry& entry, const schema::TensorSpec& spec, uint32_t axis, const schema::Dim& dim,
                   int64_t value) {
  if (value >= dim.min() && value <= dim.max() && value % dim.multiple_of() == 0) return Status();
  Status status =
      Status::error(StatusCode::kInvalidArgument, "entry '%s', input '%s', axis %u: dim '%s' is %lld; allowed is %lld",
                    entry.name()->c_str(), spec.name()->c_str(), axis, dim.name()->c_str(), static_cast<ll>(value),
                    static_cast<ll>(dim.min()));
  if (dim.max() == INT64_MAX) {
    status.append(" or more");
  } else {
    status.append(" to %lld", static_cast<ll>(dim.max()));
  }
  if (dim.multiple_of() != 1) status.append(" in multiples of %lld", static_cast<ll>(dim.multiple_of()));
  return status;
}

// Binds the dims that stand alone as an axis of input `index`. -1: not bound yet.
Status bind_input(const schema::Entry& entry, uint32_t index, const Shape& shape, int64_t* dims) {
  const schema::TensorSpec& spec = *entry.inputs()->Get(index);
  if (shape.rank != spec.shape()->size()) {
    return Status::error(StatusCode::kInvalidArgument, "entry '%s', input '%s': the array has rank %u; expected is %u",
                         entry.name()->c_str(), spec.name()->c_str(), shape.rank, spec.shape()->size());
  }
  for (uint32_t axis = 0; axis < shape.rank; ++axis) {
    const schema::Dim* dim = plain_dim(entry, spec.shape()->Get(axis));
    if (dim == nullptr) continue;
    const int64_t value = shape.sizes[axis];
    int64_t& bound = dims[entry.expressions()->Get(spec.shape()->Get(axis))->value()];
    if (bound >= 0 && bound != value) {
      return Status::error(StatusCode::kInvalidArgument,
                           "entry '%s', input '%s', axis %u: dim '%s' is %lld here and %lld in an axis before",
                           entry.name()->c_str(), spec.name()->c_str(), axis, dim->name()->c_str(),
                           static_cast<ll>(value), static_cast<ll>(bound));
    }
    FERRULE_RETURN_IF_ERROR(check_range(entry, spec, axis, *dim, value));
    bound = value;
  }
  return Status();
}

Status check_input_shape(const schema::Entry& entry, uint32_t index, const Shape& shape, const int64_t* values) {
  const schema::TensorSpec& spec = *entry.inputs()->Get(index);
  for (uint32_t axis = 0; axis < shape.rank; ++axis) {
    const int64_t expected = values[spec.shape()->Get(axis)];
    if (shape.sizes[axis] == expected) continue;
    return Status::error(StatusCode::kInvalidArgument,
                         "entry '%s', input '%s', axis %u: the size is %lld; expected is %lld", entry.name()->c_str(),
                         spec.name()->c_str(), axis, static_cast<ll>(shape.sizes[axis]), static_cast<ll>(expected));
  }
  return Status();
}

Status plan_error(const schema::Entry& entry, const char* what, uint32_t position, int64_t value, int64_t limit) {
  return Status::error(StatusCode::kInvalidArtifact, "entry '%s': for these dims %s %u is %lld; allowed is 0 to %lld",
                       entry.name()->c_str(), what, position, static_cast<ll>(value), static_cast<ll>(limit));
}

// Every buffer's size against the plan, and against the tensor behind it.
Status check_buffers(const schema::Entry& entry, const int64_t* values) {
  for (uint32_t i = 0; i < entry.buffers()->size(); ++i) {
    const schema::Buffer& buffer = *entry.buffers()->Get(i);
    const int64_t size = values[buffer.size()];
    uint64_t limit = buffer.planned_size();
    if (buffer.storage() == schema::Storage_input || buffer.storage() == schema::Storage_output) {
      const bool is_input = buffer.storage() == schema::Storage_input;
      const schema::TensorSpec& spec = *(is_input ? entry.inputs() : entry.outputs())->Get(buffer.index());
      FERRULE_RETURN_IF_ERROR(tensor_byte_size(entry, spec, values, &limit));
    }
    if (size < 0 || static_cast<uint64_t>(size) > limit) {
      return plan_error(entry, "the size of buffer", i, size, static_cast<int64_t>(limit));
    }
  }
  return Status();
}

Status check_operand(const schema::Entry& entry, const schema::Operand& operand, const int64_t* values,
                     uint32_t instruction, int64_t byte_size) {
  const int64_t room = values[entry.buffers()->Get(operand.buffer())->size()];
  const int64_t offset = values[operand.offset()];
  if (offset >= 0 && byte_size >= 0 &&
      range_fits(static_cast<uint64_t>(offset), static_cast<uint64_t>(byte_size), static_cast<uint64_t>(room))) {
    return Status();
  }
  return plan_error(entry, "the offset of an operand of instruction", instruction, offset, room);
}

}  // namespace

Status bind_dims(const schema::Entry& entry, const Shape* inputs, int64_t* out_dims) {
  for (uint32_t i = 0; i < entry.dims()->size(); ++i) out_dims[i] = -1;
  for (uint32_t i = 0; i < entry.inputs()->size(); ++i) {
    FERRULE_RETURN_IF_ERROR(bind_input(entry, i, inputs[i], out_dims));
  }
  return Status();
}

Status check_call(const schema::Entry& entry, const Shape* inputs, const int64_t* values) {
  for (uint32_t i = 0; i < entry.inputs()->size(); ++i) {
    FERRULE_RETURN_IF_ERROR(check_input_shape(entry, i, inputs[i], values));
  }
  for (const schema::Equality* equality : *entry.equalities()) {
    const int64_t left = values[equality->left()], right = values[equality->right()];
    if (left == right) continue;
    const schema::Dim* left_dim = plain_dim(entry, equality->left());
    const schema::Dim* right_dim = plain_dim(entry, equality->right());
    return Status::error(StatusCode::kInvalidArgument,
                         "entry '%s': the model needs %s (%lld) and %s (%lld) to be equal", entry.name()->c_str(),
                         left_dim != nullptr ? left_dim->name()->c_str() : "a size", static_cast<ll>(left),
                         right_dim != nullptr ? right_dim->name()->c_str() : "another", static_cast<ll>(right));
  }
  FERRULE_RETURN_IF_ERROR(check_buffers(entry, values));
  const auto& instructions = *entry.blocks()->Get(0)->instructions();
  for (uint32_t i = 0; i < instructions.size(); ++i) {
    const schema::InstructionNode& node = *instructions.Get(i);
    if (node.instruction_type() == schema::Instruction_Copy) {
      const schema::Copy& copy = *node.instruction_as_Copy();
      const int64_t byte_size = values[copy.byte_size()];
      FERRULE_RETURN_IF_ERROR(check_operand(entry, *copy.target(), values, i, byte_size));
      FERRULE_RETURN_IF_ERROR(check_operand(entry, *copy.source(), values, i, byte_size));
      continue;
    }
    const schema::KernelCall& call = *node.instruction_as_KernelCall();
    for (const schema::Operand* operand : *call.operands()) {
      FERRULE_RETURN_IF_ERROR(check_operand(entry, *operand, values, i, 0));
    }
    if (values[call.tiles()] < 0)
      return plan_error(entry, "the tile count of instruction", i, values[call.tiles()], INT64_MAX);
  }
  return Status();
}

Status tensor_byte_size(const schema::Entry& entry, const schema::TensorSpec& spec, const int64_t* values,
                        uint64_t* out_byte_size) {
  int64_t shape[kMaximumRank];
  const uint32_t rank = spec.shape()->size();
  for (uint32_t axis = 0; axis < rank; ++axis) shape[axis] = values[spec.shape()->Get(axis)];
  if (logical_byte_size(*spec.dtype(), shape, rank, out_byte_size)) return Status();
  return Status::error(StatusCode::kInvalidArgument,
                       "entry '%s': the size of '%s' is negative or overflows for these dims", entry.name()->c_str(),
                       spec.name()->c_str());
}

}  // namespace ferrule::runtime
