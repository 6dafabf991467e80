// ferrule-run run: one call of an entry, from files to files.
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>

#include "runtime/tools/check_memory.h"
#include "runtime/tools/commands.h"
#include "runtime/tools/inputs.h"
#include "runtime/tools/tensor_files.h"
#include "runtime/tools/text.h"

namespace ferrule::tools {
namespace {

const std::vector<OptionSpec> kOptions = {
    {"--entry", "NAME", "the entry to run"},
    {"--inputs", "FILE", "a safetensors file that holds inputs by name; may be repeated"},
    {"--input", "NAME=FILE",
     "one input from a .npy file, or from the tensor of that name in a safetensors file;\n"
     "may be repeated"},
    {"--outputs", "FILE", "write all outputs to a safetensors file, by name"},
    {"--output", "FOLDER", "write every output to FOLDER/NAME.npy"},
    {"--checkpoint", "FILE", "use the variables of a checkpoint instead of the artifact's"},
    {"--save", "FILE", "write the variables to a checkpoint after the run"},
    {"--repeat", "N", "run N times and report the median time (default 1)"},
    {"--check-memory", nullptr,
     "first prove that the entry uses its memory as planned: in a session between guard pages,\n"
     "whose free bytes are NaN, and where each kernel may change its outputs only"},
    {"--threads", "N", "threads, the caller included (default: one a CPU)"},
    {"--target", "NAME", "the code to use (default: the best that this machine supports)"},
    kSwapOption,
    kResidentOption,
    {"--check-numerics", nullptr, "stop at the first value that is nan or infinite"},
    {"--json", nullptr, "the last line of the output is a JSON object"},
};

const CommandHelp kHelp = {
    "run ARTIFACT --entry NAME [options]",
    "Runs an entry once: reads its inputs from files, writes its outputs to files.",
    &kOptions,
    "  ferrule-run run net.fer --entry predict --input image=digit.npy --output results/\n"
    "  ferrule-run run net.fer --entry predict --inputs batch.safetensors --outputs out.safetensors --checkpoint ckpt\n"
    "  ferrule-run run net.fer --entry predict --inputs batch.safetensors --threads 1 --repeat 100 --json\n"
    "  ferrule-run run net.fer --entry train_step --inputs batch.safetensors --check-memory --repeat 3\n",
};

std::string write_outputs(const Options& options, const std::vector<NamedOutput>& outputs) {
  if (options.has("--outputs")) {
    const std::string error = write_safetensors_file(options.get("--outputs"), outputs);
    if (!error.empty()) return error;
  }
  const std::string folder = options.get("--output");
  if (folder.empty()) return "";
  if (mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST)
    return format("cannot make the folder '%s': %s", folder.c_str(), std::strerror(errno));
  for (const NamedOutput& output : outputs) {
    const std::string error = write_npy_file(folder + "/" + output.name + ".npy", *output.tensor);
    if (!error.empty()) return error;
  }
  return "";
}

// The median of `repeat` runs, in seconds.
Status run_repeatedly(Session& session, const std::string& entry, const std::vector<TensorView>& inputs,
                      const std::vector<Tensor*>& outputs, uint64_t repeat, double* out_seconds) {
  std::vector<double> seconds;
  for (uint64_t i = 0; i < repeat; ++i) {
    const auto start = std::chrono::steady_clock::now();
    Status status = session.run(entry, inputs, outputs);
    if (!status) return status;
    seconds.push_back(seconds_since(start));
  }
  for (size_t i = 1; i < seconds.size(); ++i)  // insertion: few values
    for (size_t j = i; j > 0 && seconds[j] < seconds[j - 1]; --j) std::swap(seconds[j], seconds[j - 1]);
  *out_seconds = seconds[seconds.size() / 2];
  return Status();
}

// Before the call: nothing of it changes the session that the command runs in.
std::string check_and_report(const Program& program, uint32_t entry, const Options& options, const Session& session,
                             const std::vector<TensorView>& views, uint64_t repeat, Json* out_report) {
  Session::Options session_options;
  session_options.thread_count = session.info().thread_count;
  session_options.target = session.info().target;
  MemoryReport found;
  const std::string error =
      check_memory(program, entry, views, session_options, options.get("--checkpoint"), repeat, &found);
  if (!error.empty()) return "--check-memory: " + error;
  std::fprintf(options.has("--json") ? stderr : stdout,
               "memory as planned: %llu kernel calls and copies, %llu bytes of the arena used of %llu planned\n",
               static_cast<unsigned long long>(found.instruction_count),
               static_cast<unsigned long long>(found.used_bytes), static_cast<unsigned long long>(found.planned_bytes));
  out_report->add("planned_bytes", found.planned_bytes)
      .add("used_bytes", found.used_bytes)
      .add("instructions", found.instruction_count);
  return "";
}

void report(const Session& session, const std::string& entry, const std::vector<NamedOutput>& outputs, double seconds,
            bool json, const Json* memory_check) {
  for (const NamedOutput& output : outputs)
    std::fprintf(json ? stderr : stdout, "%s: %s %s\n", output.name.c_str(), type_name(output.tensor->dtype()).c_str(),
                 shape_name(output.tensor->shape()).c_str());
  if (!json) {
    std::printf("%.3f ms with %u threads on %s\n", seconds * 1e3, session.info().thread_count, session.info().target);
    return;
  }
  Json list = Json::array();
  for (const NamedOutput& output : outputs) {
    Json shape = Json::array();
    for (const int64_t size : output.tensor->shape()) shape.add(size);
    list.add(
        Json::object().add("name", output.name).add("dtype", type_name(output.tensor->dtype())).add("shape", shape));
  }
  Json result = Json::object()
                          .add("entry", entry)
                          .add("target", session.info().target)
                          .add("threads", uint64_t{session.info().thread_count})
                          .add("seconds", seconds)
                          .add("outputs", list);
  if (memory_check != nullptr) result.add("memory_check", *memory_check);
  std::printf("%s\n", result.text().c_str());
}

}  // namespace

int run_command(const std::vector<std::string>& arguments) {
  Options options;
  int exit_code = kSuccess;
  if (!parse_command(arguments, kHelp, &options, &exit_code)) return exit_code;
  std::string error;
  const uint64_t repeat = options.number("--repeat", 1, 1, 1000000, &error);
  if (!error.empty()) return fail(error, kUsage);

  OpenedSession opened;
  exit_code = open_session(options, &opened);
  if (exit_code != kSuccess) return exit_code;
  const std::optional<Program>& program = opened.program;
  std::optional<Session>& session = opened.session;
  if (!options.has("--entry")) return fail("--entry is missing", kUsage);
  const std::string entry_name = options.get("--entry");
  const Result<uint32_t> entry = program->find_entry(entry_name);
  if (!entry) return fail(entry.status().message());
  if (options.has("--checkpoint")) {
    const Status status = session->load_checkpoint(options.get("--checkpoint"));
    if (!status) return fail(status.message());
  }

  Inputs inputs;
  error = inputs.read(*program, *entry, options);
  if (!error.empty()) return fail(error);
  Json memory_check = Json::object();
  if (options.has("--check-memory")) {
    error = check_and_report(*program, *entry, options, *session, inputs.views(), repeat, &memory_check);
    if (!error.empty()) return fail(error);
  }
  std::vector<Tensor> tensors(program->entry(*entry).output_count);
  std::vector<Tensor*> pointers;
  std::vector<NamedOutput> outputs;
  for (uint32_t i = 0; i < tensors.size(); ++i) {
    pointers.push_back(&tensors[i]);
    outputs.push_back({program->output(*entry, i).name, &tensors[i]});
  }
  double seconds = 0;
  const Status status = run_repeatedly(*session, entry_name, inputs.views(), pointers, repeat, &seconds);
  if (!status) return fail(status.message());
  error = write_outputs(options, outputs);
  if (!error.empty()) return fail(error);
  if (options.has("--save")) {
    const Status saved = session->save_checkpoint(options.get("--save"));
    if (!saved) return fail(saved.message());
  }
  report(*session, entry_name, outputs, seconds, options.has("--json"),
         options.has("--check-memory") ? &memory_check : nullptr);
  return kSuccess;
}

}  // namespace ferrule::tools
