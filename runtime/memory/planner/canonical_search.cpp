#include "runtime/memory/planner/canonical_search.h"

#include <algorithm>

namespace ferrule::memory {
namespace {

constexpr uint64_t kNone = ~uint64_t{0};

uint64_t align_up(uint64_t value, uint64_t alignment) { return (value + alignment - 1) & ~(alignment - 1); }

// What a run remembers of the weights that the runs before it learned. Without forgetting, the troubles of the first
// runs would rule all later ones.
constexpr double kMemory = 0.8;

// The three orders: by area, by size, by duration in sections (then size).
double order_priority(const ConflictModel& model, uint32_t interval, uint64_t run_number) {
  const double size = static_cast<double>(model.sizes[interval]);
  const double duration =
      static_cast<double>(model.last_section[interval] - model.first_section[interval] + 1);
  switch (run_number % 3) {
    case 0: return size * duration;
    case 1: return size;
    default: return duration + size / 9.3e18;   // sizes are below 2^62: the second part only breaks ties
  }
}

// A number in [1, 1.5) from run and interval, by splitmix64's mixing step.
double perturbation(uint64_t run_number, uint32_t interval) {
  uint64_t bits = (run_number << 32 | interval) + 0x9E3779B97F4A7C15u;
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u;
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu;
  bits ^= bits >> 31;
  return 1.0 + static_cast<double>(bits >> 44) / (2.0 * (1 << 20));
}

}  // namespace

CanonicalSearch::CanonicalSearch(const ConflictModel& model)
    : model_(model),
      lowest_(model.count()),
      floor_(model.count()),
      placed_(model.count()),
      by_lowest_(model.sections.items),
      is_marked_(model.section_count(), 0),
      weight_(model.count(), 1.0),
      base_priority_(model.count()),
      priority_(model.count()) {}

CanonicalSearch::Outcome CanonicalSearch::run(uint64_t capacity, uint64_t node_limit, uint64_t step_limit) {
  capacity_ = capacity;
  for (uint64_t bytes : model_.section_bytes)
    if (bytes > capacity) return Outcome::kInfeasible;
  start_run();
  for (uint64_t node = 0; placed_count_ < model_.count(); ++node) {
    if (node >= node_limit || steps_ >= step_limit) return Outcome::kLimit;
    const uint32_t interval = choose();
    // What holds the interval up must be placed already, or else it could drop: then "higher" is the only branch.
    const bool supported = lowest_[interval] == floor_[interval];
    path_.push_back({interval, supported, changes_.size()});
    const bool holds = supported ? place(interval) : raise(interval);
    if (!holds && !backtrack()) return Outcome::kInfeasible;
  }
  return Outcome::kSolved;
}

void CanonicalSearch::start_run() {
  std::fill(lowest_.begin(), lowest_.end(), 0);
  std::fill(floor_.begin(), floor_.end(), 0);
  std::fill(placed_.begin(), placed_.end(), 0);
  changes_.clear();
  path_.clear();
  placed_count_ = 0;
  for (uint32_t i = 0; i < model_.count(); ++i) {
    base_priority_[i] = order_priority(model_, i, run_count_);
    if (run_count_ >= 3) base_priority_[i] *= perturbation(run_count_, i);   // the plain orders have had their turn
    weight_[i] = 1.0 + (weight_[i] - 1.0) * kMemory;
    priority_[i] = base_priority_[i] * weight_[i];
  }
  ++run_count_;
}

// The heaviest unplaced interval, or rather one that must be decided before it: walks down to an interval below which
// nothing unplaced can come.
uint32_t CanonicalSearch::choose() {
  const uint32_t count = static_cast<uint32_t>(model_.count());
  uint32_t chosen = count;
  for (uint32_t i = 0; i < count; ++i)
    if (!placed_[i] && (chosen == count || heavier(i, chosen))) chosen = i;
  steps_ += count;
  const Adjacency& conflicts = model_.conflicts;
  for (;;) {
    uint32_t lower = chosen;
    for (uint32_t k = conflicts.begin[chosen]; k < conflicts.begin[chosen + 1]; ++k) {
      const uint32_t other = conflicts.items[k];
      if (placed_[other] || lowest_[other] >= lowest_[chosen]) continue;
      if (lower == chosen || lowest_[other] < lowest_[lower] ||
          (lowest_[other] == lowest_[lower] && heavier(other, lower)))
        lower = other;
    }
    steps_ += conflicts.begin[chosen + 1] - conflicts.begin[chosen];
    if (lower == chosen) return chosen;
    chosen = lower;
  }
}

// First branch: the interval lies at its lowest offset, and everything in conflict with it above its top.
bool CanonicalSearch::place(uint32_t interval) {
  placed_[interval] = 1;
  ++placed_count_;
  mark_sections(interval);
  const uint64_t top = lowest_[interval] + model_.sizes[interval];
  const Adjacency& conflicts = model_.conflicts;
  for (uint32_t k = conflicts.begin[interval]; k < conflicts.begin[interval + 1]; ++k) {
    const uint32_t other = conflicts.items[k];
    if (placed_[other] || floor_[other] >= top) continue;
    const uint64_t floor = align_up(top, model_.alignments[other]);
    if (floor > lowest_[other]) mark_sections(other);
    set_lowest(other, std::max(lowest_[other], floor), floor);
  }
  steps_ += conflicts.begin[interval + 1] - conflicts.begin[interval];
  return check_marked_sections();
}

// Second branch: the interval lies above one of those that can block its lowest offset.
bool CanonicalSearch::raise(uint32_t interval) {
  const uint64_t top = lowest_[interval] + model_.sizes[interval];
  uint64_t lowest = kNone;
  const Adjacency& conflicts = model_.conflicts;
  for (uint32_t k = conflicts.begin[interval]; k < conflicts.begin[interval + 1]; ++k) {
    const uint32_t other = conflicts.items[k];
    if (placed_[other] || lowest_[other] >= top) continue;
    lowest = std::min(lowest, lowest_[other] + model_.sizes[other]);
  }
  steps_ += conflicts.begin[interval + 1] - conflicts.begin[interval];
  if (lowest == kNone) {
    add_weight(interval);
    return false;
  }
  set_lowest(interval, align_up(lowest, model_.alignments[interval]), floor_[interval]);
  mark_sections(interval);
  return check_marked_sections();
}

void CanonicalSearch::unplace(uint32_t interval) {
  placed_[interval] = 0;
  --placed_count_;
}

// Goes back to the deepest decision with a second branch that holds. False: there is none.
bool CanonicalSearch::backtrack() {
  while (!path_.empty()) {
    Decision& decision = path_.back();
    undo_to(decision.change_count);
    if (!decision.placed) {
      path_.pop_back();
      continue;
    }
    unplace(decision.interval);
    decision.placed = false;
    if (raise(decision.interval)) return true;
  }
  return false;
}

void CanonicalSearch::set_lowest(uint32_t interval, uint64_t lowest, uint64_t floor) {
  changes_.push_back({interval, lowest_[interval], floor_[interval]});
  lowest_[interval] = lowest;
  floor_[interval] = floor;
}

void CanonicalSearch::undo_to(size_t change_count) {
  while (changes_.size() > change_count) {
    const Change& change = changes_.back();
    lowest_[change.interval] = change.lowest;
    floor_[change.interval] = change.floor;
    changes_.pop_back();
  }
}

void CanonicalSearch::mark_sections(uint32_t interval) {
  for (uint32_t s = model_.first_section[interval]; s <= model_.last_section[interval]; ++s) {
    if (is_marked_[s]) continue;
    is_marked_[s] = 1;
    marked_.push_back(s);
  }
}

bool CanonicalSearch::check_marked_sections() {
  bool fits = true;
  for (uint32_t s : marked_) {
    is_marked_[s] = 0;
    if (!fits || section_fits(s)) continue;
    fits = false;
    for (uint32_t k = model_.sections.begin[s]; k < model_.sections.begin[s + 1]; ++k)
      if (!placed_[by_lowest_[k]]) add_weight(by_lowest_[k]);
  }
  marked_.clear();
  return fits;
}

bool CanonicalSearch::section_fits(uint32_t section) {
  uint32_t* list = by_lowest_.data() + model_.sections.begin[section];
  const uint32_t count = model_.sections.begin[section + 1] - model_.sections.begin[section];
  steps_ += count;
  // Insertion sort: little has moved since the last look.
  for (uint32_t a = 1; a < count; ++a) {
    const uint32_t interval = list[a];
    uint32_t b = a;
    for (; b > 0 && lowest_[list[b - 1]] < lowest_[interval]; --b) list[b] = list[b - 1];
    list[b] = interval;
    steps_ += a - b;
  }
  uint64_t above = 0;
  for (uint32_t a = 0; a < count; ++a) {
    if (placed_[list[a]]) continue;
    above += model_.sizes[list[a]];
    if (lowest_[list[a]] + above > capacity_) return false;
  }
  return true;
}

void CanonicalSearch::add_weight(uint32_t interval) {
  weight_[interval] += 1.0;
  priority_[interval] = base_priority_[interval] * weight_[interval];
}

}  // namespace ferrule::memory
