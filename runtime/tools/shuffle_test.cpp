#include "runtime/tools/shuffle.h"

#include <algorithm>
#include <numeric>

#include "catch2/catch.hpp"

namespace ferrule::tools {
namespace {

// The known answers of the authors' Random123 library for philox4x32-10.
TEST_CASE("Philox4x32-10 gives the published words") {
  using Words = std::array<uint32_t, 4>;
  CHECK(philox4x32({0, 0, 0, 0}, {0, 0}) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox4x32({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}) == Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("an epoch's order is a permutation that depends on seed and epoch only") {
  const std::vector<uint64_t> order = epoch_order(1000, 7, 3);
  std::vector<uint64_t> sorted = order, all(1000);
  std::sort(sorted.begin(), sorted.end());
  std::iota(all.begin(), all.end(), 0);
  CHECK(sorted == all);
  CHECK(order != all);
  CHECK(epoch_order(1000, 7, 3) == order);
  CHECK(epoch_order(1000, 7, 4) != order);
  CHECK(epoch_order(1000, 8, 3) != order);
  CHECK(epoch_order(0, 7, 3).empty());
}

// ferrule.data.shuffle.epoch_order(8, seed=7, epoch) of the Python package.
TEST_CASE("the order is the one that Python's loaders use") {
  CHECK(epoch_order(8, 7, 0) == std::vector<uint64_t>{2, 3, 5, 6, 7, 0, 1, 4});
  CHECK(epoch_order(8, (1ull << 40) + 7, 1ull << 33) == std::vector<uint64_t>{7, 5, 2, 3, 6, 0, 1, 4});
}

}  // namespace
}  // namespace ferrule::tools
