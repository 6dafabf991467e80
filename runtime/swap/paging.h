// Keeps an arena that lies in a swap file within a number of bytes of memory while a session runs.
#ifndef FERRULE_RUNTIME_SWAP_PAGING_H_
#define FERRULE_RUNTIME_SWAP_PAGING_H_

#include <stdint.h>

#include "runtime/executor/session.h"
#include "runtime/swap/paging_plan.h"
#include "runtime/swap/swap_file.h"

namespace ferrule::runtime {

class Paging {
 public:
  // Since create().
  struct Totals {
    uint64_t written_bytes, forgotten_bytes, nanoseconds;
  };

  // Watches every run of `session` from now on, whose arena must lie in `file`; both must outlive it. Plans all entries:
  // kInvalidArgument where one cannot run with `resident_bytes`.
  static Status create(Session& session, SwapFile& file, uint64_t resident_bytes, Paging** out_paging);
  // Null is allowed.
  static void destroy(Paging* paging);

  const Totals& totals() const { return totals_; }
  // The most of the arena that any entry has in memory at once.
  uint64_t resident_bytes() const;

 private:
  using Idle = PagingPlan::Idle;

  // One an entry. `returning` are the numbers of what is read again, in the order in which it is.
  struct Entry {
    PagingPlan plan;
    Array<uint32_t> returning;
  };

  Paging(Session& session, SwapFile& file) : session_(session), file_(file) {}
  ~Paging();
  Status plan(uint64_t resident_bytes);
  bool begin(uint32_t entry, Status* out_status);
  void before(uint32_t position);
  bool after(uint32_t position, Status* out_status);

  Session& session_;
  SwapFile& file_;
  Watch watch_{};
  Array<Entry> entries_;
  const Entry* entry_ = nullptr;
  uint64_t arena_position_ = 0;  // in the file
  Totals totals_{};
};

}  // namespace ferrule::runtime

#endif  // FERRULE_RUNTIME_SWAP_PAGING_H_
