// Accuracy of the vector math in units in the last place, and its equality, bit for bit, with the scalar reference.
//
// Arguments are seeded samples of all bit patterns; FERRULE_EXHAUSTIVE=1 walks all 2^32 of f32 instead.
#include <cstdlib>
#include <functional>

#include "catch2/catch.hpp"
#include "kernels/elementwise/reference.h"
#include "kernels/testing/random_data.h"
#include "kernels/testing/skeleton_table.h"

namespace ferrule::kernels {
namespace {

// |actual - exact| in units of the last place of T at `exact`; 0 where both are NaN or the same infinity.
template <typename T>
double ulp_error(T actual, long double exact) {
  if (std::isnan(actual) || std::isnan(exact)) return std::isnan(actual) && std::isnan(exact) ? 0 : INFINITY;
  if (std::isinf(static_cast<T>(exact)) || std::isinf(actual)) return static_cast<T>(exact) == actual ? 0 : INFINITY;
  const T rounded = std::fabs(static_cast<T>(exact));
  const long double unit =
      static_cast<long double>(std::nextafter(rounded, std::numeric_limits<T>::infinity())) - rounded;
  return static_cast<double>(std::fabs(static_cast<long double>(actual) - exact) / unit);
}

template <typename T>
constexpr DataType kType = sizeof(T) == 4 ? DataType::kF32 : DataType::kF64;

struct Unary {
  const char* name;
  long double (*exact)(long double);
  void (*SkeletonTable::*f32)(const void*, void*);
  void (*SkeletonTable::*f64)(const void*, void*);
};

long double exact_sigmoid(long double x) { return 1 / (1 + std::exp(-x)); }

#define FERRULE_UNARY(name, exact) \
  { #name, exact, &SkeletonTable::ferrule_##name##_f32, &SkeletonTable::ferrule_##name##_f64 }
const Unary kUnary[] = {
    FERRULE_UNARY(exp, std::exp),     FERRULE_UNARY(log, std::log),   FERRULE_UNARY(log1p, std::log1p),
    FERRULE_UNARY(expm1, std::expm1), FERRULE_UNARY(tanh, std::tanh), FERRULE_UNARY(sigmoid, exact_sigmoid),
    FERRULE_UNARY(erf, std::erf),     FERRULE_UNARY(sin, std::sin),   FERRULE_UNARY(cos, std::cos),
};
#undef FERRULE_UNARY

// Every bit pattern is as likely as another, and half of the samples lie where functions are curved.
template <typename T>
void sample(Random& random, Buffer<T>& x) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  const T corners[] = {T(0), T(-0.0), T(1), T(-1), std::numeric_limits<T>::infinity(), -std::numeric_limits<T>::infinity(),
                       std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::denorm_min(),
                       std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), std::numeric_limits<T>::lowest()};
  for (int64_t i = 0; i < x.size(); ++i) {
    if (i < 11) {
      x[i] = corners[i];
    } else if (i % 2 == 0) {
      const Bits bits = static_cast<Bits>(static_cast<uint64_t>(random.between(INT64_MIN, INT64_MAX)));
      std::memcpy(&x[i], &bits, sizeof(T));
    } else {
      const T scale[] = {T(1), T(10), T(100), T(750), T(1e5), T(1e-3)};
      x[i] = static_cast<T>(random.between(-(int64_t{1} << 52), int64_t{1} << 52)) / T(int64_t{1} << 52) *
             scale[random.between(0, 5)];
    }
  }
}

template <typename T>
void check_unary(const Unary& op, double limit, const Buffer<T>& x, double* worst) {
  Buffer<T> expected(x.size()), actual(x.size());
  REQUIRE(reference_unary(op.name, kType<T>, x.data(), expected.data(), x.size()));
  for (int64_t i = 0; i < x.size(); ++i) {
    const double error = ulp_error<T>(expected[i], op.exact(x[i]));
    if (error > *worst) *worst = error;
    if (error > limit) {
      INFO(op.name << "(" << x[i] << ") = " << expected[i] << ", exactly " << static_cast<double>(op.exact(x[i])));
      REQUIRE(error <= limit);
    }
  }
  for (const SkeletonTable* table : runnable_skeletons()) {
    const auto function = sizeof(T) == 4 ? table->*op.f32 : table->*op.f64;
    for (int64_t i = 0; i < x.size(); i += 16) function(x.data() + i, actual.data() + i);
    INFO(op.name << " on " << table->target);
    REQUIRE(difference(expected, actual) == "");
  }
}

TEST_CASE("unary functions are accurate and the same bits everywhere") {
  Random random(3);
  for (const Unary& op : kUnary) {
    double worst_f32 = 0, worst_f64 = 0;
    for (int round = 0; round < 8; ++round) {
      Buffer<float> x32(1 << 14);
      Buffer<double> x64(1 << 14);
      sample(random, x32);
      sample(random, x64);
      check_unary<float>(op, 3.0, x32, &worst_f32);
      check_unary<double>(op, 4.0, x64, &worst_f64);
    }
    std::printf("%-8s worst error: f32 %.2f ULP, f64 %.2f ULP\n", op.name, worst_f32, worst_f64);
  }
}

TEST_CASE("every f32 argument") {
  if (std::getenv("FERRULE_EXHAUSTIVE") == nullptr) return;
  for (const Unary& op : kUnary) {
    double worst = 0;
    Buffer<float> x(1 << 16);
    for (uint64_t start = 0; start < (uint64_t{1} << 32); start += x.size()) {
      for (int64_t i = 0; i < x.size(); ++i) {
        const uint32_t bits = static_cast<uint32_t>(start + i);
        std::memcpy(&x[i], &bits, sizeof(bits));
      }
      check_unary<float>(op, 3.0, x, &worst);
    }
    std::printf("%-8s worst error over all f32: %.3f ULP\n", op.name, worst);
  }
}

template <typename T>
void check_pow(Random& random, double limit) {
  Buffer<T> x(1 << 13), y(1 << 13), expected(1 << 13), actual(1 << 13);
  double worst = 0;
  for (int round = 0; round < 8; ++round) {
    sample(random, x);
    sample(random, y);
    for (int64_t i = 0; i < x.size(); ++i) {
      // Corners against corners, whole exponents, and results within range.
      if (i < 121) x[i] = x[i % 11], y[i] = y[i / 11 % 11];
      else if (i % 3 == 0) y[i] = static_cast<T>(random.between(-20, 20));
      else if (i % 3 == 1) y[i] = T(random.between(-700, 700)) / T(std::log(std::fabs(static_cast<double>(x[i])) + 1e-3));
    }
    REQUIRE(reference_binary("pow", kType<T>, x.data(), y.data(), expected.data(), x.size()));
    for (int64_t i = 0; i < x.size(); ++i) {
      const long double exact = std::pow(static_cast<long double>(x[i]), static_cast<long double>(y[i]));
      const double error = ulp_error<T>(expected[i], exact);
      worst = std::max(worst, error);
      if (error > limit) {
        INFO("pow(" << x[i] << ", " << y[i] << ") = " << expected[i] << ", exactly " << static_cast<double>(exact));
        REQUIRE(error <= limit);
      }
    }
    for (const SkeletonTable* table : runnable_skeletons()) {
      const auto function = sizeof(T) == 4 ? table->ferrule_pow_f32 : table->ferrule_pow_f64;
      for (int64_t i = 0; i < x.size(); i += 16) function(x.data() + i, y.data() + i, actual.data() + i);
      REQUIRE(difference(expected, actual) == "");
    }
  }
  std::printf("pow      worst error: %.2f ULP (%zu bytes)\n", worst, sizeof(T));
}

TEST_CASE("pow is accurate, has IEEE's special cases and the same bits everywhere") {
  Random random(4);
  check_pow<float>(random, 3.0);
  check_pow<double>(random, 4.0);
}

template <typename T>
T apply(const char* op, DataType type, T x, T y) {
  T out{};
  REQUIRE(reference_binary(op, type, &x, &y, &out, 1));
  return out;
}

TEST_CASE("floor division and remainder are Python's") {
  REQUIRE(apply("floor_div", DataType::kF64, 1.0, 0.1) == 9.0);
  REQUIRE(apply("mod", DataType::kF64, 1.0, 0.1) == 0.09999999999999995);
  REQUIRE(apply("floor_div", DataType::kF64, -7.5, 2.0) == -4.0);
  REQUIRE(apply("mod", DataType::kF64, -7.5, 2.0) == 0.5);
  REQUIRE(apply("mod", DataType::kF64, 1e300, 7.0) == 1.0);
  REQUIRE(apply<double>("mod", DataType::kF64, -1.0, INFINITY) == INFINITY);
  REQUIRE(apply<double>("floor_div", DataType::kF64, -1.0, INFINITY) == -1.0);
  REQUIRE(apply<int32_t>("floor_div", DataType::kI32, -7, 2) == -4);
  REQUIRE(apply<int32_t>("mod", DataType::kI32, -7, 2) == 1);
  REQUIRE(apply<int32_t>("mod", DataType::kI32, 7, -2) == -1);
  REQUIRE(apply<int32_t>("floor_div", DataType::kI32, 7, 0) == 0);
  REQUIRE(apply<int32_t>("mod", DataType::kI32, 7, 0) == 0);
  REQUIRE(apply<int32_t>("floor_div", DataType::kI32, INT32_MIN, -1) == INT32_MIN);
  REQUIRE(apply<int64_t>("floor_div", DataType::kI64, INT64_MIN, -1) == INT64_MIN);
}

template <typename T>
void check_division(DataType type, void (*SkeletonTable::*quotient)(const void*, const void*, void*),
                    void (*SkeletonTable::*remainder)(const void*, const void*, void*), Random& random) {
  Buffer<T> x(1 << 12), y(1 << 12), expected(1 << 12), actual(1 << 12);
  if constexpr (std::is_floating_point_v<T>) {
    sample(random, x);
    sample(random, y);
    for (int64_t i = 0; i < 121; ++i) x[i] = x[i % 11], y[i] = y[i / 11 % 11];
  } else {
    for (int64_t i = 0; i < x.size(); ++i) {
      x[i] = static_cast<T>(random.between(INT64_MIN, INT64_MAX));
      y[i] = static_cast<T>(random.between(-5, 5));
      if (i % 7 == 0) x[i] = std::numeric_limits<T>::min();
    }
  }
  for (const SkeletonTable* table : runnable_skeletons()) {
    for (const bool is_mod : {false, true}) {
      REQUIRE(reference_binary(is_mod ? "mod" : "floor_div", type, x.data(), y.data(), expected.data(), x.size()));
      const auto function = is_mod ? table->*remainder : table->*quotient;
      for (int64_t i = 0; i < x.size(); i += 16) function(x.data() + i, y.data() + i, actual.data() + i);
      INFO(table->target << (is_mod ? " mod" : " floor_div"));
      REQUIRE(difference(expected, actual) == "");
      if constexpr (std::is_floating_point_v<T>) {
        for (int64_t i = 0; is_mod && i < x.size(); ++i) {
          T exact = std::fmod(x[i], y[i]);
          if (exact != 0 && (exact < 0) != (y[i] < 0)) exact += y[i];
          if (exact == exact || expected[i] == expected[i]) REQUIRE(exact == expected[i]);
        }
      }
    }
  }
}

TEST_CASE("divisions are the same bits everywhere") {
  Random random(5);
  check_division<float>(DataType::kF32, &SkeletonTable::ferrule_floor_div_f32, &SkeletonTable::ferrule_mod_f32, random);
  check_division<double>(DataType::kF64, &SkeletonTable::ferrule_floor_div_f64, &SkeletonTable::ferrule_mod_f64, random);
  check_division<int32_t>(DataType::kI32, &SkeletonTable::ferrule_floor_div_i32, &SkeletonTable::ferrule_mod_i32, random);
  check_division<int64_t>(DataType::kI64, &SkeletonTable::ferrule_floor_div_i64, &SkeletonTable::ferrule_mod_i64, random);
}

}  // namespace
}  // namespace ferrule::kernels
