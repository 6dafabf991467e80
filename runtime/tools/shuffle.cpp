#include "runtime/tools/shuffle.h"

#include <cstdlib>
#include <utility>

namespace ferrule::tools {

std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  constexpr uint32_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
  constexpr uint32_t kKeyStep0 = 0x9E3779B9, kKeyStep1 = 0xBB67AE85;
  for (int round = 0; round < 10; ++round) {
    const uint64_t product0 = uint64_t{kMultiplier0} * counter[0];
    const uint64_t product1 = uint64_t{kMultiplier1} * counter[2];
    counter = {static_cast<uint32_t>(product1 >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(product1),
               static_cast<uint32_t>(product0 >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(product0)};
    key[0] += kKeyStep0;
    key[1] += kKeyStep1;
  }
  return counter;
}

std::vector<uint64_t> epoch_order(uint64_t sample_count, uint64_t seed, uint64_t epoch) {
  const auto low = [](uint64_t value) { return static_cast<uint32_t>(value); };
  const auto high = [](uint64_t value) { return static_cast<uint32_t>(value >> 32); };
  std::vector<std::pair<uint64_t, uint64_t>> keys(sample_count);
  for (uint64_t i = 0; i < sample_count; ++i) {
    const auto words = philox4x32({low(i), high(i), low(epoch), high(epoch)}, {low(seed), high(seed)});
    keys[i] = {words[0] | uint64_t{words[1]} << 32, i};
  }
  std::qsort(keys.data(), keys.size(), sizeof(keys[0]), [](const void* left, const void* right) {
    const auto &a = *static_cast<const std::pair<uint64_t, uint64_t>*>(left),
               &b = *static_cast<const std::pair<uint64_t, uint64_t>*>(right);
    return (a > b) - (a < b);
  });
  std::vector<uint64_t> order(sample_count);
  for (uint64_t i = 0; i < sample_count; ++i) order[i] = keys[i].second;
  return order;
}

}  // namespace ferrule::tools
