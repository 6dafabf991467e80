// What one core of this machine reaches, as a line of JSON: the denominators of `./dev bench kernels`.
//
//   machine_peak BYTES...
//
// {"fma_gflops": {"x86-64-v3": ..., "x86-64-v4": ...}, "load_gb_per_second": {"BYTES": ...}}: see
// kernels/base/peak/machine_peak.h.
#include "kernels/base/peak/machine_peak.h"

#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  using namespace ferrule::kernels;
  const VectorUnit narrow = vector_unit_of("x86-64-v3"), wide = vector_unit_of("x86-64-v4");
  if (narrow == VectorUnit::kNone) {
    std::fprintf(stderr, "machine_peak: this CPU lacks AVX2 or FMA\n");
    return 1;
  }
  std::printf("{\"fma_gflops\": {\"x86-64-v3\": %.2f", fma_peak_gflops(narrow));
  if (wide != VectorUnit::kNone) std::printf(", \"x86-64-v4\": %.2f", fma_peak_gflops(wide));
  std::printf("}, \"load_gb_per_second\": {");
  for (int i = 1; i < argc; ++i) {
    const int64_t bytes = std::strtoll(argv[i], nullptr, 10);
    if (bytes <= 0) {
      std::fprintf(stderr, "machine_peak: %s bytes; allowed: a number above 0\n", argv[i]);
      return 2;
    }
    const double speed = load_gb_per_second(wide == VectorUnit::kNone ? narrow : wide, bytes);
    std::printf("%s\"%s\": %.2f", i == 1 ? "" : ", ", argv[i], speed);
  }
  std::printf("}}\n");
}
