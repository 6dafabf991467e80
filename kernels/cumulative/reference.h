// Runs along the middle axis of [outer, n, inner], one element at a time: the definition of the bits.
#ifndef FERRULE_KERNELS_CUMULATIVE_REFERENCE_H_
#define FERRULE_KERNELS_CUMULATIVE_REFERENCE_H_

#include <cstdint>
#include <string_view>

namespace ferrule::kernels {

struct RunShape {
  int64_t outer, n, inner;
};

// op = cumsum, cumprod, cummax, cummin; T = float, double, int32_t, int64_t. False for another op.
template <typename T>
bool reference_cumulative(std::string_view op, const T* x, const RunShape& shape, bool reverse, bool exclusive, T* y);

// op = cumargmax, cumargmin.
template <typename T>
bool reference_cumulative_arg(std::string_view op, const T* x, const RunShape& shape, int32_t* y);

// T = float, double.
template <typename T>
void reference_linear_recurrence(const T* a, const T* b, const RunShape& shape, bool reverse, bool exclusive,
                                 bool lagged, T* y);

}  // namespace ferrule::kernels

#endif  // FERRULE_KERNELS_CUMULATIVE_REFERENCE_H_
