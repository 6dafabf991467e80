#include "kernels/testing/fma_peak.h"

#include <time.h>

namespace ferrule::kernels {

double thread_seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

namespace {

// Twelve chains, more than latency times pipes on any x86 core: f32 lanes 16 (512 bits) or 8.
#define FERRULE_CHAIN(r, n) "vfmadd231ps %%" r "30, %%" r "31, %%" r #n "\n"
#define FERRULE_CHAINS(r)                                                                                       \
  FERRULE_CHAIN(r, 0) FERRULE_CHAIN(r, 1) FERRULE_CHAIN(r, 2) FERRULE_CHAIN(r, 3) FERRULE_CHAIN(r, 4)           \
  FERRULE_CHAIN(r, 5) FERRULE_CHAIN(r, 6) FERRULE_CHAIN(r, 7) FERRULE_CHAIN(r, 8) FERRULE_CHAIN(r, 9)           \
  FERRULE_CHAIN(r, 10) FERRULE_CHAIN(r, 11)

void run_512(int64_t steps) {
  for (int64_t i = 0; i < steps; ++i) {
    asm volatile(FERRULE_CHAINS("zmm")::: "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
                 "xmm10", "xmm11");
  }
}

#undef FERRULE_CHAIN
#define FERRULE_CHAIN(r, n) "vfmadd231ps %%" r "14, %%" r "15, %%" r #n "\n"

void run_256(int64_t steps) {
  for (int64_t i = 0; i < steps; ++i) {
    asm volatile(FERRULE_CHAINS("ymm")::: "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
                 "xmm10", "xmm11");
  }
}

}  // namespace

double fma_peak_gflops(bool wide) {
  const int64_t steps = 100000;
  double best = 1e9;
  for (int repeat = 0; repeat < 20; ++repeat) {
    const double start = thread_seconds();
    wide ? run_512(steps) : run_256(steps);
    const double seconds = thread_seconds() - start;
    if (seconds < best) best = seconds;
  }
  return static_cast<double>(steps) * 12 * (wide ? 32 : 16) / best * 1e-9;
}

}  // namespace ferrule::kernels
