// Matrix products on packed or row-major right operands.
#include "kernels/base/block_transpose.h"
#include "kernels/base/contraction.h"
#include "kernels/base/define.h"
#include "kernels/skeletons.h"

namespace ferrule::kernels {
namespace {

template <typename T>
struct Matmul {
  void* ctx;
  FerruleStore store;
  FerruleFetch fetch;
  const T* a;
  int64_t a_row_stride, a_k_stride;
  const T* b;
  int64_t b_panel_stride, b_k_stride;
  int64_t N, K;
  // Where the rows of a tile are copied to, if they are.
  T* copy;
  // The row that `a` begins with, and the panel that `b` begins with.
  int64_t a_first_row = 0, b_first_panel = 0;

  // Rows [row, row + ROWS) of the panels [panel, panel + PANELS). RAGGED: one panel, of which only the first
  // `last_count` columns may be read. HALF as in Tile.
  template <int ROWS, int PANELS, bool RAGGED, bool HALF>
  FERRULE_LATE_INLINE void tile(int64_t row, int64_t panel, int64_t last_count) const {
    Tile<T, ROWS, PANELS, HALF> tile;
    Vec<T> total[ROWS][PANELS];
    tile.clear();
    if (K == 0) tile.flush(total, true);
    const int64_t fetched_row = row + tile.rows_ahead(K);
    for (int64_t block = 0; block < K; block += kContractionBlock) {
      const int64_t end = block + kContractionBlock < K ? block + kContractionBlock : K;
      const T* a_k = a + (row - a_first_row) * a_row_stride + block * a_k_stride;
      const T* b_k = b + (panel - b_first_panel) * b_panel_stride + block * b_k_stride;
      const auto columns = [&](int64_t k, Vec<T>(&out)[PANELS]) __attribute__((always_inline)) {
        // What a transposed operand has for the next k may lie in another page, where the processor does not look
        // ahead.
        if (ROWS > 2 && !kMultipliesByElement && a_row_stride == 1 && a_k_stride != kLanes) {
          constexpr int64_t kAhead = 16;
          __builtin_prefetch(a_k + (k + kAhead) * a_k_stride);
          if (ROWS > 8) __builtin_prefetch(a_k + (k + kAhead) * a_k_stride + ROWS - 1);
        }
#pragma unroll
        for (int p = 0; p < PANELS; ++p) {
          const T* from = b_k + k * b_k_stride + p * b_panel_stride;
          // The panels are read once a tile, from the second-level cache: ask for them ahead of time, except where that
          // takes the place of products (three instructions begin a cycle on a Neoverse N1), and for a row or two,
          // whose pace is that of reading: there it costs 3 to 6 % of it.
          if (ROWS > 2 && !RAGGED && !kMultipliesByElement) __builtin_prefetch(from + 8 * b_k_stride);
          out[p] = RAGGED ? load_first(from, last_count)
                          : load_panel<ROWS, HALF>(from, b_k_stride != kLanes && a_row_stride != 1);
        }
      };
      tile.accumulate_and_fetch(a_k, a_row_stride, a_k_stride, end - block, columns, fetch != nullptr && block == 0,
                                [&](int64_t r) __attribute__((always_inline)) {
#pragma unroll
                                  for (int p = 0; p < PANELS; ++p) fetch(ctx, fetched_row + r, (panel + p) * kLanes);
                                });
      tile.flush(total, block == 0);
    }
    store_tile<T, ROWS, PANELS>(ctx, store, total, row, 1, panel * kLanes, last_count);
  }

  template <int PANELS, bool RAGGED, bool HALF = false>
  FERRULE_INLINE void rows_of(int64_t rows, int64_t row, int64_t panel, int64_t last_count) const {
    with_height<T, PANELS, HALF>(
        rows, [&](auto height, int64_t first) __attribute__((always_inline)) {
          tile<decltype(height)::value, PANELS, RAGGED, HALF>(row + first, panel, last_count);
        });
  }

