#include "runtime/memory/planner/schedule.h"

#include <algorithm>

namespace ferrule::memory {
namespace {

// One list schedule. `lookahead`: how many nodes each candidate is followed; 1 is the plain "bytes freed less bytes
// produced" rule. `window`: candidates lie at most so far behind the first node that has not run, in the given order;
// a narrow window keeps what was good about that order.
struct Policy {
  size_t lookahead;
  uint32_t window;
};
constexpr uint32_t kNoWindow = ~uint32_t{0};
constexpr Policy kPolicies[] = {{1, kNoWindow}, {8, kNoWindow}, {64, kNoWindow}, {8, 32}, {64, 8}};

// Of many ready nodes, the first so many in the given order are candidates: bounds the time on wide graphs.
constexpr size_t kMostCandidates = 64;

// A node that frees something is moved with up to so many that it waits for, of which none takes more than this part of
// the peak (the numbers of an optimizer's step), and with up to so many that it makes ready, one after the other.
constexpr size_t kMostMoved = 16, kMostFollowed = 4;
constexpr int64_t kSmallPart = 4096;

// Freeing early may raise the peak by one part in so many: a few numbers are held that the given order makes later.
constexpr uint64_t kToleratedRise = 1024;

// The problem without directions: a buffer is live from the first to the last of the nodes that touch it, whichever
// they are. Read backwards, with all edges turned, it is a problem of the same kind, and a schedule of the one is a
// schedule of the other from its end.
struct Graph {
  std::vector<std::vector<uint32_t>> successors;
  std::vector<uint32_t> predecessor_count;
  std::vector<std::vector<uint32_t>> touched;  // by node: buffers in the arena, each once
  std::vector<uint32_t> toucher_count;         // by buffer
  std::vector<uint64_t> sizes;                 // by buffer
  size_t node_count() const { return touched.size(); }
};

void remove_duplicates(std::vector<uint32_t>* list) {
  std::sort(list->begin(), list->end());
  list->erase(std::unique(list->begin(), list->end()), list->end());
}

Graph make_graph(const ScheduleProblem& problem) {
  constexpr uint32_t kNobody = ~uint32_t{0};
  const size_t node_count = problem.nodes.size(), buffer_count = problem.buffers.size();
  Graph graph;
  graph.successors.resize(node_count);
  graph.predecessor_count.assign(node_count, 0);
  graph.touched.resize(node_count);
  graph.toucher_count.assign(buffer_count, 0);
  for (const ScheduleBuffer& buffer : problem.buffers) graph.sizes.push_back(buffer.pinned ? 0 : buffer.size);
  std::vector<uint32_t> last_writer(buffer_count, kNobody);
  std::vector<std::vector<uint32_t>> readers(buffer_count);  // since the last write
  for (uint32_t node = 0; node < node_count; ++node) {
    auto after = [&](uint32_t earlier) {
      if (earlier != kNobody && earlier != node) graph.successors[earlier].push_back(node);
    };
    for (uint32_t b : problem.nodes[node].reads) {
      after(last_writer[b]);
      readers[b].push_back(node);
    }
    for (uint32_t b : problem.nodes[node].writes) {
      after(last_writer[b]);
      for (uint32_t reader : readers[b]) after(reader);
      readers[b].clear();
      last_writer[b] = node;
    }
    std::vector<uint32_t>& touched = graph.touched[node];
    touched = problem.nodes[node].reads;
    touched.insert(touched.end(), problem.nodes[node].writes.begin(), problem.nodes[node].writes.end());
    touched.erase(std::remove_if(touched.begin(), touched.end(), [&](uint32_t b) { return graph.sizes[b] == 0; }),
                  touched.end());
    remove_duplicates(&touched);
    for (uint32_t b : touched) ++graph.toucher_count[b];
  }
  for (std::vector<uint32_t>& list : graph.successors) {
    remove_duplicates(&list);
    for (uint32_t node : list) ++graph.predecessor_count[node];
  }
  return graph;
}

// Node n of the result is node count - 1 - n of `graph`, so that the given order stays the ascending one.
Graph reversed(const Graph& graph) {
  const uint32_t count = static_cast<uint32_t>(graph.node_count());
  Graph result = graph;
  std::reverse(result.touched.begin(), result.touched.end());
  for (std::vector<uint32_t>& list : result.successors) list.clear();
  for (uint32_t node = 0; node < count; ++node) {
    for (uint32_t successor : graph.successors[node])
      result.successors[count - 1 - successor].push_back(count - 1 - node);
    result.predecessor_count[count - 1 - node] = static_cast<uint32_t>(graph.successors[node].size());
  }
  return result;
}

// A schedule in the making; run and its inverse cost as much as the node has buffers and successors.
class PartialSchedule {
 public:
  explicit PartialSchedule(const Graph& graph)
      : graph_(graph), waiting_for_(graph.predecessor_count), touches_(graph.toucher_count.size(), 0) {}

