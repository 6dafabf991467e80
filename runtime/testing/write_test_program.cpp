// write_test_program KERNELS OUTPUT: the test program as a file, for tests that start from one.
#include "runtime/testing/test_program.h"

int main(int argc, char** argv) {
  using namespace ferrule::runtime::testing;
  if (argc != 3) return 2;
  write_file(argv[2], to_artifact(describe_test_program(argv[1])));
  return 0;
}
