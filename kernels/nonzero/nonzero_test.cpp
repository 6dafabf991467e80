// The positions of set elements against the scalar reference.
#include <vector>

#include "catch2/catch.hpp"
#include "kernels/nonzero/reference.h"
#include "kernels/testing/random_data.h"
#include "kernels/testing/skeleton_table.h"

namespace ferrule::kernels {

TEST_CASE("nonzero: sizes around the vector's, masks that are empty, full and between") {
  Random random(1);
  for (const int64_t n : {0, 1, 2, 15, 16, 17, 63, 64, 65, 1000}) {
    for (const int64_t one_in : {1, 2, 9, 1000000}) {
      std::vector<uint8_t> mask(n);
      for (uint8_t& element : mask) element = random.between(0, one_in - 1) == 0 ? random.between(1, 255) : 0;
      Buffer<int32_t> expected(n);
      const int64_t wanted = reference_nonzero(mask.data(), n, expected.data());
      for (const SkeletonTable* table : runnable_skeletons()) {
        INFO(table->target << ", n = " << n << ", one in " << one_in);
        Buffer<int32_t> indices(n);
        int64_t count = -1;
        table->ferrule_nonzero(indices.data(), &count, mask.data(), n, 0, 0);
        CHECK(count == -1);
        table->ferrule_nonzero(indices.data(), &count, mask.data(), n, 0, 1);
        CHECK(count == wanted);
        CHECK(difference(expected, indices) == "");
      }
    }
  }
}

}  // namespace ferrule::kernels
