// Philox's known answers, each kernel against the scalar reference by bits, and the first moments of distributions.
#include <cmath>

#include "catch2/catch.hpp"
#include "kernels/random/reference.h"
#include "kernels/testing/random_data.h"
#include "kernels/testing/skeleton_table.h"

namespace ferrule::kernels {
namespace {

constexpr int64_t kTileSize = 64;

// Runs kernel(tile_begin, tile_end) as two threads, the later tiles first.
template <typename Kernel>
void run_halves(int64_t total, Kernel kernel) {
  const int64_t tiles = ceil_div(total, kTileSize);
  kernel(tiles / 2, tiles);
  kernel(0, tiles / 2);
}

template <typename T, typename Kernel, typename Reference>
void check(Kernel kernel, Reference reference, const int64_t* state, int64_t total) {
  Buffer<T> expected(total), y(total);
  reference(state, total, expected.data());
  run_halves(total, [&](int64_t begin, int64_t end) { kernel(y.data(), state, total, kTileSize, begin, end); });
  REQUIRE(difference(expected, y) == "");
}

template <typename T, typename Kernel, typename Reference>
void check_parameter(Kernel kernel, Reference reference, const int64_t* state, int64_t total, double scale) {
  Random random(total);
  Buffer<T> p(total), expected(total), y(total);
  random.fill(p, /*special=*/true);
  for (int64_t i = 0; i < total; ++i) p[i] = static_cast<T>(p[i] * scale);
  reference(state, p.data(), total, expected.data());
  run_halves(total,
             [&](int64_t begin, int64_t end) { kernel(y.data(), state, p.data(), total, kTileSize, begin, end); });
  REQUIRE(difference(expected, y) == "");
}

TEST_CASE("Philox4x32-10 gives the known answers of Random123") {
  using Words = std::array<uint32_t, 4>;
  REQUIRE(reference_philox({0, 0, 0, 0}, 0, 0) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  REQUIRE(reference_philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, 0xffffffff, 0xffffffff) ==
          Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  REQUIRE(reference_philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0xa4093822, 0x299f31d0) ==
          Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("random kernels equal the reference") {
  const int64_t states[][2] = {{0, 0}, {-1, 5}, {0x123456789abcdef0, (int64_t{1} << 40) + 3}};
  for (const SkeletonTable* t : runnable_skeletons()) {
    for (const auto& state : states) {
      for (const int64_t total : {0, 1, 63, 64, 200, 1000}) {
        INFO(t->target << " total " << total << " seed " << state[0]);
        check<int32_t>(t->ferrule_random_bits_i32, reference_random_bits<int32_t>, state, total);
        check<int64_t>(t->ferrule_random_bits_i64, reference_random_bits<int64_t>, state, total);
        check<float>(t->ferrule_random_uniform_f32, reference_random_uniform<float>, state, total);
        check<double>(t->ferrule_random_uniform_f64, reference_random_uniform<double>, state, total);
        check<float>(t->ferrule_random_normal_f32, reference_random_normal<float>, state, total);
        check<double>(t->ferrule_random_normal_f64, reference_random_normal<double>, state, total);
        for (const double scale : {1.0, 30.0}) {
          check_parameter<float>(t->ferrule_random_gamma_f32, reference_random_gamma<float>, state, total, scale);
          check_parameter<double>(t->ferrule_random_gamma_f64, reference_random_gamma<double>, state, total, scale);
          check_parameter<float>(t->ferrule_random_poisson_f32, reference_random_poisson<float>, state, total, scale);
          check_parameter<double>(t->ferrule_random_poisson_f64, reference_random_poisson<double>, state, total, scale);
        }
      }
    }
  }
}

struct Statistics {
  double mean = 0, variance = 0;
};
template <typename T>
Statistics describe(const Buffer<T>& y) {
  Statistics s;
  for (int64_t i = 0; i < y.size(); ++i) s.mean += y[i];
  s.mean /= static_cast<double>(y.size());
  for (int64_t i = 0; i < y.size(); ++i) s.variance += (y[i] - s.mean) * (y[i] - s.mean);
  s.variance /= static_cast<double>(y.size());
  return s;
}

TEST_CASE("mean and variance are the distribution's") {
  constexpr int64_t kCount = 200000;
  const int64_t state[2] = {7, 0};
  Buffer<double> y(kCount), p(kCount);
  // Of an average of n numbers the deviation is sqrt(variance / n); five of them are allowed.
  const auto check_mean = [&](double mean, double variance) {
    const Statistics s = describe(y);
    CHECK(std::fabs(s.mean - mean) < 5 * std::sqrt(variance / kCount));
    CHECK(std::fabs(s.variance - variance) < 0.03 * variance);
  };
  reference_random_uniform(state, kCount, y.data());
  check_mean(0.5, 1.0 / 12);
  reference_random_normal(state, kCount, y.data());
  check_mean(0, 1);
  for (const double parameter : {0.3, 1.0, 4.5, 40.0}) {
    INFO("parameter " << parameter);
    for (int64_t i = 0; i < kCount; ++i) p[i] = parameter;
    reference_random_gamma(state, p.data(), kCount, y.data());
    check_mean(parameter, parameter);
    reference_random_poisson(state, p.data(), kCount, y.data());
    check_mean(parameter, parameter);
  }
}

}  // namespace
}  // namespace ferrule::kernels
