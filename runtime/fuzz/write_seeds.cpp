// write_seeds FUZZER FOLDER: the files that a fuzzer starts from.
#include "runtime/fuzz/seeds.h"
#include "runtime/testing/test_program.h"

int main(int argc, char** argv) {
  using namespace ferrule::runtime;
  if (argc != 3) return 2;
  const auto seeds = fuzz::seeds(argv[1]);
  for (const auto& [name, bytes] : seeds) testing::write_file(std::string(argv[2]) + "/" + name, bytes);
  return seeds.empty() ? 1 : 0;
}
