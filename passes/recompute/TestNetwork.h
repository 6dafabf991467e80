// What the tests of choices write their problems with.
#ifndef FERRULE_PASSES_RECOMPUTE_TESTNETWORK_H_
#define FERRULE_PASSES_RECOMPUTE_TESTNETWORK_H_

#include "passes/recompute/RecomputeProblem.h"

#include <utility>
#include <vector>

namespace mlir::ferrule {

/// A problem that is written down node by node.
struct Network {
  RecomputeProblem problem;

  uint32_t addValue(uint64_t bytes, uint32_t producer, bool pinned) {
    problem.values.push_back({bytes, pinned, producer, false});
    return uint32_t(problem.values.size() - 1);
  }
  /// A node with one result, which it returns.
  uint32_t addNode(std::vector<uint32_t> reads, uint64_t bytes, double nanoseconds, bool cheap, bool pinned = false) {
    uint32_t result = addValue(bytes, uint32_t(problem.nodes.size()), pinned);
    RecomputeNode node;
    node.reads = std::move(reads);
    node.writes = {result};
    node.nanoseconds = nanoseconds;
    node.clonable = true;
    node.cheap = cheap;
    problem.nodes.push_back(node);
    return result;
  }
  /// One more result of the last node, which a recipe makes of `reads`. Recipes are numbered when all nodes are known.
  uint32_t addMadeByRecipe(std::vector<uint32_t> reads, uint64_t bytes, double nanoseconds) {
    uint32_t result = addValue(bytes, uint32_t(problem.nodes.size() - 1), false);
    problem.nodes.back().writes.push_back(result);
    RecomputeNode recipe;
    recipe.reads = std::move(reads);
    recipe.writes = {result};
    recipe.nanoseconds = nanoseconds;
    recipe.clonable = recipe.cheap = true;
    problem.recipes.push_back(recipe);
    return result;
  }
  void numberRecipes() {
    for (uint32_t recipe = 0; recipe < problem.recipes.size(); ++recipe)
      problem.values[problem.recipes[recipe].writes.front()].recipe = uint32_t(problem.nodes.size()) + recipe;
  }
};

} // namespace mlir::ferrule

#endif // FERRULE_PASSES_RECOMPUTE_TESTNETWORK_H_
