// Reductions and moments of [outer, n, inner], one element at a time: the definition of the bits.
//
// A reduction along rows is inner = 1. Results are [outer, inner].
#ifndef FERRULE_KERNELS_REDUCE_REFERENCE_H_
#define FERRULE_KERNELS_REDUCE_REFERENCE_H_

#include <cstdint>
#include <string_view>

namespace ferrule::kernels {

// Rule (c): 16 lanes, folded 8, 4, 2, 1 after every 4,096 elements and at the end; `skip` counts an absent element.
template <typename T>
class LaneSum {
 public:
  void add(T x) { add_to_lane(x); }
  // lane = fma(a, b, lane)
  void add_product(T a, T b);
  void skip();
  T finish();

 private:
  void add_to_lane(T x);
  void advance();
  T fold();
  T lanes_[16] = {};
  T total_ = 0;
  int64_t i_ = 0;
};

// op = sum, max, min, prod; T = float, double, int32_t, int64_t.
template <typename T>
bool reference_reduce(std::string_view op, const T* x, int64_t outer, int64_t n, int64_t inner, T* out);

// op = argmax, argmin.
template <typename T>
bool reference_arg(std::string_view op, const T* x, int64_t outer, int64_t n, int64_t inner, int32_t* out);

// Mean, biased variance and 1/sqrt(variance + eps), each [outer, inner]; T = float, double.
template <typename T>
void reference_moments(const T* x, int64_t outer, int64_t n, int64_t inner, double eps, T* mean, T* variance, T* rstd);

}  // namespace ferrule::kernels

#endif  // FERRULE_KERNELS_REDUCE_REFERENCE_H_
