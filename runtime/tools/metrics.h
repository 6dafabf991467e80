// What an entry's outputs say about an epoch.
//
// A float output without axes is a mean over its batch, e.g. the loss: averaged over the epoch, each batch weighted by
// its samples. An integer output without axes is a count, e.g. of correct answers: its sum is divided by the samples.
// The first of each is called "loss" and "accuracy", others by the output's name. Outputs with axes are not looked at.
#ifndef FERRULE_RUNTIME_TOOLS_METRICS_H_
#define FERRULE_RUNTIME_TOOLS_METRICS_H_

#include <string>
#include <vector>

#include "runtime/api/ferrule.hpp"

namespace ferrule::tools {

struct Metric {
  std::string name;
  double value;
};

class Metrics {
 public:
  Metrics(const Program& program, uint32_t entry);

  void clear();
  void add(const std::vector<Tensor>& outputs, uint64_t samples);
  // Empty before the first batch.
  std::vector<Metric> values() const;

 private:
  struct Sum {
    uint32_t output;
    bool count;  // else a mean
    std::string name;
    double total;
  };
  std::vector<Sum> sums_;
  uint64_t samples_ = 0;
};

// "loss 0.1234  accuracy 0.9833", each name behind `prefix`.
std::string describe(const std::vector<Metric>& metrics, const std::string& prefix = "");

}  // namespace ferrule::tools

#endif  // FERRULE_RUNTIME_TOOLS_METRICS_H_
