// Runs whose kernel calls and copies are measured.
#include "runtime/executor/session.h"

namespace ferrule::runtime {

Status Session::start_profile(uint64_t capacity) {
  measure_ = nullptr;
  FERRULE_RETURN_IF_ERROR(profile_.start(allocator_, capacity));
  measure_ = &Session::run_and_measure;
  return Status();
}

// A kernel call or a copy, as the profile sees it.
Status Session::run_and_measure(const schema::Entry& entry, const schema::InstructionNode& node) {
  ProfileEvent event{};
  event.entry = bound_entry_;
  event.begin = profile_.now();
  Status status;
  if (const schema::KernelCall* call = node.instruction_as_KernelCall()) {
    status = call_kernel(entry, *call);
    event.end = profile_.now();
    const int64_t tiles = values_[call->tiles()];
    event.kernel = call->kernel();
    event.location = call->location();
    event.thread_count = tiles < parallel_.width() ? static_cast<uint32_t>(tiles) : parallel_.width();
    event.byte_size = operand_byte_size(entry, *call);
    const auto cost = [this](uint32_t expression) { return expression == 0 ? -1 : values_[expression - 1]; };
    event.flops = cost(call->flops());
    event.read_bytes = cost(call->read_bytes());
    event.written_bytes = cost(call->written_bytes());
  } else {
    const schema::Copy& move = *node.instruction_as_Copy();
    copy(move);
    event.end = profile_.now();
    event.kernel = ProfileEvent::kCopy;
    event.location = move.location();
    event.thread_count = 1;
    event.flops = 0;
    event.read_bytes = event.written_bytes = values_[move.byte_size()];
    event.byte_size = 2 * static_cast<uint64_t>(event.read_bytes);
  }
  profile_.add(event);
  return status;
}

// Each buffer once, also where several operands are parts of it.
uint64_t Session::operand_byte_size(const schema::Entry& entry, const schema::KernelCall& call) const {
  uint64_t total = 0;
  for (uint32_t i = 0; i < call.operands()->size(); ++i) {
    const uint32_t buffer = call.operands()->Get(i)->buffer();
    bool is_first = true;
    for (uint32_t j = 0; j < i; ++j) is_first &= call.operands()->Get(j)->buffer() != buffer;
    if (is_first) total += static_cast<uint64_t>(values_[entry.buffers()->Get(buffer)->size()]);
  }
  return total;
}

}  // namespace ferrule::runtime
