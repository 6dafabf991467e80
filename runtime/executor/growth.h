// Lets a session grow: where a dim without a max gets a size that its memory was not planned for, the buffers of the entry
// are placed anew, by the greedy portfolio (runtime/memory/planner/greedy.h), and the arena is made larger.
//
// Sizes only ever grow, so a smaller call runs in the same places: nothing is placed or allocated a second time for sizes
// that have been there, in any order. Each buffer that has to grow gets a quarter more than it needs, so that sizes that
// creep up (a text that gets longer by a word a run) seldom ask for more; where that does not fit, just what it needs.
// Greedy, so the arena may be larger than the compiler's plan of the same sizes. A buffer whose size is first known inside
// of a loop keeps the size that was planned.
#ifndef FERRULE_RUNTIME_EXECUTOR_GROWTH_H_
#define FERRULE_RUNTIME_EXECUTOR_GROWTH_H_

#include <stdint.h>

#include "runtime/executor/placement.h"
#include "runtime/executor/session.h"

namespace ferrule::runtime {

class Growth : private Grower {
 public:
  // From now on `session`, which must outlive it, grows. `arena_byte_limit`: the most that its arena may then take.
  static Status create(Session& session, uint64_t arena_byte_limit, Growth** out_growth);
  // The session must not run again. Null is allowed.
  static void destroy(Growth* growth);

  void set_limit(uint64_t arena_byte_limit) { arena_byte_limit_ = arena_byte_limit; }

 private:
  struct Tables {
    Array<uint64_t> offsets, capacities;
  };

  explicit Growth(Session& session) : session_(session) {}
  ~Growth();
  Status initialize();
  Status make_room(uint32_t entry, const Shape* inputs, const CallValues& call, const Status& refusal,
                   Placement* placement);
  Status place(const schema::Entry& entry, const EntryMap& map, const CallValues& call, Tables* tables);
  Status reserve(const schema::Entry& entry, const CallValues& call, uint64_t arena_bytes);

  Session& session_;
  uint64_t arena_byte_limit_ = UINT64_MAX;
  Array<Tables> tables_;         // one an entry; empty: it has not grown
  Array<Placement> placements_;  // views of them
};

}  // namespace ferrule::runtime

#endif  // FERRULE_RUNTIME_EXECUTOR_GROWTH_H_
