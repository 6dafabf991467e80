#include "runtime/program/call.h"

#include "runtime/base/arithmetic.h"
#include "runtime/program/expression.h"
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

// The bytes that a buffer has in this call, whatever the dims that are not known yet will be.
Status capacity_of(const schema::Entry& entry, uint32_t position, const CallValues& call, uint64_t* out_byte_size) {
  const schema::Buffer& buffer = *entry.buffers()->Get(position);
  *out_byte_size = call.capacities != nullptr ? call.capacities[position] : buffer.planned_size();
  if (buffer.storage() == schema::Storage_output) *out_byte_size = call.output_bytes[buffer.index()];
  if (buffer.storage() != schema::Storage_input) return Status();
  return tensor_byte_size(entry, *entry.inputs()->Get(buffer.index()), call.values, out_byte_size);
}

Status check_buffer(const schema::Entry& entry, uint32_t position, const CallValues& call) {
  const schema::Buffer& buffer = *entry.buffers()->Get(position);
  const int64_t size = call.values[buffer.size()];
  uint64_t capacity;
  FERRULE_RETURN_IF_ERROR(capacity_of(entry, position, call, &capacity));
  if (size >= 0 && static_cast<uint64_t>(size) <= capacity) return Status();
  if (size >= 0 && buffer.storage() == schema::Storage_arena) {
    // A dim without a max has made it larger than its plan: the caller's sizes, not a wrong plan.
    Status status =
        Status::error(StatusCode::kInvalidArgument, "entry '%s': no memory is planned for", entry.name()->c_str());
    if (append_open_dims(entry, call.dims, &status)) {
      status.append(", without a max: buffer %u needs %lld bytes and has %llu; let the session grow, or compile with a "
                    "larger plan_at", position, static_cast<ll>(size), static_cast<unsigned long long>(capacity));
      return status;
    }
  }
  return plan_error(entry, "the size of buffer", position, size, static_cast<int64_t>(capacity));
}

Status check_equality(const schema::Entry& entry, const schema::Equality& equality, const int64_t* values) {
  const int64_t left = values[equality.left()], right = values[equality.right()];
  if (left == right) return Status();
  const schema::Dim* left_dim = plain_dim(entry, equality.left());
  const schema::Dim* right_dim = plain_dim(entry, equality.right());
  return Status::error(StatusCode::kInvalidArgument, "entry '%s': the model needs %s (%lld) and %s (%lld) to be equal",
                       entry.name()->c_str(), left_dim != nullptr ? left_dim->name()->c_str() : "a size",
                       static_cast<ll>(left), right_dim != nullptr ? right_dim->name()->c_str() : "another",
                       static_cast<ll>(right));
}

// One instruction under check.
class InstructionCheck {
 public:
  InstructionCheck(const schema::Entry& entry, const EntryMap& map, uint32_t block, uint32_t position,
                   const CallValues& call)
      : entry_(entry), map_(map), block_(block), position_(position), call_(call) {}

  Status check() const {
    const schema::InstructionNode& node = *entry_.blocks()->Get(block_)->instructions()->Get(position_);
    if (const schema::KernelCall* kernel_call = node.instruction_as_KernelCall()) {
      for (const schema::Operand* operand : *kernel_call->operands()) {
        FERRULE_RETURN_IF_ERROR(check_operand(*operand, 0));
      }
      const int64_t tiles = value(kernel_call->tiles());
      return tiles >= 0 ? Status() : error("the tile count of", tiles, INT64_MAX);
    }
    if (const schema::Copy* copy = node.instruction_as_Copy()) {
      FERRULE_RETURN_IF_ERROR(check_operand(*copy->target(), value(copy->byte_size())));
      return check_operand(*copy->source(), value(copy->byte_size()));
    }
    if (const schema::If* branch = node.instruction_as_If()) return check_operand(*branch->condition(), 1);
    if (const schema::While* loop = node.instruction_as_While()) return check_operand(*loop->condition(), 1);
    if (const schema::BindDim* bind = node.instruction_as_BindDim()) {
      return check_operand(*bind->value(), sizeof(int64_t));
    }
    return check_loop(*node.instruction_as_Loop());
  }

 private:
  int64_t value(uint32_t expression) const { return call_.values[expression]; }

  Status error(const char* what, int64_t actual, int64_t limit) const {
    Status status = Status::error(StatusCode::kInvalidArtifact, "entry '%s': for these dims %s instruction %u",
                                  entry_.name()->c_str(), what, position_);
    if (block_ != 0) status.append(" of block %u", block_);
    status.append(" is %lld; allowed is 0 to %lld", static_cast<ll>(actual), static_cast<ll>(limit));
    return status;
  }

  Status check_operand(const schema::Operand& operand, int64_t byte_size) const {
    const uint32_t size = entry_.buffers()->Get(operand.buffer())->size();
    // A buffer's own size may hang on a dim that has no value yet.
    uint64_t room = static_cast<uint64_t>(value(size));
    if (!map_.is_static(size)) FERRULE_RETURN_IF_ERROR(capacity_of(entry_, operand.buffer(), call_, &room));
    const int64_t offset = value(operand.offset());
    if (offset >= 0 && byte_size >= 0 &&
        range_fits(static_cast<uint64_t>(offset), static_cast<uint64_t>(byte_size), room)) {
      return Status();
    }
    return error("the offset of an operand of", offset, static_cast<int64_t>(room));
  }

