// Seeded inputs and bitwise comparison for kernel tests.
#ifndef FERRULE_KERNELS_TESTING_RANDOM_DATA_H_
#define FERRULE_KERNELS_TESTING_RANDOM_DATA_H_

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace ferrule::kernels {

// Memory as the runtime hands it out: 64-byte aligned.
template <typename T>
class Buffer {
 public:
  explicit Buffer(int64_t count) : storage_(count * sizeof(T) + 64), count_(count) {
    data_ = reinterpret_cast<T*>((reinterpret_cast<uintptr_t>(storage_.data()) + 63) / 64 * 64);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](int64_t i) { return data_[i]; }
  const T& operator[](int64_t i) const { return data_[i]; }
  int64_t size() const { return count_; }

 private:
  std::vector<unsigned char> storage_;
  int64_t count_;
  T* data_;
};

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  int64_t between(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(engine_); }
  // Numbers around zero of mixed size; with `special`, now and then -0, an infinity, NaN or a denormal.
  template <typename T>
  void fill(Buffer<T>& buffer, bool special = false) {
    std::normal_distribution<double> normal;
    for (int64_t i = 0; i < buffer.size(); ++i) {
      if constexpr (std::is_floating_point_v<T>) {
        buffer[i] = static_cast<T>(normal(engine_));
        if (special && between(0, 40) == 0) buffer[i] = special_value<T>(between(0, 5));
      } else {
        buffer[i] = static_cast<T>(between(-100, 100));
      }
    }
  }

 private:
  template <typename T>
  static T special_value(int64_t which) {
    using Limits = std::numeric_limits<T>;
    const T values[] = {T(-0.0), T(0), Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(), Limits::denorm_min()};
    return values[which];
  }
  std::mt19937_64 engine_;
};

// Empty if all bits agree, any NaN equal to any NaN; else the first difference.
template <typename T>
std::string difference(const T* expected, const T* actual, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    if (std::memcmp(&expected[i], &actual[i], sizeof(T)) == 0) continue;
    if (expected[i] != expected[i] && actual[i] != actual[i]) continue;
    return "element " + std::to_string(i) + ": expected " + std::to_string(expected[i]) + ", got " +
           std::to_string(actual[i]);
  }
  return "";
}
template <typename T>
std::string difference(const Buffer<T>& expected, const Buffer<T>& actual) {
  return difference(expected.data(), actual.data(), expected.size());
}

}  // namespace ferrule::kernels

#endif  // FERRULE_KERNELS_TESTING_RANDOM_DATA_H_
