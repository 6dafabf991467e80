// What one core of this machine reaches, as a line of JSON: the denominators of `./dev bench kernels`.
//
//   machine_peak BYTES...
//
// {"fma_gflops": {"x86-64-v3": ..., "x86-64-v4": ...}, "load_gb_per_second": {"BYTES": ...}}: f32 operations of
// independent fused multiply-adds, and loads from a buffer of so many bytes that is read again and again, so that its
// size decides which cache it comes from. CPU time of the thread, the best of many runs.
#include <immintrin.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "kernels/testing/fma_peak.h"

namespace ferrule::kernels {
namespace {

constexpr int64_t kLineBytes = 64;
constexpr int64_t kUnrolledLines = 8;  // as many loads are under way

struct FreeDeleter {
  void operator()(void* p) const { std::free(p); }
};

// Two loads a line: 256 bits are enough to use all of a core's bandwidth beyond its first cache.
__attribute__((target("avx2"))) void load_all(const char* data, int64_t bytes) {
  for (int64_t i = 0; i < bytes; i += kUnrolledLines * kLineBytes) {
    for (int64_t j = 0; j < kUnrolledLines * kLineBytes; j += 32) {
      asm volatile("vmovaps %0, %%ymm0" ::"m"(*reinterpret_cast<const __m256i*>(data + i + j)) : "xmm0");
    }
  }
}

// One load a line, for what is in the first cache.
__attribute__((target("avx512f"))) void load_all_wide(const char* data, int64_t bytes) {
  for (int64_t i = 0; i < bytes; i += kUnrolledLines * kLineBytes) {
    for (int64_t j = 0; j < kUnrolledLines * kLineBytes; j += kLineBytes) {
      asm volatile("vmovaps %0, %%zmm0" ::"m"(*reinterpret_cast<const __m512i*>(data + i + j)) : "xmm0");
    }
  }
}

double load_gb_per_second(int64_t bytes, bool wide) {
  const int64_t block = kUnrolledLines * kLineBytes;
  const int64_t size = std::max(block, bytes / block * block);
  const std::unique_ptr<char, FreeDeleter> data(static_cast<char*>(std::aligned_alloc(kLineBytes, size)));
  if (!data) return 0;
  std::fill_n(data.get(), size, 1);
  const int64_t passes = std::max<int64_t>(1, 8'000'000 / size);
  double best = 1e9;
  for (int repeat = 0; repeat < 20; ++repeat) {
    const double start = thread_seconds();
    for (int64_t pass = 0; pass < passes; ++pass) wide ? load_all_wide(data.get(), size) : load_all(data.get(), size);
    best = std::min(best, thread_seconds() - start);
  }
  return static_cast<double>(size) * passes / best * 1e-9;
}

}  // namespace
}  // namespace ferrule::kernels

int main(int argc, char** argv) {
  using namespace ferrule::kernels;
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) {
    std::fprintf(stderr, "machine_peak: this CPU lacks AVX2 or FMA\n");
    return 1;
  }
  const bool wide = __builtin_cpu_supports("avx512f");
  std::printf("{\"fma_gflops\": {\"x86-64-v3\": %.2f", fma_peak_gflops(false));
  if (wide) std::printf(", \"x86-64-v4\": %.2f", fma_peak_gflops(true));
  std::printf("}, \"load_gb_per_second\": {");
  for (int i = 1; i < argc; ++i) {
    const int64_t bytes = std::strtoll(argv[i], nullptr, 10);
    if (bytes <= 0) {
      std::fprintf(stderr, "machine_peak: %s bytes; allowed: a number above 0\n", argv[i]);
      return 2;
    }
    std::printf("%s\"%s\": %.2f", i == 1 ? "" : ", ", argv[i], load_gb_per_second(bytes, wide));
  }
  std::printf("}}\n");
}