  // `rows` rows by `panels` panels, in strips as wide as PANELS.
  template <int PANELS>
  FERRULE_INLINE void strips(int64_t rows, int64_t row, int64_t panel, int64_t panels, bool padded) const {
    const int64_t ragged = N % kLanes;
    const bool last_is_ragged = ragged != 0 && (panel + panels) * kLanes > N;
    // A ragged panel that may be read in full differs in the store only.
    const int64_t wide = last_is_ragged && !padded ? panels - 1 : panels;
    // Half a panel costs code of its own, and pays where it is a good part of a row.
    const bool halves = ragged != 0 && ragged <= kLanes / 2 && N <= 6 * kLanes;
    int64_t p = 0;
    for (; p + PANELS <= wide; p += PANELS) {
      const bool at_end = ragged != 0 && (panel + p + PANELS) * kLanes > N;
      if (halves && at_end) {
        rows_of<PANELS, false, true>(rows, row, panel + p, ragged);
      } else {
        rows_of<PANELS, false>(rows, row, panel + p, at_end ? ragged : kLanes);
      }
    }
    // A group is a multiple of PANELS wide, so a narrower strip exists only at the end of the matrix.
    const int64_t all_wide = padded ? ceil_div(N, kLanes) : N / kLanes;
    if (PANELS > 1 && all_wide % PANELS != 0) {
      for (; p < wide; ++p) {
        const bool at_end = ragged != 0 && (panel + p + 1) * kLanes > N;
        if (halves && at_end) {
          rows_of<1, false, true>(rows, row, panel + p, ragged);
        } else {
          rows_of<1, false>(rows, row, panel + p, at_end ? ragged : kLanes);
        }
      }
    }
    if (last_is_ragged && !padded) rows_of<1, true>(rows, row, panel + p, ragged);
  }

  FERRULE_INLINE bool copies_rows(int64_t tile_panels) const {
    const int64_t k_bytes = a_k_stride * static_cast<int64_t>(sizeof(T));
#if defined(__ARM_NEON)
    return false;  // It was never measured there.
#elif defined(__AVX512F__)
    // A tile reads as much as a line of each k. That is enough, but where all of them share a set of an 8-way cache.
    if (K < 1024 || k_bytes % 4096 != 0) return false;
#endif
    return matmul_copies_rows(a_row_stride, k_bytes, K, tile_panels);
  }

  // Columns have to be copied; rows are where that pays.
  FERRULE_INLINE bool packs_panels(int64_t M, MatmulPanels source) const {
    if (source != MatmulPanels::kOfRows) return source == MatmulPanels::kOfColumns;
#if defined(__AVX512F__)
    // 14 rows or three panels at a time read little: with half of either number the copy costs 2 to 14 %.
    return M >= 256 && K >= 512;
#else
    // With 6 rows at a time the copy gains up to three times the speed where the matrix fills a second-level cache.
    (void)M;
    return K * N * static_cast<int64_t>(sizeof(T)) >= 256 * 1024;
#endif
  }

  // The rows side by side for each k, in order of k.
  FERRULE_INLINE void copy_rows(int64_t rows, int64_t row) const {
    // What lies so far apart is nothing that the processor foresees.
    constexpr int64_t kAhead = 16;
    for (int64_t k = 0; k < K; ++k) {
      const T* from = a + row + k * a_k_stride;
      __builtin_prefetch(from + kAhead * a_k_stride);
      ferrule::kernels::store(copy + k * kLanes, load_first(from, rows));
    }
  }

  // The panels one after the other, in order of k; what is beyond column N is 0.
  FERRULE_INLINE void pack_panels(T* to, int64_t panel, int64_t panels, MatmulPanels source) const {
    constexpr int64_t kAhead = 8;
    for (int64_t p = panel; p < panel + panels; ++p, to += K * kLanes) {
      const int64_t left = N - p * kLanes, count = left < kLanes ? left : kLanes;
      if (source == MatmulPanels::kOfColumns) {
        if (count < kLanes) {
          for (int64_t k = 0; k < K; ++k) ferrule::kernels::store(to + k * kLanes, Vec<T>{});
        }
        block_transpose::transpose_block(to, kLanes, b + p * kLanes * b_panel_stride, b_panel_stride, count, K);
        continue;
      }
      for (int64_t k = 0; k < K; ++k) {
        const T* from = b + p * b_panel_stride + k * b_k_stride;
        __builtin_prefetch(from + kAhead * b_k_stride);
        ferrule::kernels::store(to + k * kLanes, count == kLanes ? load(from) : load_first(from, count));
      }
    }
  }

  // Register tiles of `height` rows of [row, end), a multiple of it.
  template <int PANELS>
  FERRULE_INLINE void register_tiles(int64_t height, int64_t row, int64_t end, int64_t panel, int64_t panels,
                                     bool padded) const {
    for (; row < end; row += height) strips<PANELS>(height, row, panel, panels, padded);
  }

  // The same, with rows that are copied first, as many tiles as 16 rows hold.
  template <int PANELS>
  FERRULE_INLINE void copied_tiles(int64_t height, int64_t row, int64_t end, int64_t panel, int64_t panels,
                                   bool padded) const {
    const int64_t step = kLanes / height * height;
    for (; row < end; row += step) {
      const int64_t last = row + step < end ? row + step : end;
      copy_rows(last - row, row);
      Matmul copied = *this;
      copied.a = copy;
      copied.a_row_stride = 1;
      copied.a_k_stride = kLanes;
      copied.a_first_row = row;
      copied.template register_tiles<PANELS>(height, row, last, panel, panels, padded);
    }
  }

