// Random chains with residuals, and what comes of the choices for them. Every sequence is run symbolically: each step
// must read instances that were made before, of the values that its node reads.
#include "passes/recompute/RecomputeSearch.h"
#include "passes/recompute/TestNetwork.h"

#include <algorithm>
#include <random>

#include <catch2/catch.hpp>

using namespace mlir::ferrule;

namespace {

/// A forward pass of `depth` layers and the backward pass that reads each layer's input and result.
Network makeNetwork(unsigned depth, unsigned seed) {
  std::mt19937 random(seed);
  auto pick = [&](unsigned low, unsigned high) { return low + random() % (high - low + 1); };
  Network network;
  std::vector<uint32_t> inputs, products;
  uint32_t x = network.addValue(64 * pick(1, 16), noNode, true);
  for (unsigned layer = 0; layer < depth; ++layer) {
    uint64_t bytes = 64 * pick(1, 16);
    uint32_t product = network.addNode({x}, bytes, 1000 * pick(1, 9), false);
    inputs.push_back(x);
    products.push_back(product);
    std::vector<uint32_t> reads{product};
    if (layer > 2 && pick(0, 2) == 0)
      reads.push_back(products[layer - pick(1, 3)]); // A skip.
    bool isFused = pick(0, 1) == 0;
    x = isFused ? network.addMadeByRecipe({product}, bytes, 100) : network.addNode(reads, bytes, 100, true);
  }
  uint32_t gradient = x;
  for (unsigned layer = depth; layer-- > 0;) {
    gradient = network.addNode({gradient, inputs[layer], products[layer]}, 64 * pick(1, 16), 2000, false, layer == 0);
    network.addNode({gradient, inputs[layer]}, 64, 1000, false, true);
  }
  network.numberRecipes();
  return network;
}

void checkSequence(const RecomputeProblem &problem, const RecomputeSequence &sequence) {
  std::vector<bool> made(sequence.instances.size(), false);
  for (uint32_t value = 0; value < problem.values.size(); ++value)
    made[value] = problem.values[value].producer == noNode;
  uint32_t next = 0;
  double added = 0;
  for (const RecomputeStep &step : sequence.steps) {
    const RecomputeNode &node = problem.getNode(step.node);
    CHECK((step.isClone || !problem.isRecipe(step.node)));
    RecomputeNumbers reads = sequence.getReads(step), writes = sequence.getWrites(step);
    REQUIRE(reads.size() == node.reads.size());
    REQUIRE(writes.size() == node.writes.size());
    for (size_t i = 0; i < reads.size(); ++i) {
      CHECK(made[reads[i]]);
      CHECK(sequence.instances[reads[i]].value == node.reads[i]);
    }
    if (step.isClone)
      added += node.nanoseconds;
    else
      CHECK(step.node == next++);
    for (size_t i = 0; i < writes.size(); ++i) {
      CHECK(!made[writes[i]]);
      CHECK(sequence.instances[writes[i]].value == node.writes[i]);
      made[writes[i]] = true;
    }
  }
  CHECK(next == problem.nodes.size());
  CHECK(added == Approx(sequence.nanoseconds));
}

uint64_t getPeak(const RecomputeProblem &problem, const RecomputeSequence &sequence) {
  std::vector<uint64_t> live = getLiveBytes(problem, sequence);
  return *std::max_element(live.begin(), live.end());
}

TEST_CASE("each choice is a program that computes the same") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    Network network = makeNetwork(3 + seed % 60, seed);
    RecomputeGaps gaps(network.problem);
    RecomputeChooser chooser(network.problem, gaps);
    for (unsigned part = 1; part <= 8; ++part) {
      std::optional<RecomputeChoice> choice = chooser.choose(chooser.getOriginalPeak() * part / 8);
      if (choice)
        checkSequence(network.problem, expandChoice(network.problem, gaps, *choice));
    }
  }
}

TEST_CASE("arbitrary policies are programs that compute the same") {
  std::mt19937 random(5);
  for (unsigned seed = 0; seed < 200; ++seed) {
    Network network = makeNetwork(3 + seed % 40, seed);
    RecomputeGaps gaps(network.problem);
    RecomputeChoice choice;
    choice.shortGap = random() % 5;
    for (uint32_t gap = 0; gap < gaps.getCount(); ++gap)
      choice.gaps.push_back(RecomputePolicy(random() % 3));
    for (RecomputeNode &node : network.problem.nodes)
      node.clonable = random() % 4 != 0;
    checkSequence(network.problem, expandChoice(network.problem, gaps, choice));
  }
}