  // What the node adds to the live bytes while it runs, and what is left of that after it.
  int64_t bytes_during(uint32_t node) const {
    int64_t bytes = 0;
    for (uint32_t b : graph_.touched[node])
      if (touches_[b] == 0) bytes += static_cast<int64_t>(graph_.sizes[b]);
    return bytes;
  }
  int64_t bytes_after(uint32_t node) const {
    int64_t bytes = bytes_during(node);
    for (uint32_t b : graph_.touched[node])
      if (touches_[b] + 1 == graph_.toucher_count[b]) bytes -= static_cast<int64_t>(graph_.sizes[b]);
    return bytes;
  }

  // Appends the nodes that become ready to *out_ready.
  void run(uint32_t node, std::vector<uint32_t>* out_ready) {
    live_ += bytes_after(node);
    for (uint32_t b : graph_.touched[node]) ++touches_[b];
    for (uint32_t successor : graph_.successors[node])
      if (--waiting_for_[successor] == 0) out_ready->push_back(successor);
  }
  // Undoes the latest run.
  void unrun(uint32_t node) {
    for (uint32_t successor : graph_.successors[node]) ++waiting_for_[successor];
    for (uint32_t b : graph_.touched[node]) --touches_[b];
    live_ -= bytes_after(node);
  }

  int64_t live() const { return live_; }

