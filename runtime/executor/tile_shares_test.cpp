#include "runtime/executor/tile_shares.h"

#include "catch2/catch.hpp"

namespace ferrule::runtime {
namespace {

TEST_CASE("the chunks of all threads are all tiles in order, and shares are equal but for one tile") {
  for (int64_t tiles : {1, 2, 3, 5, 6, 7, 8, 11, 22, 64, 1001}) {
    for (uint32_t max_threads : {1u, 2u, 3u, 8u, 256u}) {
      const TileShares shares(tiles, max_threads);
      INFO(tiles << " tiles, " << max_threads << " threads");
      CHECK(shares.thread_count() == (tiles < max_threads ? tiles : max_threads));
      int64_t position = 0, least = tiles, most = 0;
      for (uint32_t thread = 0; thread < shares.thread_count(); ++thread) {
        const int64_t begin = position;
        for (uint32_t number = 0; number < shares.chunk_count(); ++number) {
          const TileRange chunk = shares.chunk(thread, number);
          REQUIRE(chunk.begin == position);
          REQUIRE(chunk.end > chunk.begin);
          position = chunk.end;
        }
        least = position - begin < least ? position - begin : least;
        most = position - begin > most ? position - begin : most;
      }
      CHECK(position == tiles);
      CHECK(most - least <= 1);
    }
  }
}

TEST_CASE("descending shares are the same ones, from the last chunk to the first") {
  for (int64_t tiles : {1, 2, 7, 16, 1001}) {
    for (uint32_t max_threads : {1u, 2u, 8u}) {
      const TileShares shares(tiles, max_threads, true);
      INFO(tiles << " tiles, " << max_threads << " threads");
      int64_t position = tiles;
      for (uint32_t thread = shares.thread_count(); thread-- > 0;) {
        CHECK(shares.chunk(thread, 0).end == piece_of(tiles, shares.thread_count(), thread).end);
        for (uint32_t number = 0; number < shares.chunk_count(); ++number) {
          const TileRange chunk = shares.chunk(thread, number);
          REQUIRE(chunk.end == position);
          REQUIRE(chunk.begin < chunk.end);
          position = chunk.begin;
        }
      }
      CHECK(position == 0);
    }
  }
  CHECK(TileShares(1001, 1, true).chunk_count() == TileShares::kMaxDescendingChunks);
}

TEST_CASE("what a thread takes at a time is an eighth of the tiles of two threads, or one tile") {
  for (int64_t tiles : {6, 16, 22, 1000}) {
    const TileShares shares(tiles, 2);
    const TileRange chunk = shares.chunk(0, 0);
    CHECK(chunk.end - chunk.begin <= tiles / 8 + 1);
  }
}

}  // namespace
}  // namespace ferrule::runtime
