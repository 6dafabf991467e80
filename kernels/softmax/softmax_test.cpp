// Softmax and cross entropy against the scalar reference, bit for bit.
#include "catch2/catch.hpp"
#include "kernels/softmax/reference.h"
#include "kernels/testing/matrix_store.h"
#include "kernels/testing/random_data.h"
#include "kernels/testing/skeleton_table.h"
#include "kernels/testing/sweep.h"

namespace ferrule::kernels {
namespace {

template <typename T>
struct Family;
#define FERRULE_FAMILY(T, S)                                                        \
  template <>                                                                       \
  struct Family<T> {                                                                \
    static auto softmax(const SkeletonTable& t) { return t.ferrule_softmax_##S; }   \
    static auto log_softmax(const SkeletonTable& t) { return t.ferrule_log_softmax_##S; } \
    static auto loss(const SkeletonTable& t) { return t.ferrule_cross_entropy_rows_##S; } \
    static auto gradient(const SkeletonTable& t) { return t.ferrule_cross_entropy_rows_gradient_##S; } \
  };
FERRULE_FAMILY(float, f32)
FERRULE_FAMILY(double, f64)
#undef FERRULE_FAMILY

// ctx of both callbacks.
template <typename T>
struct Rows {
  const T* x;
  T* y;
  int64_t n;
};
template <typename T>
void load_row(void* ctx, int64_t row, int64_t i, int64_t, int64_t count, void* out) {
  const auto* rows = static_cast<const Rows<T>*>(ctx);
  std::memset(out, 0, 16 * sizeof(T));
  std::memcpy(out, rows->x + row * rows->n + i, count * sizeof(T));
}
template <typename T>
void store_row(void* ctx, int64_t row, int64_t col, int64_t count, const void* in) {
  const auto* rows = static_cast<const Rows<T>*>(ctx);
  std::memcpy(rows->y + row * rows->n + col, in, count * sizeof(T));
}

template <typename T>
void check(int64_t rows, int64_t n, uint64_t seed, bool special) {
  Random random(seed);
  Buffer<T> x(rows * n), g(rows), expected(rows * n), actual(rows * n), scratch(n + 16);
  Buffer<int32_t> labels(rows);
  random.fill(x, special);
  random.fill(g);
  for (int64_t r = 0; r < rows; ++r) labels[r] = static_cast<int32_t>(random.between(-1, n - 1));
  const int64_t tile_rows = 2, tiles = ceil_div(rows, tile_rows);
  for (const SkeletonTable* t : runnable_skeletons()) {
    INFO(t->target << " rows " << rows << " n " << n);
    Rows<T> ctx{x.data(), actual.data(), n};
    reference_softmax(x.data(), rows, n, expected.data());
    Family<T>::softmax(*t)(&ctx, load_row<T>, store_row<T>, rows, n, tile_rows, 0, tiles, scratch.data());
    REQUIRE(difference(expected, actual) == "");
    reference_log_softmax(x.data(), rows, n, expected.data());
    Family<T>::log_softmax(*t)(&ctx, load_row<T>, store_row<T>, rows, n, tile_rows, 0, tiles, scratch.data());
    REQUIRE(difference(expected, actual) == "");
    for (const double smooth : {0.0, 0.1}) {
      Buffer<T> loss(rows), got_loss(rows);
      reference_cross_entropy_rows(x.data(), labels.data(), rows, n, -1, smooth, loss.data());
      const int32_t status = Family<T>::loss(*t)(x.data(), labels.data(), got_loss.data(), rows, n, 1, -1, smooth,
                                                 tile_rows, 0, tiles, scratch.data(), nullptr);
      REQUIRE(status == kFerruleKernelOk);
      REQUIRE(difference(loss, got_loss) == "");
      reference_cross_entropy_rows_gradient(x.data(), labels.data(), g.data(), rows, n, -1, smooth, expected.data());
      Family<T>::gradient(*t)(x.data(), labels.data(), g.data(), actual.data(), rows, n, 1, -1, smooth, tile_rows, 0,
                              tiles, scratch.data());
      REQUIRE(difference(expected, actual) == "");
    }
  }
}

TEST_CASE("softmax and cross entropy equal the reference on random shapes") {
  Random random(10);
  for (int64_t seed = 0; seed < sweep(60); ++seed) {
    const int64_t rows = random.between(1, 9), n = seed % 10 == 0 ? random.between(4090, 8200) : random.between(1, 70);
    check<float>(rows, n, seed, seed % 4 == 0);
    check<double>(rows, n, seed, seed % 4 == 0);
  }
}

TEST_CASE("a label outside the classes is reported, lowest row first") {
  const float logits[] = {0, 1, 2, 3, 4, 5};
  const int32_t labels[] = {1, 7, -2};
  float loss[3];
  alignas(64) float scratch[16];
  for (const SkeletonTable* t : runnable_skeletons()) {
    FerruleKernelError error{};
    const int32_t status =
        t->ferrule_cross_entropy_rows_f32(logits, labels, loss, 3, 2, 0, 0, 0.0, 1, 0, 3, scratch, &error);
    REQUIRE(status == kFerruleKernelIndexOutOfRange);
    REQUIRE(error.position == 1);
    REQUIRE(error.value == 7);
    REQUIRE(error.limit == 2);
    // log(exp(-1) + 1) - 0
    REQUIRE(std::fabs(loss[0] - 0.31326169f) < 1e-6f);
    REQUIRE(std::isnan(loss[1]));
  }
}

}  // namespace
}  // namespace ferrule::kernels