 private:
  const Graph& graph_;
  std::vector<uint32_t> waiting_for_;  // by node: predecessors that have not run
  std::vector<uint32_t> touches_;      // by buffer: touching nodes that have run
  int64_t live_ = 0;
};

// Some nodes to run one after another: on the way they need `hill` more bytes than are live now, at the end `valley`
// more (or less).
struct Segment {
  std::vector<uint32_t> nodes;
  int64_t hill = 0;
  int64_t valley = 0;
};

// Of segments that can run in any order, the one to run first (Liu's rule, optimal for merging independent chains):
// those that end with less memory than they found, lowest hill first; then those that end with more, in descending
// order of what they need only for the time being.
bool runs_before(const Segment& a, const Segment& b) {
  const bool a_frees = a.valley <= 0, b_frees = b.valley <= 0;
  if (a_frees != b_frees) return a_frees;
  if (a_frees && a.hill != b.hill) return a.hill < b.hill;
  if (!a_frees && a.hill - a.valley != b.hill - b.valley) return a.hill - a.valley > b.hill - b.valley;
  if (a.valley != b.valley) return a.valley < b.valley;
  return a.nodes[0] < b.nodes[0];
}

// Follows `node` and what it makes ready, up to `lookahead` nodes, to the point where the least is live.
Segment look_ahead(PartialSchedule* state, uint32_t node, size_t lookahead) {
  std::vector<uint32_t> ready = {node}, path;
  const int64_t start = state->live();
  int64_t hill = 0;
  Segment best;
  while (!ready.empty() && path.size() < lookahead) {
    size_t choice = 0;
    for (size_t k = 1; k < ready.size(); ++k) {
      const int64_t current = state->bytes_after(ready[choice]), other = state->bytes_after(ready[k]);
      if (other < current || (other == current && ready[k] < ready[choice])) choice = k;
    }
    const uint32_t next = ready[choice];
    ready.erase(ready.begin() + static_cast<std::ptrdiff_t>(choice));
    hill = std::max(hill, state->live() - start + state->bytes_during(next));
    path.push_back(next);
    state->run(next, &ready);
    const int64_t valley = state->live() - start;
    if (path.size() == 1 || valley < best.valley) best = {path, hill, valley};
  }
  for (size_t k = path.size(); k > 0; --k) state->unrun(path[k - 1]);
  return best;
}

std::vector<uint32_t> list_schedule(const Graph& graph, const Policy& policy) {
  PartialSchedule state(graph);
  std::vector<uint32_t> order, ready;  // ready: ascending
  std::vector<uint8_t> has_run(graph.node_count(), 0);
  uint32_t first_pending = 0;
  for (uint32_t node = 0; node < graph.node_count(); ++node)
    if (graph.predecessor_count[node] == 0) ready.push_back(node);
  while (!ready.empty()) {
    while (has_run[first_pending]) ++first_pending;
    // The first pending node is always ready: all its predecessors stand before it in the given order.
    Segment best = look_ahead(&state, ready[0], policy.lookahead);
    for (size_t k = 1; k < std::min(ready.size(), kMostCandidates); ++k) {
      if (ready[k] - first_pending > policy.window) break;
      Segment segment = look_ahead(&state, ready[k], policy.lookahead);
      if (runs_before(segment, best)) best = std::move(segment);
    }
    std::vector<uint32_t> made_ready;
    for (uint32_t node : best.nodes) {
      state.run(node, &made_ready);
      has_run[node] = 1;
      order.push_back(node);
    }
    // Many nodes may be ready from the start (what reads only weights): they are not sorted again for each step.
    for (uint32_t node : made_ready) {
      if (has_run[node] == 0) ready.insert(std::lower_bound(ready.begin(), ready.end(), node), node);
    }
    for (uint32_t node : best.nodes) {
      const auto place = std::lower_bound(ready.begin(), ready.end(), node);
      if (place != ready.end() && *place == node) ready.erase(place);
    }
  }
  return order;
}

// The given order, in which some nodes run earlier.
class FreeingOrder {
 public:
  // What moves must not take more than `most_live` bytes.
  FreeingOrder(const Graph& graph, uint64_t most_live)
      : graph_(graph),
        most_live_(static_cast<int64_t>(most_live)),
        state_(graph),
        has_run_(graph.node_count(), 0),
        predecessors_(graph.node_count()),
        touchers_(graph.sizes.size()) {
    for (uint32_t node = 0; node < graph.node_count(); ++node) {
      for (uint32_t successor : graph.successors[node]) predecessors_[successor].push_back(node);
      for (uint32_t b : graph.touched[node]) touchers_[b].push_back(node);
    }
  }

  std::vector<uint32_t> make() {
    for (uint32_t node = 0; node < graph_.node_count(); ++node) {
      if (has_run_[node] == 0) run({node});
    }
    return std::move(order_);
  }

 private:
  // What may free something after `nodes` touches a buffer that they touched.
  void run(std::vector<uint32_t> nodes) {
    std::vector<uint32_t> ready;
    while (!nodes.empty()) {
      for (uint32_t node : nodes) {
        state_.run(node, &ready);
        has_run_[node] = 1;
        order_.push_back(node);
      }
      nodes = find_freeing(nodes);
    }
  }

  std::vector<uint32_t> find_freeing(const std::vector<uint32_t>& last) {
    for (uint32_t node : last) {
      for (uint32_t b : graph_.touched[node]) {
        for (uint32_t toucher : touchers_[b]) {
          if (has_run_[toucher] != 0) continue;
          std::vector<uint32_t> nodes = follow(with_what_it_needs(toucher));
          if (!nodes.empty()) return nodes;
        }
      }
    }
    return {};
  }

  // The node and all before it that have not run, in the given order; nothing if these are too many, or not small.
  std::vector<uint32_t> with_what_it_needs(uint32_t node) const {
    std::vector<uint32_t> nodes = {node};
    for (size_t k = 0; k < nodes.size(); ++k) {
      for (uint32_t predecessor : predecessors_[nodes[k]]) {
        if (has_run_[predecessor] != 0 || std::find(nodes.begin(), nodes.end(), predecessor) != nodes.end()) continue;
        if (nodes.size() == kMostMoved || state_.bytes_during(predecessor) > most_live_ / kSmallPart) return {};
        nodes.push_back(predecessor);
      }
    }
    std::sort(nodes.begin(), nodes.end());
    return nodes;
  }

