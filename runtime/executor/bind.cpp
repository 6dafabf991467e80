// The checks of a call, and the addresses of its buffers.
#include <string.h>

#include "runtime/data/data_type.h"
#include "runtime/executor/session.h"
#include "runtime/program/expression.h"
#include "runtime/program/layout.h"

namespace ferrule::runtime {
namespace {

unsigned long long as_print(uint64_t value) { return value; }

Status check_input_types(const schema::Entry& entry, const TensorRef* inputs) {
  for (uint32_t i = 0; i < entry.inputs()->size(); ++i) {
    const schema::TensorSpec& spec = *entry.inputs()->Get(i);
    if (!same_type(inputs[i].dtype, *spec.dtype()))
      return Status::error(StatusCode::kInvalidArgument, "entry '%s': input '%s' has dtype %s, but must have %s",
                           entry.name()->c_str(), spec.name()->c_str(), data_type_name(inputs[i].dtype),
                           data_type_name(*spec.dtype()));
    if (inputs[i].rank != 0 && inputs[i].shape == nullptr)
      return Status::error(StatusCode::kInvalidArgument, "entry '%s': input '%s' has no shape", entry.name()->c_str(),
                           spec.name()->c_str());
  }
  return Status();
}

Status check_input_memory(const schema::Entry& entry, const TensorRef* inputs, const int64_t* values) {
  for (uint32_t i = 0; i < entry.inputs()->size(); ++i) {
    const schema::TensorSpec& spec = *entry.inputs()->Get(i);
    uint64_t needed;
    FERRULE_RETURN_IF_ERROR(tensor_byte_size(entry, spec, values, &needed));
    if (inputs[i].byte_size < needed)
      return Status::error(StatusCode::kInvalidArgument,
                           "entry '%s': input '%s' holds %llu bytes, but its shape needs %llu", entry.name()->c_str(),
                           spec.name()->c_str(), as_print(inputs[i].byte_size), as_print(needed));
    if (inputs[i].data == nullptr && needed != 0)
      return Status::error(StatusCode::kInvalidArgument, "entry '%s': input '%s' has no data", entry.name()->c_str(),
                           spec.name()->c_str());
  }
  return Status();
}

bool overlap(const void* a, uint64_t a_size, const void* b, uint64_t b_size) {
  const auto* first = static_cast<const uint8_t*>(a);
  const auto* second = static_cast<const uint8_t*>(b);
  return first < second + b_size && second < first + a_size;
}

}  // namespace

Status Session::check_counts(uint32_t entry_index, uint32_t input_count, uint32_t output_count) const {
  const schema::Entry& entry = this->entry(entry_index);
  if (input_count != entry.inputs()->size())
    return Status::error(StatusCode::kInvalidArgument, "entry '%s' takes %u inputs, but %u were given",
                         entry.name()->c_str(), entry.inputs()->size(), input_count);
  if (output_count != entry.outputs()->size())
    return Status::error(StatusCode::kInvalidArgument, "entry '%s' has %u outputs, but %u were given",
                         entry.name()->c_str(), entry.outputs()->size(), output_count);
  return Status();
}

Status Session::bind(uint32_t entry_index, const TensorRef* inputs, uint32_t input_count, uint32_t output_count) {
  const schema::Entry& entry = this->entry(entry_index);
  FERRULE_RETURN_IF_ERROR(check_counts(entry_index, input_count, output_count));
  FERRULE_RETURN_IF_ERROR(check_input_types(entry, inputs));
  const EntryMap& map = program_->entry_map(entry_index);
  if (map.has_late_dims() || !same_shapes_as_last_call(entry_index, inputs)) {
    bound_entry_ = kNoEntry;
    for (uint32_t i = 0; i < input_count; ++i) shapes_[i] = Shape{inputs[i].shape, inputs[i].rank};
    FERRULE_RETURN_IF_ERROR(bind_dims(entry, shapes_.data(), dims_.data()));
    FERRULE_RETURN_IF_ERROR(evaluate_expressions(entry, map, dims_.data(), values_.data()));
    placement_ = grower_ == nullptr ? Placement() : grower_->placements[entry_index];
    Status status = check_call(entry, map, shapes_.data(), call_values());
    if (!status.ok() && grower_ != nullptr)
      status = grower_->grow(grower_, entry_index, shapes_.data(), call_values(), status, &placement_);
    FERRULE_RETURN_IF_ERROR(status);
    remember_shapes(inputs, input_count);
    bound_entry_ = entry_index;
  }
  return check_input_memory(entry, inputs, values_.data());
}

bool Session::same_shapes_as_last_call(uint32_t entry_index, const TensorRef* inputs) const {
  if (bound_entry_ != entry_index) return false;
  const uint32_t count = entry(entry_index).inputs()->size();
  for (uint32_t i = 0; i < count; ++i) {
    if (inputs[i].rank != input_ranks_[i]) return false;
    const int64_t* sizes = input_sizes_.data() + size_t{i} * kMaximumRank;
    for (uint32_t axis = 0; axis < inputs[i].rank; ++axis)
      if (inputs[i].shape[axis] != sizes[axis]) return false;
  }
  return true;
}

void Session::remember_shapes(const TensorRef* inputs, uint32_t input_count) {
  for (uint32_t i = 0; i < input_count; ++i) {
    input_ranks_[i] = inputs[i].rank;
    for (uint32_t axis = 0; axis < inputs[i].rank; ++axis)
      input_sizes_[size_t{i} * kMaximumRank + axis] = inputs[i].shape[axis];
  }
}

Status Session::describe_outputs(const schema::Entry& entry, TensorRef* outputs) {
  for (uint32_t i = 0; i < entry.outputs()->size(); ++i) {
    const schema::TensorSpec& spec = *entry.outputs()->Get(i);
    int64_t* sizes = output_sizes_.data() + size_t{i} * kMaximumRank;
    for (uint32_t axis = 0; axis < spec.shape()->size(); ++axis) sizes[axis] = values_[spec.shape()->Get(axis)];
    outputs[i].dtype = *spec.dtype();
    outputs[i].rank = spec.shape()->size();
    outputs[i].shape = sizes;
    FERRULE_RETURN_IF_ERROR(tensor_byte_size(entry, spec, values_.data(), &outputs[i].byte_size));
  }
  return Status();
}

Status Session::output_shapes(uint32_t entry_index, const TensorRef* inputs, uint32_t input_count, TensorRef* outputs,
                              uint32_t output_count) {
  FERRULE_RETURN_IF_ERROR(bind(entry_index, inputs, input_count, output_count));
  return describe_outputs(entry(entry_index), outputs);
}

Status Session::bind_outputs(const schema::Entry& entry, TensorRef* outputs) {
  bool views = false;
  for (uint32_t i = 0; i < entry.outputs()->size(); ++i) {
    const schema::TensorSpec& spec = *entry.outputs()->Get(i);
    uint64_t needed;
    FERRULE_RETURN_IF_ERROR(tensor_byte_size(entry, spec, values_.data(), &needed));
    views |= outputs[i].data == nullptr;
    if (outputs[i].data != nullptr && outputs[i].byte_size < needed)
      return Status::error(StatusCode::kInvalidArgument,
                           "entry '%s': the buffer for output '%s' has room for %llu bytes, but %llu are needed",
                           entry.name()->c_str(), spec.name()->c_str(), as_print(outputs[i].byte_size),
                           as_print(needed));
  }
  FERRULE_RETURN_IF_ERROR(describe_outputs(entry, outputs));
  return views ? view_outputs(entry, outputs) : Status();
}

// Lays the outputs that have no buffer of the caller into output_views_, which grows only when they need more than
// ever.
Status Session::view_outputs(const schema::Entry& entry, TensorRef* outputs) {
  uint64_t total = 0;
  for (uint32_t i = 0; i < entry.outputs()->size(); ++i) {
    uint64_t rounded;
    if (outputs[i].data != nullptr) continue;
    if (!checked_align(outputs[i].byte_size, kBlockAlignment, &rounded) || !checked_add(total, rounded, &total))
      return Status::error(StatusCode::kOutOfMemory, "out of memory: the outputs of entry '%s'", entry.name()->c_str());
  }
  if (total == 0) total = kBlockAlignment;  // so that the view of an empty output is not null
  if (total > output_views_.byte_size()) FERRULE_RETURN_IF_ERROR(output_views_.allocate(allocator_, total, "outputs"));
  uint8_t* next = output_views_.data();
  for (uint32_t i = 0; i < entry.outputs()->size(); ++i) {
    if (outputs[i].data != nullptr) continue;
    outputs[i].data = next;
    next += (outputs[i].byte_size + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment;
  }
  return Status();
}

Status Session::check_overlap(const schema::Entry& entry, const TensorRef* inputs, const TensorRef* outputs) const {
  const uint32_t output_count = entry.outputs()->size();
  for (uint32_t o = 0; o < output_count; ++o) {
    const char* name = entry.outputs()->Get(o)->name()->c_str();
    for (uint32_t i = 0; i < entry.inputs()->size(); ++i)
      if (overlap(outputs[o].data, outputs[o].byte_size, inputs[i].data, inputs[i].byte_size))
        return Status::error(StatusCode::kInvalidArgument, "entry '%s': the buffer for output '%s' overlaps input '%s'",
                             entry.name()->c_str(), name, entry.inputs()->Get(i)->name()->c_str());
    for (uint32_t other = 0; other < o; ++other)
      if (overlap(outputs[o].data, outputs[o].byte_size, outputs[other].data, outputs[other].byte_size))
        return Status::error(StatusCode::kInvalidArgument, "entry '%s': the buffers for outputs '%s' and '%s' overlap",
                             entry.name()->c_str(), entry.outputs()->Get(other)->name()->c_str(), name);
  }
  return Status();
}

void Session::bind_buffers(const schema::Entry& entry, const TensorRef* inputs, const TensorRef* outputs) {
  for (uint32_t b = 0; b < entry.buffers()->size(); ++b) {
    const schema::Buffer& buffer = *entry.buffers()->Get(b);
    const uint32_t index = buffer.index();
    const void* base = nullptr;
    switch (buffer.storage()) {
      case schema::Storage_arena:
        base = memory_->arena() + arena_position(b, buffer);
        break;
      case schema::Storage_variable:
        base = variables_->data(index);
        break;
      case schema::Storage_constant:
        base = program_->constant(index);
        break;
      case schema::Storage_input:
        base = inputs[index].data;
        break;
      case schema::Storage_output:
        base = outputs[index].data;
        break;
    }
    buffers_[b] = static_cast<uint8_t*>(const_cast<void*>(base));
  }
}

}  // namespace ferrule::runtime