  Status check_loop(const schema::Loop& loop) const {
    const int64_t count = value(loop.count());
    const schema::Dim& dim = *entry_.dims()->Get(loop.dim());
    if (count >= 0 && count - 1 <= dim.max()) return Status();
    return Status::error(StatusCode::kInvalidArgument,
                         "entry '%s': for these dims the loop over '%s' runs %lld times; allowed is 0 to %llu",
                         entry_.name()->c_str(), dim.name()->c_str(), static_cast<ll>(count),
                         static_cast<unsigned long long>(dim.max()) + 1);
  }

  const schema::Entry& entry_;
  const EntryMap& map_;
  const uint32_t block_, position_;
  const CallValues& call_;
};

}  // namespace

Status bind_dims(const schema::Entry& entry, const Shape* inputs, int64_t* out_dims) {
  for (uint32_t i = 0; i < entry.dims()->size(); ++i) out_dims[i] = -1;
  for (uint32_t i = 0; i < entry.inputs()->size(); ++i) {
    FERRULE_RETURN_IF_ERROR(bind_input(entry, i, inputs[i], out_dims));
  }
  return Status();
}

Status check_call(const schema::Entry& entry, const EntryMap& map, const Shape* inputs, const CallValues& call) {
  for (uint32_t i = 0; i < entry.inputs()->size(); ++i) {
    FERRULE_RETURN_IF_ERROR(check_input_shape(entry, i, inputs[i], call.values));
  }
  for (const schema::Equality* equality : *entry.equalities()) {
    if (!map.is_static(equality->left()) || !map.is_static(equality->right())) continue;
    FERRULE_RETURN_IF_ERROR(check_equality(entry, *equality, call.values));
  }
  for (uint32_t i = 0; i < entry.outputs()->size(); ++i) {
    FERRULE_RETURN_IF_ERROR(tensor_byte_size(entry, *entry.outputs()->Get(i), call.values, &call.output_bytes[i]));
  }
  for (uint32_t i = 0; i < entry.buffers()->size(); ++i) {
    if (map.known_at_call(entry.buffers()->Get(i)->size())) FERRULE_RETURN_IF_ERROR(check_buffer(entry, i, call));
  }
  for (uint32_t block = 0; block < entry.blocks()->size(); ++block) {
    for (uint32_t i = 0; i < entry.blocks()->Get(block)->instructions()->size(); ++i) {
      if (map.changes(map.instruction(block, i))) continue;
      FERRULE_RETURN_IF_ERROR(check_instruction(entry, map, block, i, call));
    }
  }
  return Status();
}

Status assign_dim(const schema::Entry& entry, const EntryMap& map, uint32_t number, int64_t value,
                  const CallValues& call) {
  const schema::Dim& dim = *entry.dims()->Get(number);
  if (dim.source() == schema::DimSource_instruction) {
    const int64_t most = most_of(dim, call.values[dim.limit()]);
    if (value < dim.min() || value > most || value % dim.multiple_of() != 0) {
      Status status = Status::error(
          StatusCode::kKernelError, "entry '%s': the dim '%s' is %lld; allowed is %lld to %lld", entry.name()->c_str(),
          dim.name()->c_str(), static_cast<ll>(value), static_cast<ll>(dim.min()), static_cast<ll>(most));
      if (dim.multiple_of() != 1) status.append(" in multiples of %lld", static_cast<ll>(dim.multiple_of()));
      return status;
    }
  }
  call.dims[number] = value;
  FERRULE_RETURN_IF_ERROR(evaluate_expressions_of(entry, map, number, call.dims, call.values));
  for (uint32_t i : map.buffers(number)) FERRULE_RETURN_IF_ERROR(check_buffer(entry, i, call));
  for (uint32_t i : map.equalities(number)) {
    FERRULE_RETURN_IF_ERROR(check_equality(entry, *entry.equalities()->Get(i), call.values));
  }
  for (uint32_t i : map.outputs(number)) {
    uint64_t byte_size;
    FERRULE_RETURN_IF_ERROR(tensor_byte_size(entry, *entry.outputs()->Get(i), call.values, &byte_size));
    if (byte_size <= call.output_bytes[i]) continue;
    return Status::error(StatusCode::kInvalidArgument,
                         "entry '%s': the output '%s' has %llu bytes now that '%s' is %lld, but room for %llu",
                         entry.name()->c_str(), entry.outputs()->Get(i)->name()->c_str(),
                         static_cast<unsigned long long>(byte_size), dim.name()->c_str(), static_cast<ll>(value),
                         static_cast<unsigned long long>(call.output_bytes[i]));
  }
  return Status();
}

Status check_instruction(const schema::Entry& entry, const EntryMap& map, uint32_t block, uint32_t position,
                         const CallValues& call) {
  return InstructionCheck(entry, map, block, position, call).check();
}

bool append_open_dims(const schema::Entry& entry, const int64_t* dims, Status* status) {
  const char* separator = "";
  for (uint32_t i = 0; i < entry.dims()->size(); ++i) {
    const schema::Dim& dim = *entry.dims()->Get(i);
    if (dim.source() != schema::DimSource_input || dim.max() != INT64_MAX) continue;
    status->append("%s '%s' = %lld", separator, dim.name()->c_str(), static_cast<ll>(dims[i]));
    separator = ",";
  }
  return *separator != '\0';
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
