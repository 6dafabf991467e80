#include "runtime/check/memory_check.h"

#include <string.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace ferrule::runtime {
namespace {

using Kind = schema::Storage;

// The arena begins at a multiple of 4, so the pattern's phase follows from the position.
void fill_pattern(uint8_t* memory, uint64_t begin, uint64_t end) {
  constexpr uint32_t kPattern = MemoryCheck::kFreePattern;
  const auto fill_bytes = [&](uint64_t first, uint64_t last) {
    for (uint64_t i = first; i < last; ++i) memory[i] = static_cast<uint8_t>(kPattern >> (i % 4 * 8));
  };
  const uint64_t first_word = (begin + 3) / 4 * 4, last_word = end / 4 * 4;
  if (first_word >= last_word) return fill_bytes(begin, end);
  fill_bytes(begin, first_word);
  for (uint64_t i = first_word; i < last_word; i += 4) memcpy(memory + i, &kPattern, 4);
  fill_bytes(last_word, end);
}

void sort_ranges(std::vector<std::pair<uint64_t, uint64_t>>& ranges) {
  std::qsort(ranges.data(), ranges.size(), sizeof(ranges[0]), [](const void* left, const void* right) {
    const auto &a = *static_cast<const std::pair<uint64_t, uint64_t>*>(left),
               &b = *static_cast<const std::pair<uint64_t, uint64_t>*>(right);
    return (a > b) - (a < b);
  });
}

template <typename Function>
void each_output(const schema::InstructionNode& node, Function function) {
  if (const schema::KernelCall* call = node.instruction_as_KernelCall()) {
    for (uint32_t i = 0; i < call->output_count(); ++i) function(*call->operands()->Get(i));
  } else if (const schema::Copy* copy = node.instruction_as_Copy()) {
    function(*copy->target());
  }
}

uint32_t location_of(const schema::InstructionNode& node) {
  if (const schema::KernelCall* call = node.instruction_as_KernelCall()) return call->location();
  const schema::Copy* copy = node.instruction_as_Copy();
  return copy == nullptr ? 0 : copy->location();
}

}  // namespace

MemoryCheck::MemoryCheck(Session& session) : session_(session) {
  watch_.context = this;
  watch_.begin = [](void* context, uint32_t entry, Status*) {
    return static_cast<MemoryCheck*>(context)->begin_run(entry);
  };
  watch_.before = [](void* context, uint32_t block, uint32_t position, Status*) {
    auto& check = *static_cast<MemoryCheck*>(context);
    check.path_.emplace_back(block, position);
    check.describe(check.instruction(block, position));
    return true;
  };
  watch_.after = [](void* context, uint32_t block, uint32_t position, Status* out_status) {
    auto& check = *static_cast<MemoryCheck*>(context);
    const bool ok = check.check_writes(check.instruction(block, position), out_status);
    if (ok) check.release_buffers(block, position);
    check.path_.pop_back();
    return ok;
  };
  session_.set_watch(&watch_);
}

bool MemoryCheck::begin_run(uint32_t entry) {
  entry_ = session_.program().metadata()->entries()->Get(entry);
  path_.clear();
  regions_.clear();
  regions_.push_back(
      {session_.memory_->arena(), std::vector<uint8_t>(session_.memory_->arena_byte_size()), "the arena"});
  fill(0, regions_[0].copy.size());
  for (const uint32_t variable : *entry_->assigned_variables()) {
    const schema::Variable& described = *session_.program().metadata()->variables()->Get(variable);
    auto* data = static_cast<uint8_t*>(const_cast<void*>(static_cast<const void*>(session_.variables().data(variable))));
    regions_.push_back({data, std::vector<uint8_t>(data, data + described.byte_size()),
                        "variable '" + described.name()->str() + "'"});
  }
  return true;
}

void MemoryCheck::describe(const schema::InstructionNode& node) {
  const char* kernel = node.instruction_as_Copy() != nullptr ? "a copy" : "control flow";
  if (const schema::KernelCall* call = node.instruction_as_KernelCall())
    kernel = session_.program().metadata()->kernels()->Get(call->kernel())->name()->c_str();
  const char* location = session_.program().location(location_of(node));
  std::snprintf(current_, sizeof(current_), "entry '%s', kernel '%s'%s%s", entry_->name()->c_str(), kernel,
                location[0] == '\0' ? "" : " at ", location);
}

bool MemoryCheck::check_writes(const schema::InstructionNode& node, Status* out_status) {
  if (node.instruction_as_KernelCall() == nullptr && node.instruction_as_Copy() == nullptr) return true;
  ++instruction_count_;
  for (Region& region : regions_) {
    const std::vector<Range> allowed = allowed_ranges(node, region);
    uint64_t position;
    if (find_change(region, allowed, &position)) {
      *out_status = violation(region, position, allowed);
      return false;
    }
    accept(region, allowed);
  }
  return true;
}

