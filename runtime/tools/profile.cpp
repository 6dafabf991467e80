// ferrule-run profile: where the time of an entry goes, kernel by kernel.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iterator>
#include <map>
#include <utility>

#include "kernels/base/peak/machine_peak.h"
#include "runtime/data/file.h"
#include "runtime/tools/commands.h"
#include "runtime/tools/rehearsal.h"
#include "runtime/tools/text.h"

namespace ferrule::tools {
namespace {

const std::vector<OptionSpec> kOptions = rehearsal_options({
    {"--runs", "N", "measure so many runs, after two that are not (default 20)"},
    {"--trace", "FILE", "write every kernel call for chrome://tracing or Perfetto"},
});

const CommandHelp kHelp = {
    "profile ARTIFACT --entry NAME [options]",
    "Runs an entry several times and prints what each kernel took, how fast it computed and moved data, and how near that\n"
    "is to what one core of this machine reaches times the threads: the larger of its share of the multiply-add peak and\n"
    "of the load bandwidth for as many bytes. Both are measured first.",
    &kOptions,
    "  ferrule-run profile net.fer --entry predict --size batch=8 --threads 1\n"
    "  ferrule-run profile net.fer --entry train_step --inputs batch.safetensors --trace trace.json\n",
};

constexpr uint64_t kWarmUpRuns = 2;
constexpr uint64_t kCapacity = 1000000;

// What one core reaches.
struct Peak {
  static constexpr int64_t kSizes[] = {1 << 14, 1 << 17, 1 << 20, 1 << 23, 1 << 26};
  static constexpr size_t kSizeCount = std::size(kSizes);

  double gflops = 0;
  double gb_per_second[kSizeCount] = {};

  explicit Peak(const char* target) {
    const kernels::VectorUnit unit = kernels::vector_unit_of(target);
    gflops = kernels::fma_peak_gflops(unit);
    for (size_t i = 0; i < kSizeCount; ++i) gb_per_second[i] = kernels::load_gb_per_second(unit, kSizes[i]);
  }

  // The part of `nanoseconds` that a call would take at the peak; 0 where the peak is not known.
  double share(const FerruleProfileEvent& event, double nanoseconds) const {
    if (gflops == 0 || event.thread_count == 0 || nanoseconds == 0) return 0;
    const double threads = event.thread_count, bytes = static_cast<double>(moved(event));
    size_t size = 0;
    while (size + 1 < kSizeCount && bytes / threads > static_cast<double>(kSizes[size])) ++size;
    const double compute = event.flops < 0 ? 0 : static_cast<double>(event.flops) / (gflops * threads);
    return std::max(compute, bytes / (gb_per_second[size] * threads)) / nanoseconds;
  }

  // What a call reads and writes: as the artifact says, else all of its buffers.
  static uint64_t moved(const FerruleProfileEvent& event) {
    if (event.read_bytes < 0 || event.written_bytes < 0) return event.byte_size;
    return static_cast<uint64_t>(event.read_bytes) + static_cast<uint64_t>(event.written_bytes);
  }
};

// The calls of one kernel at one line.
struct Row {
  std::string kernel, location;
  uint64_t calls = 0;
  double nanoseconds = 0, flops = 0, bytes = 0, at_peak = 0;  // at_peak: what the calls would take there

