// The order of the samples of a shuffled epoch: one rule for ferrule-run and Python's ferrule.data, so that both train
// the same network bit for bit.
//
// Sample i of epoch e (from 0) under a seed has the key x0 | x1 << 32, where x0 .. x3 are the words of Philox4x32-10
// with counter words (i, i >> 32, e, e >> 32) and key words (seed, seed >> 32). The epoch's order is the samples sorted
// by (key, i). Any part of it can be computed anew from the seed: a checkpoint need only hold the position.
#ifndef FERRULE_RUNTIME_TOOLS_SHUFFLE_H_
#define FERRULE_RUNTIME_TOOLS_SHUFFLE_H_

#include <array>
#include <cstdint>
#include <vector>

namespace ferrule::tools {

// Philox4x32 with 10 rounds (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3).
std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

std::vector<uint64_t> epoch_order(uint64_t sample_count, uint64_t seed, uint64_t epoch);

}  // namespace ferrule::tools

#endif  // FERRULE_RUNTIME_TOOLS_SHUFFLE_H_
