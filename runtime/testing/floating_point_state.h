// The control of the calling thread's floating-point unit: MXCSR on x86-64, FPCR on 64-bit ARM.
#ifndef FERRULE_RUNTIME_TESTING_FLOATING_POINT_STATE_H_
#define FERRULE_RUNTIME_TESTING_FLOATING_POINT_STATE_H_

#include <cstdint>

namespace ferrule::runtime::testing {

#if defined(__aarch64__)

inline constexpr uint64_t kFlushDenormals = uint64_t{1} << 24;  // FZ: of operands and results
inline constexpr uint64_t kRoundDown = uint64_t{2} << 22;       // RMode

inline uint64_t floating_point_state() {
  uint64_t state;
  asm volatile("mrs %0, fpcr" : "=r"(state));
  return state;
}
inline void set_floating_point_state(uint64_t state) { asm volatile("msr fpcr, %0" ::"r"(state)); }

#else

inline constexpr uint64_t kFlushDenormals = 0x8040;  // FTZ: results, DAZ: operands
inline constexpr uint64_t kRoundDown = 0x2000;       // RC

// Without the flags that operations leave behind.
inline uint64_t floating_point_state() { return __builtin_ia32_stmxcsr() & ~0x3fu; }
inline void set_floating_point_state(uint64_t state) { __builtin_ia32_ldmxcsr(static_cast<uint32_t>(state)); }

#endif

}  // namespace ferrule::runtime::testing

#endif  // FERRULE_RUNTIME_TESTING_FLOATING_POINT_STATE_H_
