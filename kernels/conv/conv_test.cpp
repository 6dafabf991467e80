// Convolution, its gradients and the panel transpose against the scalar reference, bit for bit.
#include <deque>

#include "catch2/catch.hpp"
#include "kernels/conv/reference.h"
#include "kernels/testing/matrix_store.h"
#include "kernels/testing/random_data.h"
#include "kernels/testing/skeleton_table.h"
#include "kernels/testing/sweep.h"

namespace ferrule::kernels {
namespace {

template <typename T>
struct Family;
template <>
struct Family<float> {
  explicit Family(const SkeletonTable& t)
      : conv(t.ferrule_conv_f32),
        input_gradient(t.ferrule_conv_input_gradient_f32),
        weight_gradient(t.ferrule_conv_weight_gradient_f32),
        conv_pieces(t.ferrule_conv_pieces_f32),
        weight_gradient_of_pieces(t.ferrule_conv_pieces_weight_gradient_f32),
        transpose(t.ferrule_transpose_panels_f32) {}
  decltype(SkeletonTable::ferrule_conv_f32) conv, input_gradient;
  decltype(SkeletonTable::ferrule_conv_weight_gradient_f32) weight_gradient;
  decltype(SkeletonTable::ferrule_conv_pieces_f32) conv_pieces;
  decltype(SkeletonTable::ferrule_conv_pieces_weight_gradient_f32) weight_gradient_of_pieces;
  decltype(SkeletonTable::ferrule_transpose_panels_f32) transpose;
};
template <>
struct Family<double> {
  explicit Family(const SkeletonTable& t)
      : conv(t.ferrule_conv_f64),
        input_gradient(t.ferrule_conv_input_gradient_f64),
        weight_gradient(t.ferrule_conv_weight_gradient_f64),
        conv_pieces(t.ferrule_conv_pieces_f64),
        weight_gradient_of_pieces(t.ferrule_conv_pieces_weight_gradient_f64),
        transpose(t.ferrule_transpose_panels_f64) {}
  decltype(SkeletonTable::ferrule_conv_f64) conv, input_gradient;
  decltype(SkeletonTable::ferrule_conv_weight_gradient_f64) weight_gradient;
  decltype(SkeletonTable::ferrule_conv_pieces_f64) conv_pieces;
  decltype(SkeletonTable::ferrule_conv_pieces_weight_gradient_f64) weight_gradient_of_pieces;
  decltype(SkeletonTable::ferrule_transpose_panels_f64) transpose;
};

// `skeleton` from its third parameter on, in two ranges, as two threads would take them.
template <typename T, typename Skeleton>
void call(Skeleton skeleton, const T* p, const T* q, const ConvShape& s, int64_t tiles) {
  Buffer<T> scratch(conv_weight_gradient_scratch_bytes(s.groups, s.in_c, s.out_c, s.kernel_d, s.kernel_h, s.kernel_w,
                                                       s.dilation_w, 1));
  for (const auto& [begin, end] : {std::pair(tiles / 2, tiles), std::pair(int64_t{0}, tiles / 2)}) {
    skeleton(p, q, s.batch, s.in_h, s.in_w, s.in_c, s.out_h, s.out_w, s.out_c, s.groups, s.kernel_h, s.kernel_w,
             s.stride_h, s.stride_w, s.pad_top, s.pad_left, s.dilation_h, s.dilation_w, s.in_d, s.out_d, s.kernel_d,
             s.stride_d, s.pad_front, s.dilation_d, begin, end, scratch.data());
  }
}

template <typename T, typename Skeleton>
void call(Skeleton skeleton, const T* p, const T* q, const ConvShape& s, int64_t tiles, T* out, int64_t columns) {
  Matrix<T> matrix{out, columns};
  call<T>([&](auto... rest) { skeleton(&matrix, store_matrix<T>, rest...); }, p, q, s, tiles);
}

// The same of a skeleton that asks for what a store uses: with `once`, for each place once.
template <typename T, typename Skeleton>
void call_fetching(Skeleton skeleton, const T* p, const T* q, const ConvShape& s, int64_t tiles, Buffer<T>& out,
                   int64_t columns, bool once = false) {
  // Short sums ask for the pixels of a tile to come: 14 with a step of up to 3 between them, beyond the last, too.
  std::vector<uint8_t> asked(out.size() + 2 * 3 * 14 * columns);
  Matrix<T> matrix{out.data(), columns, asked.data()};
  call<T>([&](auto... rest) { skeleton(&matrix, store_matrix<T>, fetch_matrix<T>, rest...); }, p, q, s, tiles);
  for (int64_t i = 0; once && i < out.size(); ++i) REQUIRE(asked[i] == (i % columns % 16 == 0));
}

std::string describe(const ConvShape& s) {
  std::string text;
  for (int64_t v : {s.batch, s.in_h, s.in_w, s.in_c, s.out_h, s.out_w, s.out_c, s.groups, s.kernel_h, s.kernel_w,
                    s.stride_h, s.stride_w, s.pad_top, s.pad_left, s.dilation_h, s.dilation_w, s.in_d, s.out_d,
                    s.kernel_d, s.stride_d, s.pad_front, s.dilation_d}) {
    text += std::to_string(v) + " ";
  }
  return text;
}

template <typename T>
void check(const ConvShape& s, uint64_t seed, bool special) {
  Random random(seed);
  const int64_t in_g = s.in_c / s.groups, out_g = s.out_c / s.groups, taps = s.kernel_d * s.kernel_h * s.kernel_w;
  Buffer<T> x(s.batch * s.in_d * s.in_h * s.in_w * s.in_c);
  Buffer<T> dy(s.batch * s.out_d * s.out_h * s.out_w * s.out_c);
  Buffer<T> weights(s.groups * ceil_div(out_g, 16) * taps * in_g * 16);
  Buffer<T> transposed(s.groups * ceil_div(in_g, 16) * taps * out_g * 16);
  random.fill(x, special);
  random.fill(dy, special);
  random.fill(weights, special);
  reference_transpose_panels(weights.data(), transposed.data(), s.groups, out_g, taps, in_g);
  Buffer<T> y(dy.size()), dx(x.size()), dw(weights.size());
  reference_conv(x.data(), weights.data(), s, y.data());
  reference_conv_input_gradient(dy.data(), transposed.data(), s, dx.data());
  reference_conv_weight_gradient(x.data(), dy.data(), s, dw.data());
  for (const SkeletonTable* table : runnable_skeletons()) {
    INFO(table->target << " shape " << describe(s));
    const Family<T> family(*table);
    Buffer<T> got_y(y.size()), got_dx(dx.size()), got_dw(dw.size()), got_transposed(transposed.size());
    call_fetching<T>(family.conv, x.data(), weights.data(), s,
                     s.batch * s.out_d * s.out_h * conv_column_blocks(s.groups, s.out_c), got_y, s.out_c);
    REQUIRE(difference(y, got_y) == "");
    call_fetching<T>(family.input_gradient, dy.data(), transposed.data(), s, s.batch * s.in_d * s.in_h, got_dx,
                     s.in_c);
    REQUIRE(difference(dx, got_dx) == "");
    call<T>(family.weight_gradient, x.data(), dy.data(), s,
            conv_weight_gradient_tiles(s.groups, s.in_c, s.out_c, s.kernel_d, s.kernel_h, s.kernel_w, s.dilation_w),
            got_dw.data(), 16);
    REQUIRE(difference(dw, got_dw) == "");
    family.transpose(weights.data(), got_transposed.data(), s.groups, out_g, taps, in_g, 0,
                     s.groups * ceil_div(in_g, 16) * taps);
    REQUIRE(difference(transposed, got_transposed) == "");
  }
}

// The channels of images x from number `first` on that make the images `piece`.
template <typename T>
void take_channels(const Buffer<T>& x, int64_t in_c, int64_t first, int64_t count, Buffer<T>& piece) {
  for (int64_t i = 0; i < piece.size(); ++i) piece[i] = x[i / count * in_c + first + i % count];
}

// A skeleton that reads x in pieces, of which there are so many channels.
template <typename T, typename Skeleton>
void call_with_pieces(Skeleton skeleton, const std::vector<const void*>& pieces, const std::vector<int64_t>& channels,
                      const T* q, const ConvShape& s, int64_t tiles, T* out, int64_t columns) {
  Matrix<T> matrix{out, columns};
  const int64_t count = pieces.size();
  Buffer<T> scratch(conv_weight_gradient_scratch_bytes(1, s.in_c, s.out_c, s.kernel_d, s.kernel_h, s.kernel_w,
                                                       s.dilation_w, 1, count));
  for (const auto& [begin, end] : {std::pair(tiles / 2, tiles), std::pair(int64_t{0}, tiles / 2)}) {
    skeleton(&matrix, store_matrix<T>, pieces.data(), channels.data(), count, q, s.batch, s.in_h, s.in_w, s.in_c,
             s.out_h, s.out_w, s.out_c, s.groups, s.kernel_h, s.kernel_w, s.stride_h, s.stride_w, s.pad_top, s.pad_left,
             s.dilation_h, s.dilation_w, s.in_d, s.out_d, s.kernel_d, s.stride_d, s.pad_front, s.dilation_d, begin, end,
             scratch.data());
  }
}

// The convolution that reads its image in pieces of so many channels, and the gradient of its weight, against the
// references on the whole image.
template <typename T>
void check_pieces(const ConvShape& s, const std::vector<int64_t>& channels, uint64_t seed, bool special) {
  Random random(seed);
  Buffer<T> x(s.batch * s.in_d * s.in_h * s.in_w * s.in_c);
  Buffer<T> weights(ceil_div(s.out_c, 16) * s.kernel_d * s.kernel_h * s.kernel_w * s.in_c * 16);
  Buffer<T> dy(s.batch * s.out_d * s.out_h * s.out_w * s.out_c);
  random.fill(x, special);
  random.fill(weights, special);
  random.fill(dy, special);
  Buffer<T> y(dy.size()), dw(weights.size());
  reference_conv(x.data(), weights.data(), s, y.data());
  reference_conv_weight_gradient(x.data(), dy.data(), s, dw.data());
  std::deque<Buffer<T>> pieces;
  std::vector<const void*> begins;
  int64_t first = 0;
  for (const int64_t count : channels) {
    pieces.emplace_back(x.size() / s.in_c * count);
    take_channels(x, s.in_c, first, count, pieces.back());
    begins.push_back(pieces.back().data());
    first += count;
  }
  REQUIRE(first == s.in_c);
  const int64_t count = channels.size();
  for (const SkeletonTable* table : runnable_skeletons()) {
    INFO(table->target << " shape " << describe(s) << " in " << count << " pieces");
    const Family<T> family(*table);
    Buffer<T> got_y(y.size()), got_dw(dw.size());
    const auto forward = [&](void* ctx, FerruleStore store, auto... rest) {
      family.conv_pieces(ctx, store, nullptr, rest...);
    };
    call_with_pieces<T>(forward, begins, channels, weights.data(), s,
                        s.batch * s.out_d * s.out_h * conv_column_blocks(1, s.out_c), got_y.data(), s.out_c);
    REQUIRE(difference(y, got_y) == "");
    call_with_pieces<T>(
        family.weight_gradient_of_pieces, begins, channels, dy.data(), s,
        conv_weight_gradient_tiles(1, s.in_c, s.out_c, s.kernel_d, s.kernel_h, s.kernel_w, s.dilation_w, count),
        got_dw.data(), 16);
    REQUIRE(difference(dw, got_dw) == "");
  }
}

ConvShape random_shape(Random& random) {
  ConvShape s{};
  s.groups = random.between(0, 3) == 0 ? random.between(2, 3) : 1;
  s.batch = random.between(1, 2);
  s.in_h = random.between(1, 12);
  s.in_w = random.between(1, 24);
  s.in_c = s.groups * random.between(1, 20);
  s.out_c = s.groups * random.between(1, 40);
  s.kernel_h = random.between(1, 4);
  s.kernel_w = random.between(1, 4);
  s.stride_h = random.between(1, 3);
  s.stride_w = random.between(1, 3);
  s.dilation_h = random.between(1, 2);
  s.dilation_w = random.between(1, 2);
  s.pad_top = random.between(0, 3);
  s.pad_left = random.between(0, 3);
  const int64_t room_h = s.in_h + 2 * s.pad_top - (s.kernel_h - 1) * s.dilation_h - 1;
  const int64_t room_w = s.in_w + 2 * s.pad_left - (s.kernel_w - 1) * s.dilation_w - 1;
  s.out_h = room_h < 0 ? 0 : room_h / s.stride_h + 1;
  s.out_w = room_w < 0 ? 0 : room_w / s.stride_w + 1;
  return s;
}

void add_depth(ConvShape& s, Random& random) {
  s.in_d = random.between(1, 6);
  s.kernel_d = random.between(1, 3);
  s.stride_d = random.between(1, 3);
  s.dilation_d = random.between(1, 2);
  s.pad_front = random.between(0, 2);
  const int64_t room = s.in_d + 2 * s.pad_front - (s.kernel_d - 1) * s.dilation_d - 1;
  s.out_d = room < 0 ? 0 : room / s.stride_d + 1;
}

TEST_CASE("convolutions equal the reference on random shapes") {
  Random random(2);
  int tried = 0;
  for (uint64_t seed = 0; tried < sweep(60); ++seed) {
    const ConvShape s = random_shape(random);
    if (s.out_h == 0 || s.out_w == 0) continue;
    ++tried;
    check<float>(s, seed, random.between(0, 2) == 0);
    if (tried % 3 == 0) check<double>(s, seed, false);
  }
}

TEST_CASE("convolutions with several blocks of output channels equal the reference") {
  uint64_t seed = 0;
  for (const int64_t out_c : {64, 128, 160, 224, 256, 272, 320}) {
    for (const int64_t groups : {1, 2}) {
      check<float>({2, 5, 9, 4, 5, 9, out_c * groups, groups, 3, 3, 1, 1, 1, 1, 1, 1}, ++seed, out_c == 160);
      check<double>({1, 1, 11, 6, 1, 10, out_c, 1, 1, 2, 1, 1, 0, 0, 1, 1}, ++seed, false);
    }
  }
}

TEST_CASE("convolutions ask once for what each store uses, while they sum") {
  // One tap and several; rows of several tiles, and with borders; panels of 3 and 8 columns; sums of several blocks.
  for (const ConvShape& s : {ConvShape{2, 3, 56, 64, 3, 56, 72, 1, 1, 1, 1, 1, 0, 0, 1, 1},
                             ConvShape{1, 5, 9, 8, 5, 9, 35, 1, 3, 3, 1, 1, 1, 1, 1, 1},
                             ConvShape{1, 3, 7, 5000, 3, 7, 33, 1, 1, 1, 1, 1, 0, 0, 1, 1}}) {
    Buffer<float> x(s.batch * s.in_h * s.in_w * s.in_c), y(s.batch * s.out_h * s.out_w * s.out_c);
    const int64_t taps = s.kernel_h * s.kernel_w;
    Buffer<float> weights(ceil_div(s.out_c, 16) * taps * s.in_c * 16);
    Buffer<float> transposed(ceil_div(s.in_c, 16) * taps * s.out_c * 16);
    for (const SkeletonTable* table : runnable_skeletons()) {
      INFO(table->target << " shape " << describe(s));
      call_fetching<float>(table->ferrule_conv_f32, x.data(), weights.data(), s,
                           s.batch * s.out_h * conv_column_blocks(1, s.out_c), y, s.out_c, true);
      call_fetching<float>(table->ferrule_conv_input_gradient_f32, y.data(), transposed.data(), s, s.batch * s.in_h, x,
                           s.in_c, true);
    }
  }
}

TEST_CASE("convolutions of volumes equal the reference on random shapes") {
  Random random(3);
  int tried = 0;
  for (uint64_t seed = 0; tried < sweep(40); ++seed) {
    ConvShape s = random_shape(random);
    add_depth(s, random);
    if (s.out_d == 0 || s.out_h == 0 || s.out_w == 0) continue;
    ++tried;
    check<float>(s, seed, random.between(0, 2) == 0);
    if (tried % 3 == 0) check<double>(s, seed, false);
  }
}

TEST_CASE("convolutions of images in pieces equal the reference on the whole image") {
  Random random(5);
  int tried = 0;
  for (uint64_t seed = 0; tried < 60; ++seed) {
    ConvShape s = random_shape(random);
    if (seed % 4 == 0) add_depth(s, random);
    s.groups = 1;
    s.in_c = 0;
    std::vector<int64_t> channels(random.between(2, 8));
    for (int64_t& count : channels) s.in_c += count = random.between(1, 20);
    if (s.out_d == 0 || s.out_h == 0 || s.out_w == 0) continue;
    ++tried;
    check_pieces<float>(s, channels, seed, random.between(0, 2) == 0);
    if (tried % 3 == 0) check_pieces<double>(s, channels, seed, false);
  }
  // Blocks of 4,096 k end within a piece, between two, and at taps outside of the image.
  check_pieces<float>({1, 3, 5, 520, 3, 5, 17, 1, 3, 3, 1, 1, 1, 1, 1, 1}, {8, 512}, 6, false);
  check_pieces<float>({1, 2, 5, 1024, 2, 5, 40, 1, 2, 2, 1, 1, 1, 1, 1, 1}, {512, 512}, 7, true);
  check_pieces<float>({1, 3, 7, 6000, 3, 7, 33, 1, 1, 1, 1, 1, 0, 0, 1, 1}, {1000, 4096, 904}, 8, false);
  check_pieces<float>({2, 5, 9, 12, 5, 9, 256, 1, 3, 3, 1, 1, 1, 1, 1, 1}, {4, 8}, 9, false);
  // Of the gradient several blocks of positions and of channels. In one piece the taps of 8 channels count as channels.
  check_pieces<float>({2, 9, 40, 290, 9, 40, 18, 1, 1, 3, 1, 1, 0, 1, 1, 1}, {20, 270}, 10, false);
  check_pieces<float>({3, 40, 57, 20, 40, 57, 33, 1, 1, 1, 1, 1, 0, 0, 1, 1}, {3, 17}, 11, true);
  check_pieces<double>({1, 3, 280, 8, 3, 280, 17, 1, 3, 3, 1, 1, 1, 1, 1, 1}, {3, 5}, 12, false);
}

TEST_CASE("the gradient of a weight equals the reference over blocks of positions and of channels") {
  // Blocks of whole rows, of parts of long rows, and of one tap that meets every position; more channels than one has.
  check<float>({2, 9, 40, 20, 9, 40, 18, 1, 3, 3, 1, 1, 1, 1, 1, 1}, 1, false);
  check<float>({1, 2, 300, 9, 2, 300, 33, 1, 1, 3, 1, 1, 0, 1, 1, 1}, 2, true);
  check<float>({3, 13, 11, 270, 13, 11, 33, 1, 1, 1, 1, 1, 0, 0, 1, 1}, 3, false);
  check<float>({2, 40, 57, 9, 40, 57, 17, 1, 1, 1, 1, 1, 0, 0, 1, 1}, 4, true);
  check<float>({1, 60, 50, 12, 30, 25, 34, 2, 1, 1, 2, 2, 0, 0, 1, 1}, 5, false);
  check<double>({2, 9, 33, 10, 9, 33, 18, 1, 3, 3, 1, 1, 1, 1, 1, 1}, 6, false);
  // Taps as channels: an image narrower than the padding, long rows, a tap that no output meets, and one that few do.
  check<float>({2, 3, 2, 3, 3, 8, 20, 1, 3, 5, 1, 1, 1, 5, 1, 1}, 7, true);
  check<float>({1, 3, 280, 3, 3, 140, 33, 1, 7, 7, 1, 2, 3, 3, 1, 1}, 8, true);
  check<double>({1, 4, 1, 8, 4, 3, 16, 1, 1, 4, 1, 3, 0, 4, 1, 1}, 9, false);
  check<float>({40, 11, 12, 1, 11, 12, 6, 1, 5, 5, 1, 1, 2, 2, 1, 1}, 10, false);
  // Where a block of the sum ends, positions are absent.
  check<float>({1, 64, 64, 9, 65, 64, 17, 1, 4, 1, 1, 1, 2, 0, 1, 1}, 11, false);
  check<float>({1, 128, 65, 2, 128, 65, 17, 1, 3, 3, 1, 1, 1, 1, 1, 1}, 12, true);
  // More tiles than pass over a block together, of whole and of ragged pairs of panels; also of several groups.
  check<float>({1, 12, 13, 280, 12, 13, 70, 1, 3, 3, 1, 1, 1, 1, 1, 1}, 13, false);
  check<double>({1, 12, 13, 27, 12, 13, 105, 3, 3, 3, 1, 1, 1, 1, 1, 1}, 14, true);
}

TEST_CASE("convolutions move their sums on at every 4,096th k, absent positions counted") {
  check<float>({1, 3, 5, 520, 3, 5, 17, 1, 3, 3, 1, 1, 1, 1, 1, 1}, 3, false);
  check<float>({1, 3, 5, 17, 3, 5, 520, 1, 3, 3, 1, 1, 1, 1, 1, 1}, 4, false);
  check<float>({5, 30, 31, 3, 30, 31, 18, 1, 3, 3, 1, 1, 1, 1, 1, 1}, 5, false);
  check<float>({1, 3, 4, 200, 3, 4, 17, 1, 3, 3, 1, 1, 1, 1, 1, 1, 4, 4, 3, 1, 1, 1}, 6, false);
  check<float>({2, 12, 13, 3, 12, 13, 18, 1, 3, 3, 1, 1, 1, 1, 1, 1, 16, 16, 3, 1, 1, 1}, 7, false);
}

}  // namespace
}  // namespace ferrule::kernels
