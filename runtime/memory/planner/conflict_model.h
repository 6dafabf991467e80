// A planning problem prepared for search: who conflicts with whom, and where in time the conflicts are tightest.
#ifndef FERRULE_RUNTIME_MEMORY_PLANNER_CONFLICT_MODEL_H_
#define FERRULE_RUNTIME_MEMORY_PLANNER_CONFLICT_MODEL_H_

#include <vector>

#include "runtime/memory/planner/interval.h"

namespace ferrule::memory {

// Indices of intervals that must be planned together: nothing that is live in one group is live in another, not even
// through others. Intervals without bytes are left out. In order of time.
std::vector<std::vector<uint32_t>> independent_groups(const std::vector<Interval>& intervals);

// Two dense lists of lists, for the two relations below.
struct Adjacency {
  std::vector<uint32_t> begin;     // list i is items[begin[i] .. begin[i + 1])
  std::vector<uint32_t> items;
};

// A section is an instruction where the set of live intervals is not contained in that of another instruction. All
// conflicts show in sections, so the instructions between them can be forgotten. Interval i is live in the sections
// first_section[i] .. last_section[i].
struct ConflictModel {
  std::vector<uint64_t> sizes;            // bytes, rounded up to `granule`
  std::vector<uint64_t> alignments;
  std::vector<uint32_t> first_section;
  std::vector<uint32_t> last_section;
  Adjacency conflicts;                    // by interval: the intervals it may not overlap
  Adjacency sections;                     // by section: the intervals that are live
  std::vector<uint64_t> section_bytes;    // by section: the sum of their sizes
  uint64_t granule = 1;                   // every offset and size is a multiple of this

  size_t count() const { return sizes.size(); }
  size_t section_count() const { return section_bytes.size(); }
};

// Makes the model of the intervals that `members` names, in that order. `granule` is the smallest alignment of the
// whole problem. Returns false, leaving the model unspecified, if its lists would take more than `entry_limit`
// entries: such a problem is too large to search anyway.
bool build_conflict_model(const std::vector<Interval>& intervals, const std::vector<uint32_t>& members,
                          uint64_t granule, uint64_t entry_limit, ConflictModel* out_model);

}  // namespace ferrule::memory

#endif  // FERRULE_RUNTIME_MEMORY_PLANNER_CONFLICT_MODEL_H_
