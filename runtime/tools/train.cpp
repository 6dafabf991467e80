// ferrule-run train: epochs over a file of samples, with checkpoints that a later call continues from.
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <numeric>

#include "runtime/tools/commands.h"
#include "runtime/tools/dataset.h"
#include "runtime/tools/metrics.h"
#include "runtime/tools/progress.h"
#include "runtime/tools/shuffle.h"
#include "runtime/tools/text.h"

namespace ferrule::tools {
namespace {

const std::vector<OptionSpec> kOptions = {
    {"--entry", "NAME", "the training step (default: train_step)"},
    {"--data", "FILE",
     "the samples: a safetensors file with a tensor for each input of the entry, by name;\n"
     "the first axis of each counts samples"},
    {"--evaluate", "NAME", "an entry to run over --test-data after every epoch"},
    {"--test-data", "FILE", "samples for --evaluate"},
    {"--epochs", "N", "how many (default 1); with --resume, those already done count"},
    {"--batch", "N",
     "samples a step (default 64); the last step of an epoch takes what is left, if the entry\n"
     "allows so few"},
    {"--seed", "N", "of the shuffle (default 0)"},
    {"--shuffle", nullptr, "take the samples in a new order every epoch: the default"},
    {"--no-shuffle", nullptr, "take the samples in the file's order"},
    {"--checkpoint", "FILE", "write the variables and the position here after every epoch, and when interrupted"},
    {"--resume", nullptr, "continue from --checkpoint if it exists"},
    {"--threads", "N", "threads, the caller included (default: one a CPU)"},
    {"--target", "NAME", "the code to use (default: the best that this machine supports)"},
    kSwapOption,
    kResidentOption,
    {"--check-numerics", nullptr, "stop at the first value that is nan or infinite"},
    {"--json", nullptr, "the last line of the output is a JSON object; the epochs go to stderr"},
};

const CommandHelp kHelp = {
    "train ARTIFACT --data FILE [options]",
    "Trains: runs an entry that assigns variables over all samples, epoch by epoch. The same seed gives the same "
    "network\n"
    "bit for bit, with any number of threads and on any CPU. Float results without axes (the loss) are averaged over "
    "an\n"
    "epoch, integer ones (a count of correct answers) are divided by the samples.",
    &kOptions,
    "  ferrule-run train net.fer --data train.safetensors --epochs 10 --checkpoint net.checkpoint\n"
    "  ferrule-run train net.fer --data train.safetensors --evaluate evaluate --test-data test.safetensors --epochs 10 "
    "\\\n"
    "    --batch 64 --seed 1 --checkpoint net.checkpoint --threads 4\n"
    "  ferrule-run train net.fer --data train.safetensors --epochs 20 --checkpoint net.checkpoint --resume\n",
};

volatile sig_atomic_t g_interrupted = 0;

void on_signal(int) { g_interrupted = 1; }

struct TrainingOptions {
  std::string entry, evaluate, checkpoint;
  uint64_t epochs = 1, batch = 64;
  bool shuffle = true, json = false;
};

// An entry over a data set.
struct Pass {
  std::string name;
  Dataset data;
  std::vector<Tensor> outputs;
  std::vector<Tensor*> output_pointers;
  std::optional<Metrics> metrics;

  std::string open(const Program& program, const std::string& entry_name, const std::string& path) {
    name = entry_name;
    const Result<uint32_t> entry = program.find_entry(entry_name);
    if (!entry) return entry.status().message();
    outputs.resize(program.entry(*entry).output_count);
    for (Tensor& tensor : outputs) output_pointers.push_back(&tensor);
    metrics.emplace(program, *entry);
    return data.open(path, program, *entry);
  }

  // One batch; its results go into the metrics.
  Status run(Session& session, const uint64_t* order, uint64_t count) {
    Status status = session.run(name, data.gather(order, count), output_pointers);
    if (status) metrics->add(outputs, count);
    return status;
  }
};

class Trainer {
 public:
  Trainer(Session& session, TrainingOptions options) : session_(session), options_(std::move(options)) {}

  std::string open(const Program& program, const Options& options);
  std::string resume(const Options& options);
  // Empty when all epochs are done or the training was interrupted; then the checkpoint is written.
  std::string train();
  void report(double seconds) const;

 private:
  std::string train_epoch();
  std::string evaluate();
  std::string save();
  // Whether the entry's dims allow a batch of the `left` samples that are left of an epoch; says once that they do not.
  bool takes(Pass& pass, const uint64_t* order, uint64_t left, bool* warned);
  void print_epoch(double seconds) const;

