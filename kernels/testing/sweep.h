// How far a test walks its random cases. Under emulation a kernel is some forty times as slow, so there a test of
// `./dev test` takes an even share of them, the same in each run; `./dev test --long` takes all.
#ifndef FERRULE_KERNELS_TESTING_SWEEP_H_
#define FERRULE_KERNELS_TESTING_SWEEP_H_

#include <cstdint>
#include <cstdlib>

namespace ferrule::kernels {

// `count` divided by FERRULE_SWEEP_DIVISOR (1 where it is not set), at least 1.
inline int64_t sweep(int64_t count) {
  const char* setting = std::getenv("FERRULE_SWEEP_DIVISOR");
  const int64_t divisor = setting == nullptr ? 1 : std::atoll(setting);
  return divisor <= 1 || count <= divisor ? (divisor <= 1 ? count : 1) : count / divisor;
}

}  // namespace ferrule::kernels

#endif  // FERRULE_KERNELS_TESTING_SWEEP_H_