  template <int PANELS>
  FERRULE_INLINE void run(int64_t M, int64_t tile_m, int64_t tile_panels, int64_t tile_begin, int64_t tile_end,
                          bool padded, MatmulPanels source) const {
    const int64_t height = tile_m < max_rows<T>(PANELS) ? tile_m : max_rows<T>(PANELS);
    const int64_t m_tiles = ceil_div(M, tile_m);
    const int64_t all_panels = ceil_div(N, kLanes);
    // Remainders that are constants when the shape is; `tail` is that of the last tile, or of every tile.
    const int64_t tail = tile_m % height == 0 ? M % height : -1;
    const bool copies = copies_rows(tile_panels);
    const bool packs = packs_panels(M, source);
    T* const packed = copies ? copy + K * kLanes : copy;
    Matmul product = *this;
    if (packs) {
      product.b = packed;
      product.b_panel_stride = K * kLanes;
      product.b_k_stride = kLanes;
    }
    for (int64_t t = tile_begin; t < tile_end; ++t) {
      const int64_t panel = t / m_tiles * tile_panels;
      const int64_t panels = panel + tile_panels <= all_panels ? tile_panels : all_panels - panel;
      if (packs && (t == tile_begin || t % m_tiles == 0)) {
        pack_panels(packed, panel, panels, source);
        product.b_first_panel = panel;
      }
      const int64_t begin = t % m_tiles * tile_m;
      const int64_t end = begin + tile_m <= M ? begin + tile_m : M;
      const int64_t whole = begin + (end - begin) / height * height;
      if (copies) {
        product.template copied_tiles<PANELS>(height, begin, whole, panel, panels, padded || packs);
        if (tail != 0 && whole < end) {
          const int64_t rest = tail > 0 ? tail : end - whole;
          product.template copied_tiles<PANELS>(rest, whole, whole + rest, panel, panels, padded || packs);
        }
        continue;
      }
      product.template register_tiles<PANELS>(height, begin, whole, panel, panels, padded || packs);
      if (tail != 0 && whole < end) {
        product.template strips<PANELS>(tail > 0 ? tail : end - whole, whole, panel, panels, padded || packs);
      }
    }
  }
};

template <typename T>
FERRULE_INLINE void matmul(void* ctx, FerruleStore store, FerruleFetch fetch, const T* a, int64_t a_row_stride,
                           int64_t a_k_stride, const T* b, int64_t b_panel_stride, int64_t b_k_stride, int64_t b_padded,
                           MatmulPanels source, int64_t M, int64_t N, int64_t K, int64_t tile_m, int64_t tile_panels,
                           int64_t tile_begin, int64_t tile_end, void* scratch) {
  const Matmul<T> product{
      ctx, store, fetch, a, a_row_stride, a_k_stride, b, b_panel_stride, b_k_stride, N, K, static_cast<T*>(scratch)};
  // One or two rows: each step waits for the one before it, so more panels hide what a step takes.
  if constexpr (max_rows<T>(4) >= 1) {
    if (tile_panels % 4 == 0 && M <= smaller(2, max_rows<T>(4)))
      return product.template run<4>(M, tile_m, tile_panels, tile_begin, tile_end, b_padded, source);
  }
  if constexpr (max_rows<T>(3) >= 1) {
    if (tile_panels % 3 == 0 && (has_tile<T>(3) || M <= smaller(2, max_rows<T>(3))))
      return product.template run<3>(M, tile_m, tile_panels, tile_begin, tile_end, b_padded, source);
  }
  if constexpr (has_tile<T>(2)) {
    if (tile_panels % 2 == 0)
      return product.template run<2>(M, tile_m, tile_panels, tile_begin, tile_end, b_padded, source);
  }
  product.template run<1>(M, tile_m, tile_panels, tile_begin, tile_end, b_padded, source);
}

}  // namespace
}  // namespace ferrule::kernels

#define FERRULE_MATMUL(S, T)                                                                                         \
  FERRULE_DEFINE(void, ferrule_matmul_##S)                                                                           \
  (void* ctx, FerruleStore store, FerruleFetch fetch, const T* a, int64_t a_row_stride, int64_t a_k_stride,          \
   const T* b, int64_t b_panel_stride, int64_t b_k_stride, int64_t b_padded, int64_t b_source, int64_t M, int64_t N, \
   int64_t K, int64_t tile_m, int64_t tile_panels, int64_t tile_begin, int64_t tile_end, void* scratch) {            \
    ferrule::kernels::matmul<T>(ctx, store, fetch, a, a_row_stride, a_k_stride, b, b_panel_stride, b_k_stride,       \
                                b_padded, static_cast<ferrule::kernels::MatmulPanels>(b_source), M, N, K, tile_m,    \
                                tile_panels, tile_begin, tile_end, scratch);                                         \
  }
FERRULE_MATMUL(f32, float)
FERRULE_MATMUL(f64, double)
