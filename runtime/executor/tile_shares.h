// How the tiles of a kernel call are dealt out to threads.
#ifndef FERRULE_RUNTIME_EXECUTOR_TILE_SHARES_H_
#define FERRULE_RUNTIME_EXECUTOR_TILE_SHARES_H_

#include <stdint.h>

namespace ferrule::runtime {

struct TileRange {
  int64_t begin, end;
};

// [0, size) in `count` pieces whose sizes differ by one at most, the larger ones first; piece number `index`.
inline TileRange piece_of(int64_t size, int64_t count, int64_t index) {
  const int64_t quotient = size / count, remainder = size % count;
  const int64_t begin = quotient * index + (index < remainder ? index : remainder);
  return {begin, begin + quotient + (index < remainder ? 1 : 0)};
}

// Each thread has a share of the tiles, in one row and of nearly equal size, and takes it in chunks. A thread that has
// done its own takes what is left of the others': a worker may have to be woken, and tiles may take different times.
class TileShares {
 public:
  // Small enough that nobody waits long for another's last chunk, and few enough that taking them costs nothing.
  static constexpr int64_t kMaxChunks = 4;  // a thread

  // At least one tile, at most so many threads.
  TileShares(int64_t tiles, uint32_t max_threads)
      : tiles_(tiles), thread_count_(tiles < max_threads ? static_cast<uint32_t>(tiles) : max_threads) {
    const int64_t share = tiles / thread_count_;
    chunk_count_ = thread_count_ == 1 ? 1 : static_cast<uint32_t>(share < kMaxChunks ? share : kMaxChunks);
  }

  uint32_t thread_count() const { return thread_count_; }
  // Of each thread; none of them is empty.
  uint32_t chunk_count() const { return chunk_count_; }
  // First in shares and then in chunks, so that shares stay equal where tiles are few.
  TileRange chunk(uint32_t owner, uint32_t number) const {
    if (thread_count_ == 1) return {0, tiles_};
    const TileRange share = piece_of(tiles_, thread_count_, owner);
    const TileRange chunk = piece_of(share.end - share.begin, chunk_count_, number);
    return {share.begin + chunk.begin, share.begin + chunk.end};
  }

 private:
  int64_t tiles_;
  uint32_t thread_count_, chunk_count_;
};

}  // namespace ferrule::runtime

#endif  // FERRULE_RUNTIME_EXECUTOR_TILE_SHARES_H_
