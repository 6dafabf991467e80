#include "kernels/base/peak/machine_peak.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace ferrule::kernels {
namespace {

constexpr int kRepeats = 20;
constexpr int64_t kLineBytes = 64;
constexpr int64_t kBlockBytes = 8 * kLineBytes;  // as many loads are under way

#if defined(__x86_64__)

// Twelve chains, more than latency times pipes on any x86 core: f32 lanes 16 (512 bits) or 8.
constexpr int kChains = 12;
#define FERRULE_TWELVE(chain)                                                                                         \
  chain(0) chain(1) chain(2) chain(3) chain(4) chain(5) chain(6) chain(7) chain(8) chain(9) chain(10) chain(11)
#define FERRULE_CLOBBERS                                                                                              \
  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11"
#define FERRULE_FMA_512(n) "vfmadd231ps %%zmm30, %%zmm31, %%zmm" #n "\n"
#define FERRULE_FMA_256(n) "vfmadd231ps %%ymm14, %%ymm15, %%ymm" #n "\n"

void multiply_add(VectorUnit unit, int64_t steps) {
  if (unit == VectorUnit::kAvx512) {
    for (int64_t i = 0; i < steps; ++i) asm volatile(FERRULE_TWELVE(FERRULE_FMA_512)::: FERRULE_CLOBBERS);
  } else {
    for (int64_t i = 0; i < steps; ++i) asm volatile(FERRULE_TWELVE(FERRULE_FMA_256)::: FERRULE_CLOBBERS);
  }
}

// One load a line of 512 bits, or two: 256 bits are enough to use all of a core's bandwidth beyond its first cache. The
// eight lines are one piece of assembly: what stands between loads would take part of the time of those that hit.
#define FERRULE_EIGHT(line) line(0) line(1) line(2) line(3) line(4) line(5) line(6) line(7)
#define FERRULE_LOAD_512(n) "vmovaps " #n "*64(%0), %%zmm0\n"
#define FERRULE_LOAD_256(n) "vmovaps " #n "*64(%0), %%ymm0\nvmovaps " #n "*64+32(%0), %%ymm1\n"

void load_all(VectorUnit unit, const char* data, int64_t byte_size) {
  for (int64_t i = 0; i < byte_size; i += kBlockBytes) {
    if (unit == VectorUnit::kAvx512) {
      asm volatile(FERRULE_EIGHT(FERRULE_LOAD_512)::"r"(data + i) : "xmm0");
    } else {
      asm volatile(FERRULE_EIGHT(FERRULE_LOAD_256)::"r"(data + i) : "xmm0", "xmm1");
    }
  }
}

// Read from the processor: the compiler's __builtin_cpu_supports brings 5 KB of tables along.
bool has(VectorUnit unit) {
  uint32_t eax, ebx, ecx = 0, edx;
  if (unit != VectorUnit::kAvx2 && unit != VectorUnit::kAvx512) return false;
  if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx)) return false;
  if ((ecx & bit_FMA) == 0 || (ecx & bit_OSXSAVE) == 0) return false;
  uint32_t saved, high;  // the registers that the system saves: XMM and YMM; of AVX-512 masks and both halves of ZMM
  asm("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
  const uint32_t wanted = unit == VectorUnit::kAvx512 ? 0xe6 : 0x6;
  if ((saved & wanted) != wanted || !__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) return false;
  return (ebx & (unit == VectorUnit::kAvx512 ? bit_AVX512F : bit_AVX2)) != 0;
}

#elif defined(__aarch64__)

constexpr int kChains = 16;  // four pipes of latency four
#define FERRULE_FMA_128(n) "fmla v" #n ".4s, v30.4s, v31.4s\n"

void multiply_add(VectorUnit, int64_t steps) {
  for (int64_t i = 0; i < steps; ++i) {
    asm volatile(FERRULE_FMA_128(0) FERRULE_FMA_128(1) FERRULE_FMA_128(2) FERRULE_FMA_128(3) FERRULE_FMA_128(4)
                     FERRULE_FMA_128(5) FERRULE_FMA_128(6) FERRULE_FMA_128(7) FERRULE_FMA_128(16) FERRULE_FMA_128(17)
                         FERRULE_FMA_128(18) FERRULE_FMA_128(19) FERRULE_FMA_128(20) FERRULE_FMA_128(21)
                             FERRULE_FMA_128(22) FERRULE_FMA_128(23)::
                                 : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v16", "v17", "v18", "v19", "v20",
                                   "v21", "v22", "v23");
  }
}

void load_all(VectorUnit, const char* data, int64_t byte_size) {
  for (int64_t i = 0; i < byte_size; i += kBlockBytes) {
    for (int64_t j = 0; j < kBlockBytes; j += kLineBytes) {
      asm volatile("ldp q0, q1, [%0]\nldp q2, q3, [%0, #32]" ::"r"(data + i + j) : "v0", "v1", "v2", "v3");
    }
  }
}

bool has(VectorUnit unit) { return unit == VectorUnit::kNeon; }

#endif

int64_t lanes(VectorUnit unit) { return unit == VectorUnit::kAvx512 ? 16 : unit == VectorUnit::kAvx2 ? 8 : 4; }

// The least seconds of `kRepeats` calls.
template <typename Work>
double least_seconds(Work work) {
  double best = 1e9;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    const double start = thread_seconds();
    work();
    const double seconds = thread_seconds() - start;
    if (seconds < best) best = seconds;
  }
  return best;
}

}  // namespace

VectorUnit vector_unit_of(const char* target) {
  VectorUnit unit = VectorUnit::kNone;
  if (strcmp(target, "x86-64-v4") == 0) unit = VectorUnit::kAvx512;
  if (strcmp(target, "x86-64-v3") == 0) unit = VectorUnit::kAvx2;
  if (strncmp(target, "aarch64", strlen("aarch64")) == 0) unit = VectorUnit::kNeon;
  return has(unit) ? unit : VectorUnit::kNone;
}

double thread_seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double fma_peak_gflops(VectorUnit unit) {
  if (unit == VectorUnit::kNone) return 0;
  constexpr int64_t kSteps = 100000;
  const double seconds = least_seconds([unit] { multiply_add(unit, kSteps); });
  return static_cast<double>(kSteps * kChains * lanes(unit) * 2) / seconds * 1e-9;
}

double load_gb_per_second(VectorUnit unit, int64_t byte_size) {
  if (unit == VectorUnit::kNone) return 0;
  const int64_t size = byte_size < kBlockBytes ? kBlockBytes : byte_size / kBlockBytes * kBlockBytes;
  char* data = static_cast<char*>(aligned_alloc(kLineBytes, static_cast<size_t>(size)));
  if (data == nullptr) return 0;
  memset(data, 1, static_cast<size_t>(size));
  const int64_t passes = size < 8'000'000 ? 8'000'000 / size : 1;
  const double seconds = least_seconds([&] {
    for (int64_t pass = 0; pass < passes; ++pass) load_all(unit, data, size);
  });
  free(data);
  return static_cast<double>(size) * static_cast<double>(passes) / seconds * 1e-9;
}

}  // namespace ferrule::kernels
