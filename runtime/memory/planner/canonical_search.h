// Branch and bound over canonical placements: can these intervals be placed within a given capacity?
//
// Every interval carries the lowest offset that it can still have. One is chosen below which nothing can come any more
// (no unplaced interval in conflict with it has a lower such offset), and the search branches on "it lies exactly
// there" or "it lies higher". The second is only worth looking at if some unplaced interval blocks that place, so the
// interval then rests on one of the blockers, which raises its lowest offset: without a blocker any solution could be
// changed into one of the first branch. So a search that ends without a solution is a proof that there is none.
// A node is given up when a section cannot hold what is left, even if its intervals might be cut in pieces: sorted by
// lowest offset, from the highest down, what is left above any offset must fit under the capacity.
//
// The search learns where the trouble is: the unplaced intervals of the section that failed gain weight, and heavy
// intervals are placed first. Restarts with these weights and slightly shuffled orders (a fixed function of the number
// of the run) solve problems on which one long search is lost.
// Branch and bound over canonical placements is in the manner of MiniMalloc (Moffitt, ASPLOS 2023); branching on one
// interval anywhere in the problem, the bound by sections and the weights are ours.
#ifndef FERRULE_RUNTIME_MEMORY_PLANNER_CANONICAL_SEARCH_H_
#define FERRULE_RUNTIME_MEMORY_PLANNER_CANONICAL_SEARCH_H_

#include <vector>

#include "runtime/memory/planner/conflict_model.h"

namespace ferrule::memory {

class CanonicalSearch {
 public:
  enum class Outcome { kSolved, kInfeasible, kLimit };

  // `model` must outlive the search and have at least one interval.
  explicit CanonicalSearch(const ConflictModel& model);

  // One search from the root, under the weights learned so far and the run's order (three of them take turns by run
  // number). Gives up after `node_limit` branches or when steps() reaches `step_limit`.
  Outcome run(uint64_t capacity, uint64_t node_limit, uint64_t step_limit);

  // After kSolved: the offsets in bytes, by interval of the model.
  const std::vector<uint64_t>& offsets() const { return lowest_; }

  // Looks at an interval, over all runs: the unit of PlannerOptions::search_steps.
  uint64_t steps() const { return steps_; }

 private:
  struct Change {
    uint32_t interval;
    uint64_t lowest;
    uint64_t floor;
  };
  // A decision on the path from the root; placed is false once its second branch is being explored.
  struct Decision {
    uint32_t interval;
    bool placed;
    size_t change_count;   // changes made before it
  };

  void start_run();
  uint32_t choose();
  bool heavier(uint32_t a, uint32_t b) const { return priority_[a] > priority_[b]; }
  bool place(uint32_t interval);
  bool raise(uint32_t interval);
  void unplace(uint32_t interval);
  bool backtrack();
  void set_lowest(uint32_t interval, uint64_t lowest, uint64_t floor);
  void undo_to(size_t change_count);
  void mark_sections(uint32_t interval);
  bool check_marked_sections();
  bool section_fits(uint32_t section);
  void add_weight(uint32_t interval);

  const ConflictModel& model_;
  uint64_t capacity_ = 0;
  uint64_t steps_ = 0;
  uint64_t run_count_ = 0;
  size_t placed_count_ = 0;
  std::vector<uint64_t> lowest_;        // the lowest offset that the interval can still have
  std::vector<uint64_t> floor_;         // the same, as far as placed intervals force it
  std::vector<uint8_t> placed_;
  std::vector<uint32_t> by_lowest_;     // section lists, each kept nearly sorted by descending lowest_
  std::vector<uint32_t> marked_;        // sections whose bound must be checked again
  std::vector<uint8_t> is_marked_;
  std::vector<Change> changes_;
  std::vector<Decision> path_;
  std::vector<double> weight_;          // 1 + how often the interval was unplaced in a section that failed, fading
  std::vector<double> base_priority_;   // by the order of this run
  std::vector<double> priority_;        // base_priority_ * weight_
};

}  // namespace ferrule::memory

#endif  // FERRULE_RUNTIME_MEMORY_PLANNER_CANONICAL_SEARCH_H_
