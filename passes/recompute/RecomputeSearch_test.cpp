// Training steps of networks whose parts differ in size, as a U-Net and a residual network: the choices of the chooser
// alone, which treats a value the same wherever it is read, do not reach these sizes.
#include "passes/recompute/RecomputeSearch.h"
#include "passes/recompute/TestNetwork.h"

#include <array>

#include <catch2/catch.hpp>

using namespace mlir::ferrule;

namespace {

constexpr uint64_t mib = 1 << 20;

/// Layers of a convolution, statistics and an activation, and the gradients of each. The gradient of the convolution's
/// result is written over that of the activation.
class ConvolutionalNetwork : public Network {
public:
  uint32_t addInput(uint64_t bytes) { return addValue(bytes, noNode, true); }

  uint32_t addInPlace(std::vector<uint32_t> reads, uint64_t bytes, double nanoseconds) {
    uint32_t result = addNode(std::move(reads), bytes, nanoseconds, true);
    problem.nodes.back().shares = {{0, 0}};
    return result;
  }

  /// Of a weight: it lies outside of the arena.
  void addUpdate(std::vector<uint32_t> reads, double nanoseconds) {
    problem.values[addNode(std::move(reads), 64, nanoseconds, false)].pinned = true;
  }

  uint32_t addLayer(std::vector<uint32_t> inputs, uint64_t bytes, double nanoseconds) {
    uint32_t product = addNode(inputs, bytes, nanoseconds, false);
    uint32_t statistics = addNode({product}, 64, nanoseconds / 20, false);
    layers.push_back({std::move(inputs), product, statistics, bytes, nanoseconds});
    return addInPlace({product, statistics}, bytes, nanoseconds / 20);
  }

  /// Of the last layer without one: the gradients of its inputs.
  std::vector<uint32_t> addGradient(uint32_t gradient) {
    Layer layer = layers.back();
    layers.pop_back();
    uint32_t sums = addNode({gradient, layer.product, layer.statistics}, 64, layer.nanoseconds / 20, false);
    uint32_t inner = addInPlace({gradient, layer.product, layer.statistics, sums}, layer.bytes, layer.nanoseconds / 20);
    std::vector<uint32_t> reads = layer.inputs, gradients;
    reads.push_back(inner);
    addUpdate(reads, layer.nanoseconds);
    for (uint32_t input : layer.inputs)
      if (!problem.values[input].pinned)
        gradients.push_back(
            addNode({inner}, problem.values[input].bytes, layer.nanoseconds / double(layer.inputs.size()), false));
    return gradients;
  }

private:
  struct Layer {
    std::vector<uint32_t> inputs;
    uint32_t product = 0, statistics = 0;
    uint64_t bytes = 0;
    double nanoseconds = 0;
  };

  std::vector<Layer> layers;
};

/// Two layers a level, of 8, 4 and 2 MiB a value on the way down and up again, and two of 1 MiB at the bottom.
RecomputeProblem makeUNet() {
  ConvolutionalNetwork net;
  constexpr std::array<uint64_t, 3> bytes{8 * mib, 4 * mib, 2 * mib};
  std::array<uint32_t, 3> skips{}, below{}, skipGradients{};
  uint32_t x = net.addInput(mib);
  auto addTwo = [&](std::vector<uint32_t> inputs, uint64_t size) {
    return net.addLayer({net.addLayer(std::move(inputs), size, 2e6)}, size, 2e6);
  };
  for (size_t level = 0; level < 3; ++level) {
    skips[level] = addTwo({x}, bytes[level]);
    x = net.addNode({skips[level]}, bytes[level] / 4, 1e5, false);
  }
  x = addTwo({x}, mib);
  for (size_t level = 3; level-- > 0;) {
    below[level] = x;
    x = addTwo({net.addNode({x}, bytes[level], 1e6, false), skips[level]}, bytes[level]);
  }
  uint32_t gradient = net.addInPlace({x}, bytes[0], 1e5);
  for (size_t level = 0; level < 3; ++level) {
    std::vector<uint32_t> gradients = net.addGradient(net.addGradient(gradient)[0]);
    skipGradients[level] = gradients[1];
    net.addUpdate({below[level], gradients[0]}, 1e6);
    gradient = net.addNode({gradients[0]}, net.problem.values[below[level]].bytes, 1e6, false);
  }
  gradient = net.addGradient(net.addGradient(gradient)[0])[0];
  for (size_t level = 3; level-- > 0;) {
    gradient = net.addInPlace({skipGradients[level], gradient, skips[level]}, bytes[level], 1e5);
    std::vector<uint32_t> gradients = net.addGradient(net.addGradient(gradient)[0]);
    gradient = gradients.empty() ? gradient : gradients[0];
  }
  return net.problem;
}

/// Three blocks at each of four levels, of 8 to 1 MiB: a narrow layer, another and a wide one, and the sum with the
/// block's input, whose sign the gradient reads.
RecomputeProblem makeResidualNetwork() {
  ConvolutionalNetwork net;
  uint32_t x = net.addLayer({net.addInput(mib)}, 8 * mib, 2e6);
  std::vector<uint32_t> sums;
  for (uint64_t bytes = 8 * mib; bytes >= mib; bytes /= 2)
    for (unsigned block = 0; block < 3; ++block) {
      if (block == 0 && !sums.empty())
        x = net.addNode({x}, bytes, 1e6, false);
      uint32_t inner = net.addLayer({net.addLayer({x}, bytes / 4, 1e6)}, bytes / 4, 2e6);
      x = net.addInPlace({net.addLayer({inner}, bytes, 1e6), x}, bytes, 1e5);
      sums.push_back(x);
    }
  uint32_t gradient = net.addInPlace({x}, mib, 1e5);
  for (size_t block = sums.size(); block-- > 0;) {
    uint64_t bytes = net.problem.values[sums[block]].bytes;
    uint32_t masked = net.addInPlace({gradient, sums[block]}, bytes, 1e5);
    uint32_t inner = net.addGradient(net.addGradient(net.addGradient(masked)[0])[0])[0];
    gradient = net.addInPlace({inner, masked}, bytes, 1e5);
    if (block % 3 == 0 && block > 0)
      gradient = net.addNode({gradient}, 2 * bytes, 1e6, false);
  }
  net.addGradient(gradient);
  return net.problem;
}

/// Budgets as parts of what a network takes without one, and the most of its time that may run again for each.
void checkBudgets(const RecomputeProblem &problem, const std::vector<std::pair<double, double>> &budgets) {
  RecomputeSearch search(problem);
  for (auto [part, share] : budgets) {
    uint64_t limit = uint64_t(part * double(search.getOriginalPeak()));
    std::optional<RecomputeCandidate> candidate = search.findCheapest(limit);
    INFO(part << " of " << search.getOriginalPeak());
    REQUIRE(candidate);
    CHECK(candidate->bytes <= limit);
    CHECK(candidate->sequence.nanoseconds < share * problem.getNanoseconds());
  }
}

TEST_CASE("a U-Net takes a quarter of its memory for half of its time more") {
  checkBudgets(makeUNet(), {{0.75, 0.01}, {0.5, 0.06}, {0.35, 0.2}, {0.25, 0.55}});
}

TEST_CASE("a residual network takes a quarter of its memory for a fifth of its time more") {
  checkBudgets(makeResidualNetwork(), {{0.75, 0.01}, {0.5, 0.03}, {0.35, 0.08}, {0.25, 0.2}});
}

} // namespace
