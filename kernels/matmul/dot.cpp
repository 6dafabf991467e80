// Inner products of rows: rule (c), where a lane takes a product by one fused multiply-add.
#include "kernels/reduce/reduce.h"

namespace ferrule::kernels {
namespace {

// ROWS rows at once. Lanes that a load leaves out are +0 in both operands and change no lane.
template <typename T, int ROWS>
FERRULE_INLINE void dot_rows_at(void* ctx, FerruleLoad load, FerruleStore store, int64_t row, int64_t n) {
  T total[ROWS];
#pragma unroll
  for (int r = 0; r < ROWS; ++r) total[r] = 0;
  for (int64_t block = 0; block < n; block += kReductionBlock) {
    const int64_t end = block + kReductionBlock < n ? block + kReductionBlock : n;
    Vec<T> lanes[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; ++r) lanes[r] = Vec<T>{};
    const auto step = [&](int64_t i, int64_t count) __attribute__((always_inline)) {
#pragma unroll
      for (int r = 0; r < ROWS; ++r) {
        Vec<T> pair[2];
        load(ctx, row + r, i, 0, count, pair);
        lanes[r] = fused(pair[0], pair[1], lanes[r]);
      }
    };
    int64_t i = block;
    for (; i + kLanes <= end; i += kLanes) step(i, kLanes);
    if (n % kLanes != 0 && i < end) step(i, n % kLanes);
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      total[r] = total[r] + fold_lanes<T>(lanes[r], [](auto a, auto b) { return a + b; });
    }
  }
#pragma clang loop unroll(disable)
  for (int r = 0; r < ROWS; ++r) {
    const Vec<T> result = splat(total[r]);
    store(ctx, row + r, 0, 1, &result);
  }
}

}  // namespace
}  // namespace ferrule::kernels

#define FERRULE_DOT(S, T)                                                                                             \
  FERRULE_DEFINE(void, ferrule_dot_rows_##S)                                                                          \
  (void* ctx, FerruleLoad load, FerruleStore store, int64_t outer, int64_t n, int64_t tile_rows, int64_t tile_begin,  \
   int64_t tile_end) {                                                                                                \
    using namespace ferrule::kernels;                                                                                 \
    for_rows(                                                                                                         \
        outer, tile_rows, tile_begin, tile_end,                                                                       \
        [&](int64_t row) __attribute__((always_inline)) { dot_rows_at<T, 4>(ctx, load, store, row, n); },             \
        [&](int64_t row) __attribute__((always_inline)) { dot_rows_at<T, 1>(ctx, load, store, row, n); });            \
  }
FERRULE_DOT(f32, float)
FERRULE_DOT(f64, double)
