// ferrule-run bench: how long runs of an entry take.
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "runtime/tools/commands.h"
#include "runtime/tools/rehearsal.h"
#include "runtime/tools/text.h"

namespace ferrule::tools {
namespace {

const std::vector<OptionSpec> kOptions = rehearsal_options({
    {"--seconds", "N", "measure runs for so long, and ten at least (default 2)"},
    {"--runs", "N", "measure so many runs instead"},
});

const CommandHelp kHelp = {
    "bench ARTIFACT --entry NAME [options]",
    "Runs an entry again and again, after two runs that are not counted, and prints the latencies: wall time of one\n"
    "run, the inputs at hand. What opening the artifact took and the first run stand apart. An entry that trains\n"
    "changes the variables of this process only.",
    &kOptions,
    "  ferrule-run bench net.fer --entry predict --threads 1\n"
    "  ferrule-run bench net.fer --entry predict --size batch=8 --seconds 10 --json\n",
};

constexpr uint64_t kWarmUpRuns = 2;
constexpr size_t kLeastRuns = 10;

struct Percentile {
  const char* name;
  double part;
};
constexpr Percentile kPercentiles[] = {{"p50", 0.5}, {"p90", 0.9}, {"p95", 0.95}, {"p99", 0.99}};

// Of sorted values, the least that `part` of them do not exceed.
double percentile(const std::vector<double>& sorted, double part) {
  const auto rank = static_cast<size_t>(std::ceil(part * static_cast<double>(sorted.size())));
  return sorted[rank == 0 ? 0 : rank - 1];
}

// Seconds.
struct Latencies {
  double first = 0;
  std::vector<double> runs;  // those behind the warm-up
};

// `runs` 0: as many as `seconds` take.
Status measure(Rehearsal& rehearsal, uint64_t runs, uint64_t seconds, Latencies* out) {
  using Clock = std::chrono::steady_clock;
  const std::vector<TensorView> inputs = rehearsal.inputs.views();
  const auto timed_run = [&](double* taken) {
    const auto start = Clock::now();
    Status status = rehearsal.session->run(rehearsal.entry, inputs, rehearsal.outputs);
    *taken = seconds_since(start);
    return status;
  };
  double taken = 0;
  for (uint64_t i = 0; i < kWarmUpRuns; ++i) {
    Status status = timed_run(i == 0 ? &out->first : &taken);
    if (!status) return status;
  }
  const auto begin = Clock::now();
  const auto is_done = [&] {
    if (runs != 0) return out->runs.size() >= runs;
    return out->runs.size() >= kLeastRuns && seconds_since(begin) >= static_cast<double>(seconds);
  };
  while (!is_done()) {
    Status status = timed_run(&taken);
    if (!status) return status;
    out->runs.push_back(taken);
  }
  return Status();
}

void report(const Rehearsal& rehearsal, Latencies latencies, bool json) {
  std::vector<double>& seconds = latencies.runs;
  const std::string& entry = rehearsal.entry;
  std::qsort(seconds.data(), seconds.size(), sizeof(double), [](const void* left, const void* right) {
    const double a = *static_cast<const double*>(left), b = *static_cast<const double*>(right);
    return (a > b) - (a < b);
  });
  double sum = 0;
  for (const double value : seconds) sum += value;
  const double mean = sum / static_cast<double>(seconds.size());
  const FerruleSessionInfo info = rehearsal.session->info();
  if (json) {
    Json result = Json::object()
                      .add("entry", entry)
                      .add("target", info.target)
                      .add("threads", uint64_t{info.thread_count})
                      .add("open_seconds", rehearsal.open_seconds)
                      .add("first_seconds", latencies.first)
                      .add("runs", uint64_t{seconds.size()})
                      .add("mean_seconds", mean)
                      .add("min_seconds", seconds.front());
    for (const Percentile& p : kPercentiles)
      result.add((std::string(p.name) + "_seconds").c_str(), percentile(seconds, p.part));
    result.add("max_seconds", seconds.back()).add("runs_per_second", 1 / mean);
    std::printf("%s\n", result.text().c_str());
    return;
  }
  std::printf("%s: %zu runs with %u threads on %s\n", entry.c_str(), seconds.size(), info.thread_count, info.target);
  std::printf("  %-5s %9.3f ms\n  %-5s %9.3f ms\n", "open", rehearsal.open_seconds * 1e3, "first",
              latencies.first * 1e3);
  std::printf("  %-5s %9.3f ms\n", "min", seconds.front() * 1e3);
  for (const Percentile& p : kPercentiles) std::printf("  %-5s %9.3f ms\n", p.name, percentile(seconds, p.part) * 1e3);
  std::printf("  %-5s %9.3f ms\n  %-5s %9.3f ms, %.1f runs a second\n", "max", seconds.back() * 1e3, "mean", mean * 1e3,
              1 / mean);
}

}  // namespace

int bench_command(const std::vector<std::string>& arguments) {
  Options options;
  int exit_code = kSuccess;
  if (!parse_command(arguments, kHelp, &options, &exit_code)) return exit_code;
  std::string error;
  const uint64_t runs = options.number("--runs", 0, 1, 1000000000, &error);
  const uint64_t seconds = options.number("--seconds", 2, 1, 1000000, &error);
  if (!error.empty()) return fail(error, kUsage);
  Rehearsal rehearsal;
  exit_code = rehearsal.open(options);
  if (exit_code != kSuccess) return exit_code;
  Latencies latencies;
  const Status status = measure(rehearsal, runs, seconds, &latencies);
  if (!status) return fail(status.message());
  report(rehearsal, std::move(latencies), options.has("--json"));
  return kSuccess;
}

}  // namespace ferrule::tools
