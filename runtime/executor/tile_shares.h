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
  // Of the one thread of descending shares: within a chunk the tiles ascend, so there have to be some of them.
  static constexpr int64_t kMaxDescendingChunks = 8;

  // At least one tile, at most so many threads. Descending: each thread begins with the last chunk of its share.
  TileShares(int64_t tiles, uint32_t max_threads, bool descending = false)
      : tiles_(tiles),
        thread_count_(tiles < max_threads ? static_cast<uint32_t>(tiles) : max_threads),
        descending_(descending) {
    const int64_t share = tiles / thread_count_;
    const int64_t most = thread_count_ > 1 ? kMaxChunks : descending ? kMaxDescendingChunks : 1;
    chunk_count_ = static_cast<uint32_t>(share < most ? share : most);
  }

  bool descending() const { return descending_; }

  uint32_t thread_count() const { return thread_count_; }
  // Of each thread; none of them is empty.
  uint32_t chunk_count() const { return chunk_count_; }
  // The one that is taken as number `number`. First in shares and then in chunks, so that shares stay equal where tiles
  // are few.
  TileRange chunk(uint32_t owner, uint32_t number) const {
    const TileRange share = piece_of(tiles_, thread_count_, owner);
    const TileRange chunk =
        piece_of(share.end - share.begin, chunk_count_, descending_ ? chunk_count_ - 1 - number : number);
    return {share.begin + chunk.begin, share.begin + chunk.end};
  }

 private:
  int64_t tiles_;
  uint32_t thread_count_, chunk_count_;
  bool descending_;
};

}  // namespace ferrule::runtime

#endif  // FERRULE_RUNTIME_EXECUTOR_TILE_SHARES_H_
