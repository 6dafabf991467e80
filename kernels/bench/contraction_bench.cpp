// GFLOP/s of matmul and the convolutions with constant shapes, one thread, against the FMA peak of the same run, and
// GB/s of the images of depthwise convolutions, against a plain copy of as many bytes.
//
//   bazel run //kernels/bench:contraction_bench
//
// Counts the operations that are performed: taps in the padding are not. Time is the thread's CPU time, the best of
// many runs.
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <string>

#include "kernels/conv/shape.h"
#include "kernels/base/peak/machine_peak.h"
#include "kernels/testing/random_data.h"
#include "kernels/testing/skeleton_table.h"

namespace ferrule::kernels {
using Instance = void (*)(void*, const float*, const float*, int64_t, int64_t);
}

#define FERRULE_DECLARE(name)                                                                       \
  extern "C" void v3_static_##name(void*, const float*, const float*, int64_t, int64_t);            \
  extern "C" void v4_static_##name(void*, const float*, const float*, int64_t, int64_t);
#define FERRULE_MATMUL(id, ...) FERRULE_DECLARE(matmul_##id)
#define FERRULE_CONV(id, ...) \
  FERRULE_DECLARE(conv_##id) FERRULE_DECLARE(conv_input_gradient_##id) FERRULE_DECLARE(conv_weight_gradient_##id)
#define FERRULE_DEPTHWISE(id, ...)                                                   \
  FERRULE_DECLARE(depthwise_##id) FERRULE_DECLARE(depthwise_input_gradient_##id)     \
  FERRULE_DECLARE(depthwise_weight_gradient_##id)
#include "kernels/bench/shapes.inc"
#undef FERRULE_MATMUL
#undef FERRULE_CONV
#undef FERRULE_DEPTHWISE

namespace ferrule::kernels {
namespace {

struct Output {
  float* data;
  int64_t columns;
};

// Output positions times taps of one axis that lie inside the input.
int64_t taps_inside(int64_t out, int64_t in, int64_t kernel, int64_t stride, int64_t pad, int64_t dilation) {
  int64_t count = 0;
  for (int64_t o = 0; o < out; ++o)
    for (int64_t k = 0; k < kernel; ++k) {
      const int64_t i = o * stride - pad + k * dilation;
      count += i >= 0 && i < in;
    }
  return count;
}

std::string joined(std::initializer_list<int64_t> sizes, const char* between) {
  std::string text;
  for (int64_t size : sizes) text += (text.empty() ? "" : between) + std::to_string(size);
  return text;
}

struct Work {
  std::string name;
  double flops;
  int64_t p, q, out, columns, tiles;
  Instance instances[2];
  double image_bytes = 0;  // of x and y, where memory bounds the speed
};

// The shortest of many runs, in seconds.
template <typename Run>
double best_of(int repeats, Run run) {
  double best = 1e9;
  for (int i = 0; i < repeats; ++i) {
    const double start = thread_seconds();
    run();
    best = std::min(best, thread_seconds() - start);
  }
  return best;
}

// GB/s, read and written, of a copy that moves `bytes` in all.
double copy_speed(double bytes, int repeats) {
  Buffer<float> from(static_cast<int64_t>(bytes / 8)), to(from.size());
  std::memset(from.data(), 0, from.size() * sizeof(float));
  return bytes * 1e-9 / best_of(repeats, [&] { std::memcpy(to.data(), from.data(), from.size() * sizeof(float)); });
}

void measure(const Work& work, int isa, double peak) {
  Random random(1);
  Buffer<float> p(work.p), q(work.q), out(work.out);
  random.fill(p);
  random.fill(q);
  Output ctx{out.data(), work.columns};
  const int repeats = static_cast<int>(std::min(300.0, 3 + 2e10 / work.flops));
  const double best =
      best_of(repeats, [&] { work.instances[isa](&ctx, p.data(), q.data(), 0, work.tiles); });
  const double gflops = work.flops / best * 1e-9;
  std::printf("  %-48s %9.1f us %7.1f GFLOP/s %4.0f%%", work.name.c_str(), best * 1e6, gflops, 100 * gflops / peak);
  if (work.image_bytes > 0) {
    std::printf(" %6.1f GB/s, copy %6.1f", work.image_bytes * 1e-9 / best, copy_speed(work.image_bytes, repeats));
  }
  std::printf("\n");
}

#define FERRULE_INSTANCES(name) \
  { v3_static_##name, v4_static_##name }

std::vector<Work> all_work() {
  std::vector<Work> all;
  const auto matmul = [&](int64_t M, int64_t N, int64_t K, int64_t tile_m, int64_t tile_panels, const Instance(&run)[2]) {
    all.push_back({"matmul " + std::to_string(M) + "x" + std::to_string(N) + "x" + std::to_string(K) + " tile " +
                       std::to_string(tile_m) + "x" + std::to_string(tile_panels * 16),
                   2.0 * M * N * K, M * K, ceil_div(N, 16) * 16 * K, M * N, N, matmul_tiles(M, N, tile_m, tile_panels),
                   {run[0], run[1]}});
  };
  const auto conv = [&](const ConvShape& s, const Instance(&forward)[2], const Instance(&input)[2],
                        const Instance(&weight)[2]) {
    const bool depthwise = s.groups > 1;
    const double flops = 2.0 * s.batch * taps_inside(s.out_h, s.in_h, s.kernel_h, s.stride_h, s.pad_top, s.dilation_h) *
                         taps_inside(s.out_w, s.in_w, s.kernel_w, s.stride_w, s.pad_left, s.dilation_w) *
                         (s.in_c / s.groups) * s.out_c;
    const int64_t x = s.batch * s.in_h * s.in_w * s.in_c, y = s.batch * s.out_h * s.out_w * s.out_c;
    const int64_t taps = s.kernel_h * s.kernel_w;
    const int64_t in_g = s.in_c / s.groups, out_g = depthwise ? 1 : s.out_c;
    const int64_t w = taps * in_g * ceil_div(s.out_c, 16) * 16, wt = taps * out_g * ceil_div(s.in_c, 16) * 16;
    const std::string kind = depthwise ? "depthwise " : "conv ";
    const std::string name = joined({s.batch, s.in_h, s.in_w}, "x") + " " + joined({s.in_c, s.out_c}, "->") + " " +
                             joined({s.kernel_h, s.kernel_w}, "x") + (s.stride_w > 1 ? " stride 2" : "");
    const auto tiles = [&](int64_t rows) { return depthwise ? depthwise_tiles(rows, s.in_c) : rows; };
    const int64_t weight_tiles = depthwise ? depthwise_weight_gradient_tiles(s.in_c, 1, s.kernel_h)
                                           : conv_weight_gradient_tiles(s.groups, s.in_c, s.out_c, 1, s.kernel_h,
                                                                        s.kernel_w, s.dilation_w);
    const double image_bytes = depthwise ? 4.0 * (x + y) : 0;
    const auto add = [&](const std::string& what, int64_t p, int64_t q, int64_t out, int64_t columns, int64_t count,
                         const Instance(&run)[2]) {
      all.push_back({kind + what + name, flops, p, q, out, columns, count, {run[0], run[1]}, image_bytes});
    };
    const int64_t blocks = depthwise ? 1 : conv_column_blocks(s.groups, s.out_c);
    add("", x, w, y, s.out_c, tiles(s.batch * s.out_h) * blocks, forward);
    add("input gradient ", y, wt, x, s.in_c, tiles(s.batch * s.in_h), input);
    add("weight gradient ", x, y, w, 16, weight_tiles, weight);
  };
#define FERRULE_MATMUL(id, ...)                                     \
  {                                                                 \
    const Instance run[2] = FERRULE_INSTANCES(matmul_##id);         \
    matmul(__VA_ARGS__, run);                                       \
  }
#define FERRULE_CONV_AS(kind, id, ...)                                          \
  {                                                                             \
    const Instance forward[2] = FERRULE_INSTANCES(kind##_##id);                 \
    const Instance input[2] = FERRULE_INSTANCES(kind##_input_gradient_##id);    \
    const Instance weight[2] = FERRULE_INSTANCES(kind##_weight_gradient_##id);  \
    conv({__VA_ARGS__}, forward, input, weight);                                \
  }
#define FERRULE_CONV(id, ...) FERRULE_CONV_AS(conv, id, __VA_ARGS__)
#define FERRULE_DEPTHWISE(id, ...) FERRULE_CONV_AS(depthwise, id, __VA_ARGS__)
#include "kernels/bench/shapes.inc"
  return all;
}

}  // namespace
}  // namespace ferrule::kernels

int main() {
  using namespace ferrule::kernels;
  const auto tables = runnable_skeletons();
  for (size_t isa = 0; isa < tables.size(); ++isa) {
    const double peak = fma_peak_gflops(isa == 1 ? VectorUnit::kAvx512 : VectorUnit::kAvx2);
    std::printf("%s, FMA peak %.1f GFLOP/s\n", tables[isa]->target, peak);
    for (const Work& work : all_work()) measure(work, static_cast<int>(isa), peak);
  }
}
