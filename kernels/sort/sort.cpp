// argsort and searchsorted.
//
// Numbers become unsigned keys whose order is the one that is asked for; keys are sorted stably, by insertion where there
// are few, else byte by byte from the lowest (radix), which is linear in n whatever the data.
#include "kernels/base/define.h"
#include "kernels/base/vector.h"

namespace ferrule::kernels {
namespace {

constexpr int64_t kInsertionLimit = 40;
constexpr int kDigits = 256;

// The key of a number: a < b as numbers if and only if key(a) < key(b); +0 and -0 have one key, all NaNs the largest.
template <typename T>
FERRULE_INLINE typename LaneTraits<T>::Unsigned key_of(T value) {
  using Key = typename LaneTraits<T>::Unsigned;
  constexpr Key kSign = Key(1) << (sizeof(Key) * 8 - 1);
  if constexpr (static_cast<T>(0.5) != 0) {
    if (value != value) return ~Key(0);
    if (value == 0) return kSign;
    const Key bits = bits_as<Key>(value);
    return (bits & kSign) != 0 ? ~bits : bits | kSign;
  } else {
    return static_cast<Key>(value) ^ kSign;
  }
}

template <typename Key>
FERRULE_INLINE void sort_by_insertion(Key* keys, int32_t* order, int64_t n) {
  for (int64_t i = 1; i < n; ++i) {
    const Key key = keys[i];
    const int32_t index = order[i];
    int64_t j = i;
    for (; j > 0 && keys[j - 1] > key; --j) {
      keys[j] = keys[j - 1];
      order[j] = order[j - 1];
    }
    keys[j] = key;
    order[j] = index;
  }
}

// Sorts keys and order, by way of other_keys and other_order; returns the array that holds the order at the end.
template <typename Key>
FERRULE_INLINE const int32_t* sort_by_digits(Key* keys, Key* other_keys, int32_t* order, int32_t* other_order,
                                             int64_t n) {
  for (unsigned shift = 0; shift < sizeof(Key) * 8; shift += 8) {
    int32_t count[kDigits];
    for (int d = 0; d < kDigits; ++d) count[d] = 0;
    for (int64_t i = 0; i < n; ++i) ++count[keys[i] >> shift & 255];
    if (count[keys[0] >> shift & 255] == n) continue;
    int32_t before = 0;
    for (int d = 0; d < kDigits; ++d) {
      const int32_t own = count[d];
      count[d] = before;
      before += own;
    }
    for (int64_t i = 0; i < n; ++i) {
      const int32_t to = count[keys[i] >> shift & 255]++;
      other_keys[to] = keys[i];
      other_order[to] = order[i];
    }
    Key* const sorted_keys = other_keys;
    other_keys = keys;
    keys = sorted_keys;
    int32_t* const sorted_order = other_order;
    other_order = order;
    order = sorted_order;
  }
  return order;
}

template <typename T>
FERRULE_INLINE void argsort(int32_t* y, const T* x, int64_t n, int64_t inner, int64_t k, bool descending,
                            int64_t tile_begin, int64_t tile_end, void* scratch) {
  using Key = typename LaneTraits<T>::Unsigned;
  Key* const keys = static_cast<Key*>(scratch);
  int32_t* const order = reinterpret_cast<int32_t*>(keys + 2 * n);
  for (int64_t tile = tile_begin; tile < tile_end; ++tile) {
    const T* from = x + tile / inner * n * inner + tile % inner;
    for (int64_t i = 0; i < n; ++i) {
      const Key key = key_of(from[i * inner]);
      keys[i] = descending ? static_cast<Key>(~key) : key;
      order[i] = static_cast<int32_t>(i);
    }
    const int32_t* sorted = order;
    if (n <= kInsertionLimit) {
      sort_by_insertion(keys, order, n);
    } else {
      sorted = sort_by_digits(keys, keys + n, order, order + n, n);
    }
    int32_t* to = y + tile / inner * k * inner + tile % inner;
    for (int64_t i = 0; i < k; ++i) to[i * inner] = i < n ? sorted[i] : 0;
  }
}

template <typename T>
FERRULE_INLINE void searchsorted(int32_t* y, const T* sorted, const T* v, int64_t outer, int64_t n, int64_t m,
                                 bool right, int64_t tile_rows, int64_t tile_begin, int64_t tile_end) {
  const int64_t total = outer * m, end = tile_end * tile_rows < total ? tile_end * tile_rows : total;
  for (int64_t i = tile_begin * tile_rows; i < end; ++i) {
    const T* row = sorted + i / m * n;
    const auto key = key_of(v[i]);
    int64_t low = 0, high = n;
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      const auto element = key_of(row[middle]);
      const bool before = right ? element <= key : element < key;
      low = before ? middle + 1 : low;
      high = before ? high : middle;
    }
    y[i] = static_cast<int32_t>(low);
  }
}

}  // namespace
}  // namespace ferrule::kernels

#define FERRULE_SORT(S, T)                                                                                           \
  FERRULE_DEFINE(void, ferrule_argsort_##S)                                                                          \
  (int32_t * y, const T* x, int64_t n, int64_t inner, int64_t k, int64_t descending, int64_t tile_begin,             \
   int64_t tile_end, void* scratch) {                                                                                \
    ferrule::kernels::argsort<T>(y, x, n, inner, k, descending != 0, tile_begin, tile_end, scratch);                 \
  }                                                                                                                  \
  FERRULE_DEFINE(void, ferrule_searchsorted_##S)                                                                     \
  (int32_t * y, const T* sorted, const T* v, int64_t outer, int64_t n, int64_t m, int64_t right, int64_t tile_rows,  \
   int64_t tile_begin, int64_t tile_end) {                                                                           \
    ferrule::kernels::searchsorted<T>(y, sorted, v, outer, n, m, right != 0, tile_rows, tile_begin, tile_end);       \
  }
FERRULE_SORT(f32, float)
FERRULE_SORT(f64, double)
FERRULE_SORT(i32, int32_t)
FERRULE_SORT(i64, int64_t)
