// Accuracy of the vector math in units in the last place, and its equality, bit for bit, with the scalar reference.
//
// Arguments are seeded samples of all bit patterns; FERRULE_EXHAUSTIVE=1 walks all 2^32 of f32 instead.
#include <cstdlib>
#include <functional>

#include "catch2/catch.hpp"
#include "kernels/elementwise/reference.h"
#include "kernels/testing/random_data.h"
#include "kernels/testing/skeleton_table.h"
#include "kernels/testing/sweep.h"

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

// Exact values take most of the time: how far apart the arguments of one buffer are whose results are compared with them.
// All results are compared with the reference.
template <typename T>
int64_t exact_step(const Buffer<T>& x) {
  return x.size() / sweep(x.size());
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
    FERRULE_UNARY(exp2, std::exp2),   FERRULE_UNARY(log2, std::log2), FERRULE_UNARY(log10, std::log10),
    FERRULE_UNARY(cbrt, std::cbrt),   FERRULE_UNARY(erfc, std::erfc), FERRULE_UNARY(tan, std::tan),
    FERRULE_UNARY(asin, std::asin),   FERRULE_UNARY(acos, std::acos), FERRULE_UNARY(atan, std::atan),
    FERRULE_UNARY(sinh, std::sinh),   FERRULE_UNARY(cosh, std::cosh), FERRULE_UNARY(asinh, std::asinh),
    FERRULE_UNARY(acosh, std::acosh), FERRULE_UNARY(atanh, std::atanh),
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
  for (int64_t i = 0; i < x.size(); i += exact_step(x)) {
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
    for (int64_t round = 0; round < sweep(8); ++round) {
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
  for (int64_t round = 0; round < sweep(8); ++round) {
    sample(random, x);
    sample(random, y);
    for (int64_t i = 0; i < x.size(); ++i) {
      // Corners against corners, whole exponents, and results within range.
      if (i < 121) x[i] = x[i % 11], y[i] = y[i / 11 % 11];
      else if (i % 3 == 0) y[i] = static_cast<T>(random.between(-20, 20));
      else if (i % 3 == 1) y[i] = T(random.between(-700, 700)) / T(std::log(std::fabs(static_cast<double>(x[i])) + 1e-3));
    }
    REQUIRE(reference_binary("pow", kType<T>, x.data(), y.data(), expected.data(), x.size()));
    for (int64_t i = 0; i < x.size(); i += exact_step(x)) {
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

// Functions of two arguments over corners against corners, unrelated magnitudes and related ones.
template <typename T>
void check_binary(const char* op, long double (*exact)(long double, long double),
                  void (*SkeletonTable::*vector)(const void*, const void*, void*), double limit, Random& random) {
  Buffer<T> x(1 << 13), y(1 << 13), expected(1 << 13), actual(1 << 13);
  double worst = 0;
  for (int64_t round = 0; round < sweep(8); ++round) {
    sample(random, x);
    sample(random, y);
    for (int64_t i = 0; i < x.size(); ++i) {
      if (i < 121) x[i] = x[i % 11], y[i] = y[i / 11 % 11];
      else if (i % 3 == 0) y[i] = x[i] * static_cast<T>(random.between(-64, 64)) / T(16);
    }
    REQUIRE(reference_binary(op, kType<T>, x.data(), y.data(), expected.data(), x.size()));
    for (int64_t i = 0; i < x.size(); i += exact_step(x)) {
      const double error = ulp_error<T>(expected[i], exact(x[i], y[i]));
      worst = std::max(worst, error);
      if (error > limit) {
        INFO(op << "(" << x[i] << ", " << y[i] << ") = " << expected[i]);
        REQUIRE(error <= limit);
      }
    }
    for (const SkeletonTable* table : runnable_skeletons()) {
      for (int64_t i = 0; i < x.size(); i += 16) (table->*vector)(x.data() + i, y.data() + i, actual.data() + i);
      REQUIRE(difference(expected, actual) == "");
    }
  }
  std::printf("%-8s worst error: %.2f ULP (%zu bytes)\n", op, worst, sizeof(T));
}

TEST_CASE("atan2 and hypot are accurate over the whole range and the same bits everywhere") {
  Random random(6);
  check_binary<float>("atan2", std::atan2, &SkeletonTable::ferrule_atan2_f32, 3.0, random);
  check_binary<double>("atan2", std::atan2, &SkeletonTable::ferrule_atan2_f64, 4.0, random);
  check_binary<float>("hypot", std::hypot, &SkeletonTable::ferrule_hypot_f32, 3.0, random);
  check_binary<double>("hypot", std::hypot, &SkeletonTable::ferrule_hypot_f64, 4.0, random);
}

template <typename T>
T evaluate(const char* op, T x) {
  T out{};
  REQUIRE(reference_unary(op, kType<T>, &x, &out, 1));
  return out;
}

TEST_CASE("powers of two and ten, and signs of zero, are exact") {
  for (int k = -1074; k <= 1023; ++k) {
    REQUIRE(evaluate("log2", std::ldexp(1.0, k)) == k);
    REQUIRE(evaluate("exp2", static_cast<double>(k)) == std::ldexp(1.0, k));
  }
  double ten = 1;
  for (int k = 0; k <= 22; ++k, ten *= 10) REQUIRE(evaluate("log10", ten) == k);
  for (int k = 1; k <= 1000; ++k) REQUIRE(evaluate("cbrt", static_cast<double>(k) * k * k) == k);
  for (const char* op : {"sin", "tan", "asin", "atan", "sinh", "tanh", "asinh", "atanh", "cbrt", "erf", "expm1", "log1p"}) {
    INFO(op);
    REQUIRE(std::signbit(evaluate(op, -0.0)));
    REQUIRE_FALSE(std::signbit(evaluate(op, 0.0)));
  }
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
                    void (*SkeletonTable::*remainder)(const void*, const void*, void*),
                    void (*SkeletonTable::*truncated)(const void*, const void*, void*), Random& random) {
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
    const std::pair<const char*, void (*)(const void*, const void*, void*)> functions[] = {
        {"floor_div", table->*quotient}, {"mod", table->*remainder}, {"fmod", table->*truncated}};
    for (const auto& [op, function] : functions) {
      REQUIRE(reference_binary(op, type, x.data(), y.data(), expected.data(), x.size()));
      for (int64_t i = 0; i < x.size(); i += 16) function(x.data() + i, y.data() + i, actual.data() + i);
      INFO(table->target << " " << op);
      REQUIRE(difference(expected, actual) == "");
      if constexpr (std::is_floating_point_v<T>) {
        for (int64_t i = 0; op != std::string("floor_div") && i < x.size(); ++i) {
          T exact = std::fmod(x[i], y[i]);
          if (op == std::string("mod") && exact != 0 && (exact < 0) != (y[i] < 0)) exact += y[i];
          if (exact == exact || expected[i] == expected[i]) REQUIRE(exact == expected[i]);
        }
      }
    }
  }
}

TEST_CASE("divisions are the same bits everywhere") {
  Random random(5);
  check_division<float>(DataType::kF32, &SkeletonTable::ferrule_floor_div_f32, &SkeletonTable::ferrule_mod_f32,
                         &SkeletonTable::ferrule_fmod_f32, random);
  check_division<double>(DataType::kF64, &SkeletonTable::ferrule_floor_div_f64, &SkeletonTable::ferrule_mod_f64,
                         &SkeletonTable::ferrule_fmod_f64, random);
  check_division<int32_t>(DataType::kI32, &SkeletonTable::ferrule_floor_div_i32, &SkeletonTable::ferrule_mod_i32,
                         &SkeletonTable::ferrule_fmod_i32, random);
  check_division<int64_t>(DataType::kI64, &SkeletonTable::ferrule_floor_div_i64, &SkeletonTable::ferrule_mod_i64,
                         &SkeletonTable::ferrule_fmod_i64, random);
  check_division<uint64_t>(DataType::kU64, &SkeletonTable::ferrule_floor_div_u64, &SkeletonTable::ferrule_mod_u64,
                         &SkeletonTable::ferrule_fmod_u64, random);
}

constexpr int64_t kPatterns = 65536;

// 16-bit floats (all of them, or evenly chosen ones), the neighbourhood of each in f32 and f64, and ties: 8 a pattern.
template <typename T>
void sample_around_16_bit_floats(DataType type, Buffer<T>& x) {
  const int64_t step = 8 * kPatterns / x.size();
  for (int64_t i = 0; i < x.size() / 8; ++i) {
    const uint16_t pattern[2] = {static_cast<uint16_t>(i * step), static_cast<uint16_t>(i * step + 1)};
    float value[2];
    REQUIRE(reference_cast(type, DataType::kF32, pattern, value, 2));
    const T middle = (static_cast<T>(value[0]) + static_cast<T>(value[1])) / 2;
    const T infinity = std::numeric_limits<T>::infinity();
    const T all[8] = {static_cast<T>(value[0]), std::nextafter(static_cast<T>(value[0]), infinity),
                      std::nextafter(static_cast<T>(value[0]), -infinity), middle, std::nextafter(middle, infinity),
                      std::nextafter(middle, -infinity), static_cast<T>(value[1]), middle * T(1.0009765625)};
    for (int j = 0; j < 8; ++j) x[8 * i + j] = all[j];
  }
}

// The nearest value among the two neighbours that a 16-bit pattern and the next one are, by comparing distances.
template <typename T>
void check_nearest(DataType type, DataType from) {
  Buffer<T> x(8 * sweep(kPatterns));
  Buffer<uint16_t> rounded(x.size());
  sample_around_16_bit_floats(type, x);
  REQUIRE(reference_cast(from, type, x.data(), rounded.data(), x.size()));
  const int mantissa = type == DataType::kF16 ? 10 : 7;
  const uint16_t largest = type == DataType::kF16 ? 0x7bff : 0x7f7f;
  for (int64_t i = 0; i < x.size(); ++i) {
    if (std::isnan(x[i])) {
      REQUIRE((rounded[i] & 0x7fff) > largest + 1);
      continue;
    }
    REQUIRE(std::signbit(x[i]) == (rounded[i] >> 15 != 0));
    // As exact numbers: infinity stands one step beyond the largest finite one.
    const auto value = [&](int pattern) {
      float result;
      const uint16_t bits = static_cast<uint16_t>(pattern);
      REQUIRE(reference_cast(type, DataType::kF32, &bits, &result, 1));
      return std::isinf(result) ? std::ldexp(1.0L, type == DataType::kF16 ? 16 : 128) : static_cast<long double>(result);
    };
    const int got = rounded[i] & 0x7fff;
    const long double exact = std::fabs(static_cast<long double>(x[i]));
    if (std::isinf(x[i])) {
      REQUIRE(got == largest + 1);
      continue;
    }
    const long double error = std::fabs(exact - value(got));
    const bool last = got == largest + 1;
    const long double above = last ? INFINITY : std::fabs(exact - value(got + 1));
    const long double below = got == 0 ? INFINITY : std::fabs(exact - value(got - 1));
    if (last && exact > value(got)) continue;
    INFO(x[i] << " to " << got << " with " << mantissa << " bits");
    REQUIRE(error <= above);
    REQUIRE(error <= below);
    if (error == above || error == below) REQUIRE(got % 2 == 0);
  }
}

TEST_CASE("casts to 16-bit floats take the nearest, even at ties, from f32 and from f64 in one step") {
  for (const DataType type : {DataType::kF16, DataType::kBF16}) {
    check_nearest<float>(type, DataType::kF32);
    check_nearest<double>(type, DataType::kF64);
  }
}

TEST_CASE("the vector halves of 16-bit casts are the scalar ones") {
  Buffer<double> x(8 * sweep(kPatterns));
  Buffer<float> y(8 * sweep(kPatterns));
  Buffer<uint16_t> expected(x.size()), actual(x.size());
  sample_around_16_bit_floats(DataType::kBF16, x);
  sample_around_16_bit_floats(DataType::kBF16, y);
  for (const SkeletonTable* table : runnable_skeletons()) {
    REQUIRE(reference_cast(DataType::kF64, DataType::kBF16, x.data(), expected.data(), x.size()));
    for (int64_t i = 0; i < x.size(); i += 16) {
      alignas(64) float odd[16];
      table->ferrule_round_to_odd_f64(x.data() + i, odd);
      table->ferrule_bfloat16_bits_f32(odd, actual.data() + i);
    }
    REQUIRE(std::memcmp(expected.data(), actual.data(), x.size() * 2) == 0);
    REQUIRE(reference_cast(DataType::kF32, DataType::kBF16, y.data(), expected.data(), y.size()));
    for (int64_t i = 0; i < y.size(); i += 16) table->ferrule_bfloat16_bits_f32(y.data() + i, actual.data() + i);
    REQUIRE(std::memcmp(expected.data(), actual.data(), y.size() * 2) == 0);
  }
}

}  // namespace
}  // namespace ferrule::kernels
