// A forked child that starts threads of its own. Apart from process_test, which also runs under emulation: qemu 7.2 ends a
// process that does this, whatever program it is.
#include "runtime/api/fork_test_support.h"

namespace ferrule::runtime::testing {

TEST_CASE("a forked child starts threads of its own, whether the parent had some or not") {
  for (const uint32_t parent_threads : {1u, 3u}) check_fork(parent_threads, 3);
}

}  // namespace ferrule::runtime::testing
