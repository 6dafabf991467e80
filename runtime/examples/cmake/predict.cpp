// predict ARTIFACT: y = predict(x) for one row of four numbers, through the C++ header.
#include <cstdio>

#include "runtime/api/ferrule.hpp"

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: predict ARTIFACT\n"), 1;
  auto program = ferrule::Program::open(argv[1]);
  if (!program) return std::fprintf(stderr, "%s\n", program.status().message()), 1;
  auto session = ferrule::Session::create(*program);
  if (!session) return std::fprintf(stderr, "%s\n", session.status().message()), 1;
  const float numbers[4] = {0, 1, 2, 3};
  const auto x = ferrule::Tensor::copy_of({1, 4}, numbers);
  ferrule::Tensor y;
  const ferrule::Status status = session->run("predict", {x}, {&y});
  if (!status) return std::fprintf(stderr, "%s\n", status.message()), 1;
  const float* values = y.data<float>();
  std::printf("%g %g %g %g\n", values[0], values[1], values[2], values[3]);
  return 0;
}
