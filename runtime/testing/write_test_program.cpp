// write_test_program KERNELS OUTPUT [external]: the test program as a file, for tests that start from one. With
// "external" it holds no code: the product registers the kernels under their names.
#include <cstring>

#include "runtime/testing/test_program.h"

int main(int argc, char** argv) {
  using namespace ferrule::runtime::testing;
  const bool is_external = argc == 4 && std::strcmp(argv[3], "external") == 0;
  if (argc != 3 && !is_external) return 2;
  ferrule::serialize::ProgramDescription program = describe_test_program(argv[1]);
  if (is_external) {
    for (ferrule::serialize::KernelDescription& kernel : program.kernels) {
      kernel.symbol = kernel.name;
      kernel.offsets.clear();
    }
    program.targets[0].code.clear();
  }
  write_file(argv[2], to_artifact(program));
  return 0;
}