  Session& session_;
  TrainingOptions options_;
  Pass training_, test_;
  FerruleTrainingPosition position_{};
  bool warned_training_ = false, warned_test_ = false;
  std::vector<Metric> results_, test_results_;
};

std::string Trainer::open(const Program& program, const Options& options) {
  std::string error = training_.open(program, options_.entry, options.get("--data"));
  if (error.empty() && !options_.evaluate.empty())
    error = test_.open(program, options_.evaluate, options.get("--test-data"));
  return error;
}

std::string Trainer::resume(const Options& options) {
  std::string error;
  position_.seed = options.number("--seed", 0, 0, INT64_MAX, &error);
  if (!error.empty() || !options.has("--resume")) return error;
  const uint64_t seed = position_.seed;
  const Status status = session_.load_checkpoint(options_.checkpoint, &position_);
  if (status.code() == kFerruleNotFound) return "";
  if (!status) return status.message();
  if (options.has("--seed") && seed != position_.seed)
    return format("--seed is %llu, but checkpoint '%s' was made with %llu", static_cast<unsigned long long>(seed),
                  options_.checkpoint.c_str(), static_cast<unsigned long long>(position_.seed));
  if (position_.sample > training_.data.sample_count())
    return format("checkpoint '%s' stands at sample %llu of an epoch, but '%s' holds only %llu",
                  options_.checkpoint.c_str(), static_cast<unsigned long long>(position_.sample),
                  training_.data.path().c_str(), static_cast<unsigned long long>(training_.data.sample_count()));
  return "";
}

std::string Trainer::train() {
  while (position_.epoch < options_.epochs && g_interrupted == 0) {
    const auto start = std::chrono::steady_clock::now();
    std::string error = train_epoch();
    if (!error.empty()) return error;
    if (g_interrupted == 0) {
      error = evaluate();
      if (!error.empty()) return error;
      print_epoch(seconds_since(start));
    }
    error = save();
    if (!error.empty()) return error;
  }
  return "";
}

std::string Trainer::train_epoch() {
  const uint64_t samples = training_.data.sample_count();
  std::vector<uint64_t> order(samples);
  std::iota(order.begin(), order.end(), 0);
  if (options_.shuffle) order = epoch_order(samples, position_.seed, position_.epoch);
  Progress progress(format("epoch %llu/%llu", static_cast<unsigned long long>(position_.epoch + 1),
                           static_cast<unsigned long long>(options_.epochs)),
                    samples);
  training_.metrics->clear();
  while (position_.sample < samples) {
    if (g_interrupted != 0) return "";
    const uint64_t count = std::min(options_.batch, samples - position_.sample);
    const uint64_t* batch = order.data() + position_.sample;
    if (count < options_.batch && !takes(training_, batch, count, &warned_training_)) break;
    const Status status = training_.run(session_, batch, count);
    if (!status) return status.message();
    position_.sample += count;
    ++position_.step;
    progress.update(position_.sample, describe(training_.metrics->values()));
  }
  results_ = training_.metrics->values();
  position_.sample = 0;
  ++position_.epoch;
  return "";
}

std::string Trainer::evaluate() {
  if (!test_.metrics) return "";
  const uint64_t samples = test_.data.sample_count();
  std::vector<uint64_t> order(samples);
  std::iota(order.begin(), order.end(), 0);
  Progress progress("evaluate", samples);
  test_.metrics->clear();
  for (uint64_t done = 0; done < samples;) {
    const uint64_t count = std::min(options_.batch, samples - done);
    if (count < options_.batch && !takes(test_, order.data() + done, count, &warned_test_)) break;
    const Status status = test_.run(session_, order.data() + done, count);
    if (!status) return status.message();
    done += count;
    progress.update(done, describe(test_.metrics->values()));
  }
  test_results_ = test_.metrics->values();
  return "";
}

bool Trainer::takes(Pass& pass, const uint64_t* order, uint64_t left, bool* warned) {
  // A data set smaller than one batch: the run itself says what is wrong.
  if (left == pass.data.sample_count()) return true;
  const std::vector<TensorView>& views = pass.data.gather(order, left);
  std::vector<FerruleTensor> inputs, outputs(pass.outputs.size());
  for (const TensorView& view : views) inputs.push_back(view.c());
  for (FerruleTensor& output : outputs) output.struct_size = sizeof(output);
  const Status status(ferrule_session_output_shapes(session_.c(), pass.name.c_str(), inputs.data(),
                                                    static_cast<uint32_t>(inputs.size()), outputs.data(),
                                                    static_cast<uint32_t>(outputs.size())));
  if (!status && !*warned)
    std::fprintf(stderr, "ferrule-run: the last %llu samples are left out: %s\n", static_cast<unsigned long long>(left),
                 status.message());
  *warned |= !status;
  return status.ok();
}

std::string Trainer::save() {
  if (options_.checkpoint.empty()) return "";
  const Status status = session_.save_checkpoint(options_.checkpoint, position_);
  return status ? "" : status.message();
}

void Trainer::print_epoch(double seconds) const {
  std::string line =
      format("epoch %*llu/%llu", static_cast<int>(std::to_string(options_.epochs).size()),
             static_cast<unsigned long long>(position_.epoch), static_cast<unsigned long long>(options_.epochs));
  for (const std::string& part : {describe(results_), describe(test_results_, "test ")})
    if (!part.empty()) line += "  " + part;
  std::FILE* const stream = options_.json ? stderr : stdout;
  std::fprintf(stream, "%s  %.2f s\n", line.c_str(), seconds);
  std::fflush(stream);
}

void Trainer::report(double seconds) const {
  const FerruleSessionInfo info = session_.info();
  if (!options_.json) {
    std::printf("%llu steps in %.2f s with %u threads on %s\n", static_cast<unsigned long long>(position_.step),
                seconds, info.thread_count, info.target);
    if (!options_.checkpoint.empty()) std::printf("checkpoint: %s\n", options_.checkpoint.c_str());
    return;
  }
  Json result = Json::object()
                    .add("epochs", position_.epoch)
                    .add("steps", position_.step)
                    .add("samples", training_.data.sample_count())
                    .add("seed", position_.seed)
                    .add("seconds", seconds)
                    .add("target", info.target)
                    .add("threads", uint64_t{info.thread_count})
                    .add("arena_bytes", info.arena_bytes)
                    .add("interrupted", g_interrupted != 0);
  for (const Metric& metric : results_) result.add(metric.name.c_str(), metric.value);
  for (const Metric& metric : test_results_) result.add(("test_" + metric.name).c_str(), metric.value);
  if (!options_.checkpoint.empty()) result.add("checkpoint", options_.checkpoint);
  std::printf("%s\n", result.text().c_str());
}

std::string read_options(const Options& options, TrainingOptions* out) {
  std::string error;
  out->entry = options.get("--entry", "train_step");
  out->evaluate = options.get("--evaluate");
  out->checkpoint = options.get("--checkpoint");
  out->epochs = options.number("--epochs", 1, 1, 1000000000, &error);
  out->batch = options.number("--batch", 64, 1, INT32_MAX, &error);
  out->shuffle = !options.has("--no-shuffle");
  out->json = options.has("--json");
  if (!error.empty()) return error;
  if (!options.has("--data")) return "--data is missing: the file with the samples";
  if (options.has("--shuffle") && options.has("--no-shuffle")) return "--shuffle and --no-shuffle exclude each other";
  if (options.has("--evaluate") != options.has("--test-data")) return "--evaluate and --test-data need each other";
  if (options.has("--resume") && out->checkpoint.empty()) return "--resume needs --checkpoint";
  return "";
}

void catch_signals() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESETHAND;  // a second signal ends the process at once
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

}  // namespace

int train_command(const std::vector<std::string>& arguments) {
  Options options;
  int exit_code = kSuccess;
  if (!parse_command(arguments, kHelp, &options, &exit_code)) return exit_code;
  TrainingOptions training_options;
  std::string error = read_options(options, &training_options);
  if (!error.empty()) return fail(error, kUsage);
  OpenedSession opened;
  exit_code = open_session(options, &opened);
  if (exit_code != kSuccess) return exit_code;

  Trainer trainer(*opened.session, training_options);
  error = trainer.open(*opened.program, options);
  if (error.empty()) error = trainer.resume(options);
  if (!error.empty()) return fail(error);
  catch_signals();
  const auto start = std::chrono::steady_clock::now();
  error = trainer.train();
  if (!error.empty()) return fail(error);
  trainer.report(seconds_since(start));
  return g_interrupted != 0 ? kInterrupted : kSuccess;
}

}  // namespace ferrule::tools
