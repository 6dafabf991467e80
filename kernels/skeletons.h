// Declares every skeleton: the functions that a generated kernel calls, and that bitcode.h delivers per target.
//
// skeletons.inc documents them. A skeleton is always inlined into its caller, so arguments that are constants there
// (shapes, tile sizes, callbacks) leave no trace in the code.
#ifndef FERRULE_KERNELS_SKELETONS_H_
#define FERRULE_KERNELS_SKELETONS_H_

#include <stdint.h>

#include "kernels/base/callbacks.h"
#include "kernels/base/kernel_args.h"

// Definitions carry always_inline, and a suffix when tests build one skeleton for several instruction sets.
#ifndef FERRULE_SYMBOL
#define FERRULE_SYMBOL(name) name
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define FERRULE_SKELETON(result, name, arguments) result FERRULE_SYMBOL(name) arguments;
#include "kernels/skeletons.inc"
#undef FERRULE_SKELETON

#ifdef __cplusplus
}  // extern "C"

namespace ferrule::kernels {

constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

constexpr int64_t matmul_tiles(int64_t M, int64_t N, int64_t tile_m, int64_t tile_panels) {
  return ceil_div(M, tile_m) * ceil_div(ceil_div(N, 16), tile_panels);
}

// Whether a product may copy the rows of its register tiles before it uses them: the left operand stands transposed, each
// k in a line far from the last one's, and often in the same sets of a cache; and enough panels of a tile read the copy. Of
// more k's than a block of the sum there would be no room for it.
constexpr bool matmul_copies_rows(int64_t a_row_stride, int64_t a_k_bytes, int64_t K, int64_t tile_panels) {
  return a_row_stride == 1 && a_k_bytes >= 1024 && K <= 4096 && tile_panels >= 8;
}

// Where a product takes the panels of its right operand from: as they lie in memory; or it copies those of a tile side by
// side first, once for all tiles of rows, from rows of k (where that pays on its target) or from columns. Where the k's of a panel lie far from one another,
// most of them share few sets of the caches, and are read from far away for each tile of rows.
enum class MatmulPanels : int64_t { kAsTheyAre = 0, kOfRows = 1, kOfColumns = 2 };

// The elements of a product's scratch.
constexpr int64_t matmul_scratch_lanes(bool copies_rows, bool packs_panels, int64_t K, int64_t tile_panels) {
  return 16 * K * (copies_rows + (packs_panels ? tile_panels : 0));
}

// A reduction over rows reads so much of a row at a time.
inline constexpr int64_t kReducedColumnBytes = 1024;

// A transpose works on square blocks of so many rows and columns.
inline constexpr int64_t kTransposeBlock = 64;

// Equal blocks of 4 to 8 panels of a convolution's output channels that are tiles of their own, so that threads have work
// also where the image has few rows; 1 if the panels do not split like that.
constexpr int64_t conv_column_blocks(int64_t groups, int64_t out_c) {
  const int64_t columns = out_c / groups;
  for (int64_t panels = 8; panels >= 4; --panels) {
    if (columns % (panels * 16) == 0) return columns / (panels * 16);
  }
  return 1;
}

// The gradient of a weight takes the positions in blocks of about so many, and of the channels so many at a time: what
// these read, 133 KiB of x and 16 KiB of dy in float, is to stay in a second-level cache. 19 tiles of 14 channels: with
// 18, each 256 channels would leave 4 for a pass of their own.
inline constexpr int64_t kWeightGradientBlock = 128, kWeightGradientChannels = 266;
// So many tiles pass over a block before the next one is read. Their sums, at most 532 KiB in float, are read and written
// once a block. What is copied of dy: two panels of a block.
inline constexpr int64_t kWeightGradientTiles = 8, kWeightGradientCopied = kWeightGradientBlock * 2 * 16;

// Whether the taps of a kernel row count as channels: they lie side by side in an image of one piece as they do in the
// weight, and a few channels alone do not fill a register tile.
constexpr bool weight_gradient_merges_taps(int64_t groups, int64_t in_c, int64_t kernel_w, int64_t dilation_w,
                                           int64_t pieces = 1) {
  return pieces == 1 && groups == 1 && in_c <= 8 && kernel_w > 1 && dilation_w == 1;
}
constexpr int64_t conv_weight_gradient_tiles(int64_t groups, int64_t in_c, int64_t out_c, int64_t kernel_d, int64_t kernel_h,
                                             int64_t kernel_w, int64_t dilation_w, int64_t pieces = 1) {
  const bool merges = weight_gradient_merges_taps(groups, in_c, kernel_w, dilation_w, pieces);
  return pieces * groups * ceil_div(ceil_div(out_c / groups, 16), 2) * kernel_d * kernel_h * (merges ? 1 : kernel_w);
}
// The sums of a tile, in elements: two for each of the channels of two panels.
constexpr int64_t conv_weight_gradient_sums(int64_t groups, int64_t in_c, int64_t kernel_w, bool merges) {
  const int64_t channels = merges ? in_c * kernel_w : in_c / groups;
  return (channels < kWeightGradientChannels ? channels : kWeightGradientChannels) * 2 * 2 * 16;
}
// The scratch of a thread: the sums of some tiles, and the copy.
constexpr int64_t conv_weight_gradient_scratch_bytes(int64_t groups, int64_t in_c, int64_t out_c, int64_t kernel_d,
                                                     int64_t kernel_h, int64_t kernel_w, int64_t dilation_w,
                                                     int64_t element_bytes, int64_t pieces = 1) {
  const bool merges = weight_gradient_merges_taps(groups, in_c, kernel_w, dilation_w, pieces);
  const int64_t tiles =
      conv_weight_gradient_tiles(groups, in_c, out_c, kernel_d, kernel_h, kernel_w, dilation_w, pieces);
  const int64_t waiting = tiles < kWeightGradientTiles ? tiles : kWeightGradientTiles;
  return (waiting * conv_weight_gradient_sums(groups, in_c, kernel_w, merges) + kWeightGradientCopied) * element_bytes;
}

// Channels of a depthwise tile: small enough to share a row of 7 pixels, large enough that a tile is worth a call.
inline constexpr int64_t kDepthwiseTileChannels = 128;

// `rows` = batch times depth times height of the result.
constexpr int64_t depthwise_tiles(int64_t rows, int64_t channels) {
  return rows * ceil_div(channels, kDepthwiseTileChannels);
}
constexpr int64_t depthwise_weight_gradient_tiles(int64_t channels, int64_t kernel_d, int64_t kernel_h) {
  return ceil_div(channels, 16) * kernel_d * kernel_h;
}

}  // namespace ferrule::kernels
#endif

#endif  // FERRULE_KERNELS_SKELETONS_H_
