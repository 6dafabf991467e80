// The variables of one or more sessions: where their values live, and whether they are complete.
//
// A variable that some entry assigns is private from the start; the others point into the program's read-only weights,
// shared by all sessions and processes, until somebody sets them (copy on write). Sessions made with `share` hold the
// same store. Runs of entries that assign nothing may overlap; everything that changes a value excludes all else.
#ifndef FERRULE_RUNTIME_EXECUTOR_VARIABLE_STORE_H_
#define FERRULE_RUNTIME_EXECUTOR_VARIABLE_STORE_H_

#include <stdint.h>

#include <atomic>

#include "runtime/base/fork.h"
#include "runtime/base/lock.h"
#include "runtime/memory/memory_block.h"
#include "runtime/program/program.h"

namespace ferrule::runtime {

class VariableStore {
 public:
  // Retains the program. On success *out_store holds one reference.
  static Status create(Program* program, const Allocator& allocator, VariableStore** out_store);
  void retain();
  void release();

  const Program& program() const { return *program_; }

  // The physical values of a variable; may move in `make_private`. Callers hold the lock.
  void* data(uint32_t variable) const { return const_cast<uint8_t*>(values_[variable]); }

  // Every function below that reads or changes values takes the lock itself; runs take it for their whole length.
  // kFailedPrecondition in a forked child if another thread held the lock when the process was forked: it never gives
  // it back here, and may have stopped half way through a change.
  Status lock(bool exclusive);
  void unlock();

  // False in a child that was forked after create().
  bool is_of_this_process() const { return fork_count_ == fork_count(); }

  // Logical row-major values in and out. Sizes are logical_byte_size(variable), checked by the caller.
  Status get(uint32_t variable, void* out_logical);
  Status set(uint32_t variable, const void* logical);
  // Sets all variables or none, and completes the state. logical[v]: the values of variable v, or null: its initial ones.
  Status set_all(const uint8_t* const* logical);
  // Sets the variables whose values are not null, or none.
  Status set_some(const uint8_t* const* logical);
  // Back to the artifact's initial values; completes the state.
  Status reset();

  bool complete() const { return complete_.load(std::memory_order_relaxed); }
  // kFailedPrecondition unless the state is complete: half a step is not worth keeping. The sentence begins with `kind`, as
  // "entry " or "", the quoted name, and what does not happen: "does not run".
  Status check_complete(const char* kind, const char* name, const char* consequence) const;
  void mark_incomplete() { complete_.store(false, std::memory_order_relaxed); }

  // Whether a variable has other values than the artifact gives it, bit for bit. The caller holds the lock.
  bool is_changed(uint32_t variable) const;

  // Sum of the private copies.
  uint64_t private_byte_size() const { return private_bytes_; }

 private:
  VariableStore() = default;
  ~VariableStore() = default;
  Status initialize();
  void copy_initial_values();
  Status make_private(uint32_t variable);
  Status make_private_where_set(const uint8_t* const* logical);
  void copy_initial_value(uint32_t variable);
  void pack_into(uint32_t variable, const void* logical);
  const schema::Variable& description(uint32_t variable) const {
    return *program_->metadata()->variables()->Get(variable);
  }

  Program* program_ = nullptr;
  Allocator allocator_{};
  std::atomic<uint32_t> references_{1};
  std::atomic<bool> complete_{true};
  uint32_t fork_count_ = 0;
  SharedLock lock_;
  Array<const uint8_t*> values_;  // one a variable
  Array<uint8_t*> copied_;        // one a variable: the copy that make_private made, or null
  Array<uint8_t> is_private_;     // one a variable
  MemoryBlock assigned_;          // all variables that entries assign, one after the other
  uint64_t private_bytes_ = 0;
};

}  // namespace ferrule::runtime

#endif  // FERRULE_RUNTIME_EXECUTOR_VARIABLE_STORE_H_
