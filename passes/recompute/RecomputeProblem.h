// Recomputation as plain bookkeeping: instructions in order, the values between them, and what a choice of values to
// compute again costs in bytes and nanoseconds. Nothing here knows what an instruction computes.
#ifndef FERRULE_PASSES_RECOMPUTE_RECOMPUTEPROBLEM_H_
#define FERRULE_PASSES_RECOMPUTE_RECOMPUTEPROBLEM_H_

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
  /// Of a recipe: the node whose results it makes.
  uint32_t getPlace(uint32_t number) const {
    return isRecipe(number) ? values[getNode(number).writes.front()].producer : number;
  }
};

enum class RecomputePolicy : uint8_t {
  Keep,  ///< Made once and kept until its last use.
  Once,  ///< Dropped at the border; computed again at the first use behind it, then kept.
  Again, ///< Dropped whenever it is not used for a while.
};

/// A value as one of several runs of its producer made it. Number i < values.size() is the original of value i.
struct RecomputeInstance {
  uint32_t value = 0;
};

/// One instruction of the result: a node, or a second run of one or of a recipe. `reads` are numbers of instances.
struct RecomputeStep {
  uint32_t node = 0;
  bool isClone = false;
  std::vector<uint32_t> reads;
  /// Of its results; those of the original are the values' own numbers.
  std::vector<uint32_t> writes;
};

struct RecomputeSequence {
  std::vector<RecomputeInstance> instances;
  std::vector<RecomputeStep> steps;
  /// Of all second runs.
  double nanoseconds = 0;
};

/// The choice: a policy for each value. Instructions up to `border` run once, from originals; what is read behind it is
/// computed again as the policies say.
struct RecomputeChoice {
  std::vector<RecomputePolicy> policies;
  uint32_t border = 0;
};

/// The instructions that the choice amounts to: the nodes in their order, and before each the second runs that it
/// needs, in the order of the nodes, recipes behind theirs. A value whose producer may not run twice, or that is
/// pinned, is kept whatever the choice says.
RecomputeSequence expandChoice(const RecomputeProblem &problem, const RecomputeChoice &choice);

/// By step: the bytes that are live at it, after results have taken the place of operands as the memory pass does it.
std::vector<uint64_t> getLiveBytes(const RecomputeProblem &problem, const RecomputeSequence &sequence);

/// The sequence without second runs.
RecomputeSequence getOriginal(const RecomputeProblem &problem);

} // namespace mlir::ferrule

#endif // FERRULE_PASSES_RECOMPUTE_RECOMPUTEPROBLEM_H_
