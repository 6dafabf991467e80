// Recomputation as plain bookkeeping: instructions in order, the values between them, and what a choice of values to
// compute again costs in bytes and nanoseconds. Nothing here knows what an instruction computes.
#ifndef FERRULE_PASSES_RECOMPUTE_RECOMPUTEPROBLEM_H_
#define FERRULE_PASSES_RECOMPUTE_RECOMPUTEPROBLEM_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace mlir::ferrule {

constexpr uint32_t noNode = ~uint32_t{0};

struct RecomputeValue {
  /// At most, in the arena.
  uint64_t bytes = 0;
  /// Lies outside of the arena (an input, an output, a variable, a constant): always there, and costs nothing.
  bool pinned = false;
  /// The instruction that makes it, or noNode.
  uint32_t producer = noNode;
  /// The user wants it computed again, whatever that costs.
  bool forced = false;
  /// The number of the recipe by which it is made again, or noNode: as the producer makes it.
  uint32_t recipe = noNode;
};

/// An instruction; or a recipe, which makes some results of one of its other results, and runs only as a second run.
struct RecomputeNode {
  /// Numbers of values; a value that is read twice stands twice.
  std::vector<uint32_t> reads, writes;
  /// Pairs (index in writes, index in reads): the result may take the bytes of an operand that dies here.
  std::vector<std::pair<uint32_t, uint32_t>> shares;
  /// Of inner blocks, only while it runs.
  uint64_t workspaceBytes = 0;
  double nanoseconds = 0;
  /// Whether it may run twice.
  bool clonable = false;
  /// One pass over memory without a sum: computed again at each use, if its operands are at hand.
  bool cheap = false;
};

/// The nodes stand in the order in which they run. Recipes are numbered behind them.
struct RecomputeProblem {
  std::vector<RecomputeValue> values;
  std::vector<RecomputeNode> nodes, recipes;

  bool isRecipe(uint32_t number) const { return number >= nodes.size(); }
  const RecomputeNode &getNode(uint32_t number) const {
    return isRecipe(number) ? recipes[number - nodes.size()] : nodes[number];
  }
  /// The number of the node or recipe that makes a value again.
  uint32_t getRemaker(uint32_t value) const {
    return values[value].recipe == noNode ? values[value].producer : values[value].recipe;
  }
  /// Of all nodes.
  double getNanoseconds() const {
    double sum = 0;
    for (const RecomputeNode &node : nodes)
      sum += node.nanoseconds;
    return sum;
  }
  /// Whether there is anything to gain by it, and it may be.
  bool canMakeAgain(uint32_t value) const {
    return !values[value].pinned && values[value].producer != noNode && getNode(getRemaker(value)).clonable;
  }
  /// Of a recipe: the node whose results it makes.
  uint32_t getPlace(uint32_t number) const {
    return isRecipe(number) ? values[getNode(number).writes.front()].producer : number;
  }
};

/// What becomes of a value between two of its uses.
enum class RecomputePolicy : uint8_t {
  Keep,  ///< Kept.
  Once,  ///< Dropped, if it was not computed again before; computed again when it is needed, then kept.
  Again, ///< Dropped whenever it is not used for a while.
};

/// Where the nodes read each value, and so the gaps: of a value with n uses gap 0 lies before the first, behind the node
/// that makes it, gap n behind the last, where only second runs read it.
class RecomputeGaps {
public:
  explicit RecomputeGaps(const RecomputeProblem &problem);

  uint32_t getCount() const { return uint32_t(ends.size()); }
  /// The number of the first gap of a value; the others follow it, up to that of the next value.
  uint32_t getFirst(uint32_t value) const { return first[value]; }
  /// The node that ends a gap, or noNode.
  uint32_t getEnd(uint32_t gap) const { return ends[gap]; }
  uint32_t getValue(uint32_t gap) const { return values[gap]; }

private:
  /// By value; by gap.
  std::vector<uint32_t> first, ends, values;
};

/// A value as one of several runs of its producer made it. Number i < values.size() is the original of value i.
struct RecomputeInstance {
  uint32_t value = 0;
};

/// Some consecutive numbers of a list.
struct RecomputeNumbers {
  const uint32_t *first = nullptr, *last = nullptr;

  const uint32_t *begin() const { return first; }
  const uint32_t *end() const { return last; }
  size_t size() const { return size_t(last - first); }
  uint32_t operator[](size_t index) const { return first[index]; }
};

/// One instruction of the result: a node, or a second run of one or of a recipe. What it reads and writes are numbers of
/// instances.
struct RecomputeStep {
  uint32_t node = 0;
  bool isClone = false;
  /// Where its numbers begin in the sequence's list: first what it reads, then what it writes, up to `end`.
  uint32_t reads = 0, writes = 0, end = 0;
};

struct RecomputeSequence {
  std::vector<RecomputeInstance> instances;
  std::vector<RecomputeStep> steps;
  std::vector<uint32_t> numbers;
  /// Of all second runs.
  double nanoseconds = 0;

  RecomputeNumbers getReads(const RecomputeStep &step) const {
    return {numbers.data() + step.reads, numbers.data() + step.writes};
  }
  /// Those of an original are the values' own numbers.
  RecomputeNumbers getWrites(const RecomputeStep &step) const {
    return {numbers.data() + step.writes, numbers.data() + step.end};
  }
  /// Both.
  RecomputeNumbers getTouched(const RecomputeStep &step) const {
    return {numbers.data() + step.reads, numbers.data() + step.end};
  }
};

/// By instance: the first and the last step that reads or writes it; noNode and 0 if none does.
struct RecomputeLifetimes {
  explicit RecomputeLifetimes(const RecomputeSequence &sequence);

  std::vector<uint32_t> begin, end;
};

/// The choice: a policy for each gap of each value, by the numbers of RecomputeGaps.
struct RecomputeChoice {
  std::vector<RecomputePolicy> gaps;
  /// A value that was used so few steps ago is not dropped: its next use is served from memory.
  uint32_t shortGap = 4;
};

/// The choice with a policy for each value that is made up to `border`, followed from there on: what is read behind it is
/// computed again as the policies say.
RecomputeChoice makeChoice(const RecomputeGaps &gaps, const RecomputeProblem &problem,
                           const std::vector<RecomputePolicy> &policies, uint32_t border);

/// The instructions that the choice amounts to: the nodes in their order, and before each the second runs that it
/// needs, in the order of the nodes, recipes behind theirs. A value whose producer may not run twice, or that is
/// pinned, is kept whatever the choice says.
RecomputeSequence expandChoice(const RecomputeProblem &problem, const RecomputeGaps &gaps, const RecomputeChoice &choice);

/// By step: the bytes that are live at it, after results have taken the place of operands as the memory pass does it.
std::vector<uint64_t> getLiveBytes(const RecomputeProblem &problem, const RecomputeSequence &sequence);

/// The sequence without second runs.
RecomputeSequence getOriginal(const RecomputeProblem &problem);

} // namespace mlir::ferrule

#endif // FERRULE_PASSES_RECOMPUTE_RECOMPUTEPROBLEM_H_