  double gflops() const { return nanoseconds == 0 ? 0 : flops / nanoseconds; }
  double gb_per_second() const { return nanoseconds == 0 ? 0 : bytes / nanoseconds; }
  double of_peak() const { return nanoseconds == 0 ? 0 : at_peak / nanoseconds; }
};

// The slowest first.
std::vector<Row> summarize(const Session& session, const Peak& peak) {
  std::map<std::pair<std::string, std::string>, Row> rows;
  for (uint64_t i = 0; i < session.profile_info().event_count; ++i) {
    const FerruleProfileEvent event = session.profile_event(i);
    Row& row = rows[{event.kernel, event.location}];
    const auto nanoseconds = static_cast<double>(event.end_ns - event.begin_ns);
    row.kernel = event.kernel;
    row.location = event.location;
    ++row.calls;
    row.nanoseconds += nanoseconds;
    row.flops += event.flops < 0 ? 0 : static_cast<double>(event.flops);
    row.bytes += static_cast<double>(Peak::moved(event));
    row.at_peak += peak.share(event, nanoseconds) * nanoseconds;
  }
  std::vector<Row> sorted;
  for (auto& [key, row] : rows) sorted.push_back(std::move(row));
  for (size_t i = 1; i < sorted.size(); ++i)  // insertion: few rows
    for (size_t j = i; j > 0 && sorted[j].nanoseconds > sorted[j - 1].nanoseconds; --j)
      std::swap(sorted[j], sorted[j - 1]);
  return sorted;
}

double total_nanoseconds(const std::vector<Row>& rows) {
  double total = 0;
  for (const Row& row : rows) total += row.nanoseconds;
  return total;
}

void print_table(const std::vector<Row>& rows, const Peak& peak, const FerruleSessionInfo& info, uint64_t runs,
                 double seconds_per_run) {
  const double total = total_nanoseconds(rows), per_run = 1e-6 / static_cast<double>(runs);
  std::printf("%10s %6s %7s %9s %7s %8s  kernel\n", "ms a run", "share", "calls", "GFLOP/s", "GB/s", "of peak");
  for (const Row& row : rows)
    std::printf("%10.4f %5.1f%% %7llu %9.1f %7.1f %7.0f%%  %s  %s\n", row.nanoseconds * per_run,
                100 * row.nanoseconds / total, static_cast<unsigned long long>(row.calls / runs), row.gflops(),
                row.gb_per_second(), 100 * row.of_peak(), row.kernel.c_str(), row.location.c_str());
  std::printf("%10.4f ms of kernels in %.4f ms a run; %llu runs with %u threads on %s\n", total * per_run,
              seconds_per_run * 1e3, static_cast<unsigned long long>(runs), info.thread_count, info.target);
  if (peak.gflops == 0) return;
  std::printf("one core: %.1f GFLOP/s; loads, GB/s:", peak.gflops);
  for (size_t i = 0; i < Peak::kSizeCount; ++i)
    std::printf("%s %.1f in %lld KiB", i == 0 ? "" : ",", peak.gb_per_second[i],
                static_cast<long long>(Peak::kSizes[i] / 1024));
  std::printf("\n");
}

void print_json(const std::vector<Row>& rows, const Peak& peak, const FerruleSessionInfo& info,
                const std::string& entry, uint64_t runs, double seconds_per_run) {
  const double total = total_nanoseconds(rows);
  Json loads = Json::object(), kernels = Json::array();
  for (size_t i = 0; i < Peak::kSizeCount; ++i)
    loads.add(std::to_string(Peak::kSizes[i]).c_str(), peak.gb_per_second[i]);
  for (const Row& row : rows)
    kernels.add(Json::object()
                    .add("kernel", row.kernel)
                    .add("location", row.location)
                    .add("calls", row.calls)
                    .add("seconds", row.nanoseconds * 1e-9)
                    .add("share", row.nanoseconds / total)
                    .add("gflops", row.gflops())
                    .add("gb_per_second", row.gb_per_second())
                    .add("of_peak", row.of_peak()));
  const Json result =
      Json::object()
          .add("entry", entry)
          .add("target", info.target)
          .add("threads", uint64_t{info.thread_count})
          .add("runs", runs)
          .add("seconds_per_run", seconds_per_run)
          .add("peak", Json::object().add("gflops", peak.gflops).add("load_gb_per_second", loads))
          .add("kernels", kernels);
  std::printf("%s\n", result.text().c_str());
}

// The trace event format: one complete event ("X") a call, times in microseconds.
std::string trace_text(const Session& session) {
  Json events = Json::array();
  for (uint64_t i = 0; i < session.profile_info().event_count; ++i) {
    const FerruleProfileEvent event = session.profile_event(i);
    const Json details = Json::object()
                             .add("location", event.location)
                             .add("threads", uint64_t{event.thread_count})
                             .add("flops", event.flops)
                             .add("read_bytes", event.read_bytes)
                             .add("written_bytes", event.written_bytes);
    events.add(Json::object()
                   .add("name", event.kernel)
                   .add("cat", event.entry)
                   .add("ph", "X")
                   .add("pid", uint64_t{0})
                   .add("tid", uint64_t{0})
                   .add("ts", static_cast<double>(event.begin_ns) * 1e-3)
                   .add("dur", static_cast<double>(event.end_ns - event.begin_ns) * 1e-3)
                   .add("args", details));
  }
  return Json::object().add("displayTimeUnit", "ns").add("traceEvents", events).text() + "\n";
}

std::string write_trace(const Session& session, const std::string& path) {
  const std::string text = trace_text(session);
  runtime::AtomicFile file;
  runtime::Status status = file.create(path.c_str());
  if (status.ok()) status = file.write(text.data(), text.size());
  if (status.ok()) status = file.commit();
  return status.message();
}

Status run_profiled(Rehearsal& rehearsal, uint64_t runs, double* out_seconds_per_run) {
  using Clock = std::chrono::steady_clock;
  const auto run = [&] { return rehearsal.session->run(rehearsal.entry, rehearsal.inputs.views(), rehearsal.outputs); };
  for (uint64_t i = 0; i < kWarmUpRuns; ++i) {
    Status status = run();
    if (!status) return status;
  }
  Status status = rehearsal.session->start_profile(kCapacity);
  const auto start = Clock::now();
  for (uint64_t i = 0; i < runs && status; ++i) status = run();
  *out_seconds_per_run = std::chrono::duration<double>(Clock::now() - start).count() / static_cast<double>(runs);
  rehearsal.session->stop_profile();
  return status;
}

}  // namespace

int profile_command(const std::vector<std::string>& arguments) {
  Options options;
  int exit_code = kSuccess;
  if (!parse_command(arguments, kHelp, &options, &exit_code)) return exit_code;
  std::string error;
  const uint64_t runs = options.number("--runs", 20, 1, 1000000, &error);
  if (!error.empty()) return fail(error, kUsage);
  Rehearsal rehearsal;
  exit_code = rehearsal.open(options);
  if (exit_code != kSuccess) return exit_code;
  const FerruleSessionInfo info = rehearsal.session->info();
  const Peak peak(info.target);
  double seconds_per_run = 0;
  const Status status = run_profiled(rehearsal, runs, &seconds_per_run);
  if (!status) return fail(status.message());
  const uint64_t dropped = rehearsal.session->profile_info().dropped_count;
  if (dropped != 0)
    std::fprintf(stderr, "ferrule-run: %llu kernel calls found no room in the profile: measure fewer --runs\n",
                 static_cast<unsigned long long>(dropped));
  if (options.has("--trace")) {
    error = write_trace(*rehearsal.session, options.get("--trace"));
    if (!error.empty()) return fail(error);
  }
  const std::vector<Row> rows = summarize(*rehearsal.session, peak);
  if (options.has("--json"))
    print_json(rows, peak, info, rehearsal.entry, runs, seconds_per_run);
  else
    print_table(rows, peak, info, runs, seconds_per_run);
  return kSuccess;
}

}  // namespace ferrule::tools
