// What the instructions of profiled runs took, one event a kernel call or copy, in the order of their execution.
#ifndef FERRULE_RUNTIME_EXECUTOR_PROFILE_H_
#define FERRULE_RUNTIME_EXECUTOR_PROFILE_H_

#include <stdint.h>

#include "runtime/base/allocator.h"
#include "runtime/base/clock.h"

namespace ferrule::runtime {

struct ProfileEvent {
  static constexpr uint32_t kCopy = UINT32_MAX;

  uint32_t entry;
  uint32_t kernel;    // index into Program.kernels, or kCopy
  uint32_t location;  // as in the artifact: 0 is none
  uint32_t thread_count;
  uint64_t begin, end;  // nanoseconds since the profile's start
  uint64_t byte_size;   // of the buffers that are its operands
  int64_t flops, read_bytes, written_bytes;  // as in the artifact, for this call; -1: it does not say
};

// Room for all events is taken at the start: a run allocates nothing, and counts what finds no room. They stay until the
// next start.
class Profile {
 public:
  void set_clock(const Clock& clock) { clock_ = clock; }

  Status start(const Allocator& allocator, uint64_t capacity) {
    count_ = dropped_ = 0;
    FERRULE_RETURN_IF_ERROR(events_.allocate(allocator, static_cast<size_t>(capacity), "the profile's events"));
    origin_ = clock();
    return Status();
  }
  uint64_t count() const { return count_; }
  uint64_t dropped() const { return dropped_; }
  const ProfileEvent& event(uint64_t index) const { return events_[index]; }

  // Nanoseconds since the start.
  uint64_t now() const { return clock() - origin_; }

  void add(const ProfileEvent& event) {
    if (count_ == events_.size())
      ++dropped_;
    else
      events_[count_++] = event;
  }

 private:
  uint64_t clock() const { return clock_.now_ns(clock_.context); }

  Clock clock_{nullptr, monotonic_ns};
  Array<ProfileEvent> events_;
  uint64_t count_ = 0, dropped_ = 0, origin_ = 0;
};

}  // namespace ferrule::runtime

#endif  // FERRULE_RUNTIME_EXECUTOR_PROFILE_H_
