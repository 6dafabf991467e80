#include "runtime/executor/variable_store.h"

#include <string.h>

#include <new>

#include "runtime/base/arithmetic.h"
#include "runtime/program/layout.h"

namespace ferrule::runtime {

Status VariableStore::create(Program* program, const Allocator& allocator, VariableStore** out_store) {
  void* memory = allocator.allocate(allocator.context, sizeof(VariableStore), alignof(VariableStore));
  if (memory == nullptr) return Status::error(StatusCode::kOutOfMemory, "out of memory: the table of variables");
  auto* store = new (memory) VariableStore();
  store->program_ = program;
  store->allocator_ = allocator;
  store->fork_count_ = fork_count();
  program->retain();
  const Status status = store->initialize();
  if (!status.ok()) {
    store->release();
    return status;
  }
  *out_store = store;
  return Status();
}

void VariableStore::retain() { references_.fetch_add(1, std::memory_order_relaxed); }

void VariableStore::release() {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  for (uint32_t v = 0; v < copied_.size(); ++v)
    if (copied_[v] != nullptr) allocator_.deallocate(allocator_.context, copied_[v], description(v).byte_size());
  Program* program = program_;
  const Allocator allocator = allocator_;
  this->~VariableStore();
  allocator.deallocate(allocator.context, this, sizeof(VariableStore));
  program->release();
}

Status VariableStore::initialize() {
  const schema::Program& program = *program_->metadata();
  const uint32_t count = program.variables()->size();
  FERRULE_RETURN_IF_ERROR(values_.allocate(allocator_, count, "the table of variables"));
  FERRULE_RETURN_IF_ERROR(copied_.allocate_zeroed(allocator_, count, "the table of variables"));
  FERRULE_RETURN_IF_ERROR(is_private_.allocate_zeroed(allocator_, count, "the table of variables"));
  for (const schema::Entry* entry : *program.entries())
    for (const uint32_t v : *entry->assigned_variables()) is_private_[v] = 1;

  uint64_t total = 0;
  for (uint32_t v = 0; v < count; ++v) {
    if (!is_private_[v]) continue;
    uint64_t rounded;
    if (!checked_align(description(v).byte_size(), kBlockAlignment, &rounded) || !checked_add(total, rounded, &total))
      return Status::error(StatusCode::kOutOfMemory, "out of memory: the variables do not fit the address space");
  }
  FERRULE_RETURN_IF_ERROR(assigned_.allocate(allocator_, total, "the variables that the program assigns"));
  private_bytes_ = total;

  uint64_t offset = 0;
  for (uint32_t v = 0; v < count; ++v) {
    values_[v] = program_->initial_value(v);
    if (!is_private_[v]) continue;
    values_[v] = assigned_.data() + offset;
    offset += (description(v).byte_size() + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment;
  }
  for (uint32_t v = 0; v < count; ++v) copy_initial_value(v);
  return Status();
}

Status VariableStore::lock(bool exclusive) {
  if (is_of_this_process()) {
    lock_.lock(exclusive);
    return Status();
  }
  if (lock_.try_lock(exclusive)) return Status();
  return Status::error(StatusCode::kFailedPrecondition,
                       "the session's variables were in use by another thread when this process was forked, so they may "
                       "be incomplete here; create a session in this process");
}

void VariableStore::unlock() { lock_.unlock(); }

Status VariableStore::make_private(uint32_t variable) {
  if (is_private_[variable]) return Status();
  const uint64_t byte_size = description(variable).byte_size();
  void* memory = allocator_.allocate(allocator_.context, byte_size, kBlockAlignment);
  if (memory == nullptr)
    return Status::error(StatusCode::kOutOfMemory, "out of memory: variable '%s' needs %llu bytes",
                         description(variable).name()->c_str(), static_cast<unsigned long long>(byte_size));
  memcpy(memory, values_[variable], byte_size);
  copied_[variable] = static_cast<uint8_t*>(memory);
  values_[variable] = copied_[variable];
  is_private_[variable] = 1;
  private_bytes_ += byte_size;
  return Status();
}

void VariableStore::pack_into(uint32_t variable, const void* logical) {
  pack(*program_->metadata(), description(variable), logical, data(variable));
}

Status VariableStore::get(uint32_t variable, void* out_logical) {
  FERRULE_RETURN_IF_ERROR(lock(/*exclusive=*/false));
  unpack(*program_->metadata(), description(variable), data(variable), out_logical);
  unlock();
  return Status();
}

Status VariableStore::set(uint32_t variable, const void* logical) {
  FERRULE_RETURN_IF_ERROR(lock(/*exclusive=*/true));
  const Status status = description(variable).byte_size() == 0 ? Status() : make_private(variable);
  if (status.ok()) pack_into(variable, logical);
  unlock();
  return status;
}

Status VariableStore::make_private_where_set(const uint8_t* const* logical) {
  for (uint32_t v = 0; v < values_.size(); ++v)
    if (logical[v] != nullptr && description(v).byte_size() != 0) FERRULE_RETURN_IF_ERROR(make_private(v));
  return Status();
}

Status VariableStore::set_all(const uint8_t* const* logical) {
  FERRULE_RETURN_IF_ERROR(lock(/*exclusive=*/true));
  const Status status = make_private_where_set(logical);
  if (status.ok()) {
    for (uint32_t v = 0; v < values_.size(); ++v) {
      if (logical[v] != nullptr)
        pack_into(v, logical[v]);
      else
        copy_initial_value(v);
    }
    complete_.store(true, std::memory_order_relaxed);
  }
  unlock();
  return status;
}

Status VariableStore::set_some(const uint8_t* const* logical) {
  FERRULE_RETURN_IF_ERROR(lock(/*exclusive=*/true));
  const Status status = make_private_where_set(logical);
  for (uint32_t v = 0; v < values_.size() && status.ok(); ++v)
    if (logical[v] != nullptr) pack_into(v, logical[v]);
  unlock();
  return status;
}

Status VariableStore::reset() {
  FERRULE_RETURN_IF_ERROR(lock(/*exclusive=*/true));
  for (uint32_t v = 0; v < values_.size(); ++v) copy_initial_value(v);
  complete_.store(true, std::memory_order_relaxed);
  unlock();
  return Status();
}

void VariableStore::copy_initial_value(uint32_t variable) {
  const uint64_t byte_size = description(variable).byte_size();
  if (is_private_[variable] && byte_size != 0) memcpy(data(variable), program_->initial_value(variable), byte_size);
}

bool VariableStore::is_changed(uint32_t variable) const {
  const uint64_t byte_size = description(variable).byte_size();
  return is_private_[variable] && byte_size != 0 &&
         memcmp(data(variable), program_->initial_value(variable), byte_size) != 0;
}

Status VariableStore::check_complete(const char* kind, const char* name, const char* consequence) const {
  if (complete()) return Status();
  return Status::error(StatusCode::kFailedPrecondition,
                       "%s'%s' %s: an earlier run ended after it had begun to change variables, so their values are "
                       "incomplete; load a checkpoint or reset the session",
                       kind, name, consequence);
}

}  // namespace ferrule::runtime
