// Trains and runs the file that mlp.py writes, without Python (shown in README.md).
//
//   bazel build //frontend/examples:mlp && bazel-bin/frontend/examples/mlp mlp.fer
#include <cstdint>
#include <cstdio>
#include <vector>

// README begins
#include "runtime/api/ferrule.hpp"

int main(int argc, char** argv) {
  auto program = ferrule::Program::open(argc > 1 ? argv[1] : "mlp.fer");
  if (!program) return std::fprintf(stderr, "%s\n", program.status().message()), 1;
  auto session = ferrule::Session::create(*program);
  if (!session) return std::fprintf(stderr, "%s\n", session.status().message()), 1;

  const auto image = ferrule::Tensor::copy_of({8, 64}, std::vector<float>(8 * 64, 0.5f).data());
  const auto label = ferrule::Tensor::copy_of({8}, std::vector<int32_t>(8, 3).data());
  ferrule::Tensor loss, probability;
  for (int step = 0; step < 100; ++step) {
    const ferrule::Status status = session->run("train_step", {image, label}, {&loss});  // updates the weights
    if (!status) return std::fprintf(stderr, "%s\n", status.message()), 1;
  }
  if (!session->run("predict", {image}, {&probability})) return 1;  // sees them at once
  std::printf("loss %g, probability of class 3: %g\n", *loss.data<float>(), probability.data<float>()[3]);
}
// README ends
