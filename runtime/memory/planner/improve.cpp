#include "runtime/memory/planner/improve.h"

#include <algorithm>

#include "runtime/memory/planner/canonical_search.h"

namespace ferrule::memory {
namespace {

// The unit of the node limits; at least two ways to the bottom.
uint64_t nodes_per_run(const ConflictModel& model) { return std::max<uint64_t>(1000, 2 * model.count()); }

// The universal restart sequence of Luby, Sinclair and Zuckerman: 1 1 2 1 1 2 4 1 1 2 1 1 2 4 8 ..., from index 1.
uint64_t luby(uint64_t index) {
  for (;;) {
    uint64_t power = 1;
    while (power - 1 < index) power *= 2;
    if (power - 1 == index) return power / 2;
    index -= power / 2 - 1;
  }
}

// The state of one improvement: what is known from below and from above.
class Ladder {
 public:
  Ladder(const ConflictModel& model, uint64_t peak, uint64_t target, uint64_t step_limit,
         std::vector<uint64_t>* offsets)
      : model_(model), target_(target), step_limit_(step_limit), offsets_(offsets) {
    result_.peak = peak;
    for (uint64_t bytes : model.section_bytes) result_.proven_bound = std::max(result_.proven_bound, bytes);
  }

  Improvement climb_down() {
    bisect();
    CanonicalSearch search(model_);   // a new one: what is hard at a looser capacity is no guide here
    for (uint64_t index = 1; !finished(); ++index) {
      const uint64_t node_limit = luby(index) * nodes_per_run(model_);
      try_capacity(&search, goal(), node_limit);
      // The goal may be out of reach: one run in eight asks for half of the gap, or as little as possible.
      if (index % 16 == 8) try_capacity(&search, between(goal(), result_.peak), node_limit);
      if (index % 16 == 0) try_capacity(&search, result_.peak - model_.granule, node_limit);
    }
    return result_;
  }

 private:
  uint64_t goal() const { return std::max(target_, result_.proven_bound); }
  bool finished() const { return result_.peak <= goal() || result_.steps >= step_limit_; }
  uint64_t between(uint64_t low, uint64_t high) const {
    return (low + (high - low) / 2) / model_.granule * model_.granule;
  }

  // Short runs, little more than one way to the bottom each, that halve the gap until it is below half a percent: gets
  // most of the gain in a few milliseconds.
  void bisect() {
    const uint64_t node_limit = model_.count() + model_.count() / 2;
    CanonicalSearch search(model_);
    uint64_t failed = goal();
    if (finished() || try_capacity(&search, failed, node_limit)) return;
    while (!finished() && result_.peak > failed + result_.peak / 200) {
      const uint64_t middle = between(failed, result_.peak);
      if (middle <= failed) return;
      if (!try_capacity(&search, middle, node_limit)) failed = middle;
    }
  }

  bool try_capacity(CanonicalSearch* search, uint64_t capacity, uint64_t node_limit) {
    if (finished()) return false;
    const uint64_t steps_before = search->steps();
    const CanonicalSearch::Outcome outcome =
        search->run(capacity, node_limit, steps_before + (step_limit_ - result_.steps));
    result_.steps += search->steps() - steps_before;
    switch (outcome) {
      case CanonicalSearch::Outcome::kLimit:
        return false;
      case CanonicalSearch::Outcome::kInfeasible:
        result_.proven_bound = std::max(result_.proven_bound, capacity + model_.granule);
        return false;
      case CanonicalSearch::Outcome::kSolved:
        break;
    }
    *offsets_ = search->offsets();
    result_.peak = 0;
    for (size_t i = 0; i < model_.count(); ++i)
      result_.peak = std::max(result_.peak, (*offsets_)[i] + model_.sizes[i]);
    return true;
  }

  const ConflictModel& model_;
  uint64_t target_;
  uint64_t step_limit_;
  std::vector<uint64_t>* offsets_;
  Improvement result_;
};

}  // namespace

Improvement improve_placement(const ConflictModel& model, uint64_t peak, uint64_t target, uint64_t step_limit,
                              std::vector<uint64_t>* offsets) {
  return Ladder(model, peak, target, step_limit, offsets).climb_down();
}

}  // namespace ferrule::memory