// What the instruction may write of the region, in ascending order: each output from its operand's offset to the end
// that its buffer has in this call.
std::vector<MemoryCheck::Range> MemoryCheck::allowed_ranges(const schema::InstructionNode& node,
                                                            const Region& region) const {
  std::vector<Range> allowed;
  const uint8_t* end = region.begin + region.copy.size();
  each_output(node, [&](const schema::Operand& operand) {
    const schema::Buffer& buffer = *entry_->buffers()->Get(operand.buffer());
    const uint8_t* base = session_.buffers_[operand.buffer()];
    if (base < region.begin || base >= end) return;
    const uint64_t first = static_cast<uint64_t>(base - region.begin);
    allowed.emplace_back(first + static_cast<uint64_t>(session_.values_[operand.offset()]),
                         first + static_cast<uint64_t>(session_.values_[buffer.size()]));
  });
  sort_ranges(allowed);
  return allowed;
}

bool MemoryCheck::find_change(const Region& region, const std::vector<Range>& allowed, uint64_t* out_position) const {
  uint64_t begin = 0;
  for (size_t i = 0; i <= allowed.size(); ++i) {
    const uint64_t end = i == allowed.size() ? region.copy.size() : allowed[i].first;
    if (begin < end && memcmp(region.begin + begin, region.copy.data() + begin, end - begin) != 0) {
      *out_position = begin;
      while (region.begin[*out_position] == region.copy[*out_position]) ++*out_position;
      return true;
    }
    if (i < allowed.size()) begin = std::max(begin, allowed[i].second);
  }
  return false;
}

void MemoryCheck::accept(Region& region, const std::vector<Range>& allowed) {
  for (const auto& [begin, end] : allowed) {
    if (&region == &regions_[0]) {
      uint64_t last = end;
      while (last > begin && last > used_ && region.begin[last - 1] == region.copy[last - 1]) --last;
      if (last > begin) used_ = std::max(used_, last);
    }
    if (begin < end) memcpy(region.copy.data() + begin, region.begin + begin, end - begin);
  }
}

Status MemoryCheck::violation(const Region& region, uint64_t position, const std::vector<Range>& allowed) const {
  std::string outputs;
  for (const auto& [begin, end] : allowed)
    outputs += (outputs.empty() ? "" : ", ") + std::to_string(begin) + " to " + std::to_string(end);
  const std::string whose = &region == &regions_[0] ? owner(position) : "";
  return Status::error(StatusCode::kInternal,
                       "%s changed byte %llu of %s%s; it may write %s%s", current_,
                       static_cast<unsigned long long>(position), region.name.c_str(), whose.c_str(),
                       outputs.empty() ? "nothing of it" : "bytes ", outputs.c_str());
}

bool MemoryCheck::is_live(const schema::Buffer& buffer) const {
  for (const auto& [block, position] : path_)
    if (buffer.block() == block && buffer.begin() <= position && position <= buffer.end()) return true;
  return false;
}

MemoryCheck::Range MemoryCheck::arena_range(uint32_t buffer) const {
  const schema::Buffer& planned = *entry_->buffers()->Get(buffer);
  const uint64_t* capacities = session_.placement_.capacities;
  const uint64_t begin = session_.arena_position(buffer, planned);
  return {begin, begin + (capacities != nullptr ? capacities[buffer] : planned.planned_size())};
}

std::string MemoryCheck::owner(uint64_t position) const {
  for (uint32_t b = 0; b < entry_->buffers()->size(); ++b) {
    const schema::Buffer& buffer = *entry_->buffers()->Get(b);
    if (buffer.storage() != Kind::Storage_arena || !is_live(buffer)) continue;
    const auto [begin, end] = arena_range(b);
    if (begin <= position && position < end) return ", of buffer '" + buffer.debug_name()->str() + "'";
  }
  return ", which no buffer uses then";
}

// Fills what has been used for the last time, but for bytes that an alias of it keeps in use.
void MemoryCheck::release_buffers(uint32_t block, uint32_t position) {
  const auto& buffers = *entry_->buffers();
  for (uint32_t b = 0; b < buffers.size(); ++b) {
    const schema::Buffer& buffer = *buffers.Get(b);
    if (buffer.storage() != Kind::Storage_arena || buffer.block() != block || buffer.end() != position) continue;
    std::vector<Range> kept;
    for (uint32_t o = 0; o < buffers.size(); ++o) {
      const schema::Buffer& other = *buffers.Get(o);
      if (other.storage() != Kind::Storage_arena || other.block() != block || other.alias_group() == 0 ||
          other.alias_group() != buffer.alias_group())
        continue;
      if (other.begin() <= position && other.end() > position) kept.push_back(arena_range(o));
    }
    sort_ranges(kept);
    auto [begin, end] = arena_range(b);
    for (const auto& [first, last] : kept) {
      fill(begin, std::min(first, end));
      begin = std::max(begin, last);
    }
    fill(begin, end);
  }
}

void MemoryCheck::fill(uint64_t begin, uint64_t end) {
  Region& arena = regions_[0];
  fill_pattern(arena.begin, begin, end);
  fill_pattern(arena.copy.data(), begin, end);
}

}  // namespace ferrule::runtime