TEST_CASE("each search ends with a program that computes the same") {
  for (unsigned seed = 0; seed < 30; ++seed) {
    Network network = makeNetwork(3 + seed, seed);
    RecomputeSearch search(network.problem);
    RecomputeCandidate smallest = search.findSmallest();
    checkSequence(network.problem, smallest.sequence);
    CHECK(getPeak(network.problem, smallest.sequence) == smallest.bytes);
    for (unsigned part = 2; part <= 8; part += 2)
      if (std::optional<RecomputeCandidate> cheapest = search.findCheapest(search.getOriginalPeak() * part / 8)) {
        checkSequence(network.problem, cheapest->sequence);
        CHECK(getPeak(network.problem, cheapest->sequence) <= search.getOriginalPeak() * part / 8);
      }
  }
}

TEST_CASE("a target that the network takes anyway costs nothing") {
  Network network = makeNetwork(20, 1);
  RecomputeGaps gaps(network.problem);
  RecomputeChooser chooser(network.problem, gaps);
  std::optional<RecomputeChoice> choice = chooser.choose(2 * chooser.getOriginalPeak());
  REQUIRE(choice);
  CHECK(expandChoice(network.problem, gaps, *choice).nanoseconds == 0);
  CHECK(getPeak(network.problem, getOriginal(network.problem)) == chooser.getOriginalPeak());
}

/// Twenty layers of a product and an activation, 1024 bytes each, both read by the gradient. With a recipe the
/// activations are made again of the products, which takes 20 * 100 ns and no second copy of a product.
TEST_CASE("a recipe is taken before the node whose results it makes") {
  constexpr unsigned depth = 20;
  Network network;
  std::vector<uint32_t> products, activations;
  uint32_t x = network.addValue(1024, noNode, true);
  for (unsigned layer = 0; layer < depth; ++layer) {
    products.push_back(network.addNode({x}, 1024, 10000, false));
    activations.push_back(x = network.addMadeByRecipe({products.back()}, 1024, 100));
  }
  for (unsigned layer = depth; layer-- > 0;)
    x = network.addNode({x, products[layer], activations[layer]}, 1024, 20000, false, layer == 0);
  network.numberRecipes();
  RecomputeGaps gaps(network.problem);
  RecomputeChooser chooser(network.problem, gaps);
  CHECK(chooser.getOriginalPeak() == (2 * depth + 1) * 1024);
  // The products, and of a layer the activation, the gradient that is read and the one that is made. What was used a
  // few instructions ago is not dropped: two more.
  std::optional<RecomputeChoice> choice = chooser.choose((depth + 3) * 1024);
  REQUIRE(choice);
  RecomputeSequence sequence = expandChoice(network.problem, gaps, *choice);
  checkSequence(network.problem, sequence);
  CHECK(getPeak(network.problem, sequence) <= (depth + 5) * 1024);
  CHECK(sequence.nanoseconds <= depth * 100.0);
  CHECK(std::all_of(sequence.steps.begin(), sequence.steps.end(),
                    [&](const RecomputeStep &step) { return !step.isClone || network.problem.isRecipe(step.node); }));
}

/// 400 equal layers of 1024 bytes, each kept for the backward pass: 400 KiB. With segments of s layers of which one
/// value is kept, 400 / s + s values are live at the end, least at s = 20: some 40 KiB, for one more forward pass.
TEST_CASE("a chain takes about the square root of its length") {
  constexpr unsigned depth = 400;
  Network network;
  std::vector<uint32_t> inputs;
  uint32_t x = network.addValue(1024, noNode, true);
  for (unsigned layer = 0; layer < depth; ++layer) {
    inputs.push_back(x);
    x = network.addNode({x}, 1024, 1000, false);
  }
  for (unsigned layer = depth; layer-- > 0;)
    x = network.addNode({x, inputs[layer]}, 1024, 2000, false, layer == 0);
  RecomputeGaps gaps(network.problem);
  RecomputeChooser chooser(network.problem, gaps);
  CHECK(chooser.getOriginalPeak() >= depth * 1024);
  std::optional<RecomputeChoice> choice = chooser.choose(48 * 1024);
  REQUIRE(choice);
  RecomputeSequence sequence = expandChoice(network.problem, gaps, *choice);
  checkSequence(network.problem, sequence);
  CHECK(getPeak(network.problem, sequence) <= 48 * 1024);
  CHECK(sequence.nanoseconds <= depth * 1000.0);
  CHECK_FALSE(chooser.choose(16 * 1024));
}

} // namespace