  // The nodes and what they make ready, to the point where the least is live; nothing if that is no less than now.
  std::vector<uint32_t> follow(std::vector<uint32_t> nodes) {
    std::vector<uint32_t> ready;
    int64_t least = state_.live();
    const size_t needed_count = nodes.size();
    size_t run_count = 0, best_count = 0;
    for (; run_count < nodes.size(); ++run_count) {
      const uint32_t node = nodes[run_count];
      if (state_.live() + state_.bytes_during(node) > most_live_) break;
      state_.run(node, &ready);
      if (state_.live() < least) {
        least = state_.live();
        best_count = run_count + 1;
      }
      if (run_count + 1 == nodes.size() && nodes.size() < needed_count + kMostFollowed) append_next(ready, &nodes);
    }
    for (size_t k = run_count; k > 0; --k) state_.unrun(nodes[k - 1]);
    nodes.resize(best_count);
    return nodes;
  }

  // Of the ready nodes that do not stand in the list the one that adds least.
  void append_next(const std::vector<uint32_t>& ready, std::vector<uint32_t>* nodes) const {
    const uint32_t* next = nullptr;
    for (const uint32_t& node : ready) {
      if (std::find(nodes->begin(), nodes->end(), node) != nodes->end()) continue;
      if (next == nullptr || state_.bytes_after(node) < state_.bytes_after(*next)) next = &node;
    }
    if (next != nullptr) nodes->push_back(*next);
  }

  const Graph& graph_;
  int64_t most_live_;
  PartialSchedule state_;
  std::vector<uint8_t> has_run_;
  std::vector<std::vector<uint32_t>> predecessors_, touchers_;
  std::vector<uint32_t> order_;
};

uint64_t peak_of(const Graph& graph, const std::vector<uint32_t>& order) {
  PartialSchedule state(graph);
  std::vector<uint32_t> ready;
  int64_t peak = 0;
  for (uint32_t node : order) {
    peak = std::max(peak, state.live() + state.bytes_during(node));
    state.run(node, &ready);
  }
  return static_cast<uint64_t>(peak);
}

std::vector<Interval> live_intervals(const Graph& graph, const std::vector<uint32_t>& order) {
  std::vector<Interval> intervals(graph.sizes.size(), Interval{0, 0, 0, 1});
  for (size_t t = 0; t < order.size(); ++t) {
    for (uint32_t b : graph.touched[order[t]]) {
      Interval& interval = intervals[b];
      if (interval.size == 0) interval.begin = static_cast<int64_t>(t);
      interval.end = static_cast<int64_t>(t);
      interval.size = graph.sizes[b];
    }
  }
  return intervals;
}

Schedule as_given(const Graph& graph) {
  Schedule result;
  for (uint32_t node = 0; node < graph.node_count(); ++node) result.order.push_back(node);
  result.original_peak = result.peak = peak_of(graph, result.order);
  return result;
}

}  // namespace

Schedule schedule_freeing_early(const ScheduleProblem& problem) {
  const Graph graph = make_graph(problem);
  Schedule result = as_given(graph);
  std::vector<uint32_t> order = FreeingOrder(graph, result.original_peak).make();
  const uint64_t peak = peak_of(graph, order);
  if (peak <= result.original_peak + result.original_peak / kToleratedRise) {
    result.peak = peak;
    result.order = std::move(order);
  }
  result.intervals = live_intervals(graph, result.order);
  return result;
}

Schedule schedule_for_memory(const ScheduleProblem& problem) {
  const Graph forward = make_graph(problem);
  const Graph backward = reversed(forward);
  const uint32_t count = static_cast<uint32_t>(forward.node_count());
  Schedule result = as_given(forward);
  for (const Policy& policy : kPolicies) {
    for (bool from_end : {false, true}) {
      std::vector<uint32_t> order = list_schedule(from_end ? backward : forward, policy);
      if (from_end) {
        std::reverse(order.begin(), order.end());
        for (uint32_t& node : order) node = count - 1 - node;
      }
      const uint64_t peak = peak_of(forward, order);
      if (peak >= result.peak) continue;
      result.peak = peak;
      result.order = std::move(order);
    }
  }
  result.intervals = live_intervals(forward, result.order);
  return result;
}

}  // namespace ferrule::memory
