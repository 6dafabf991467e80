#include "runtime/tools/rehearsal.h"

namespace ferrule::tools {

std::vector<OptionSpec> rehearsal_options(const std::vector<OptionSpec>& own) {
  std::vector<OptionSpec> options = {
      {"--entry", "NAME", "the entry to run"},
      {"--size", "DIM=N", "the size of a dim (default: the least); may be repeated"},
      {"--inputs", "FILE", "a safetensors file that holds inputs by name; what no file gives is made up"},
      {"--input", "NAME=FILE", "one input from a .npy or safetensors file; may be repeated"},
      {"--checkpoint", "FILE", "use the variables of a checkpoint instead of the artifact's"},
  };
  const std::vector<OptionSpec> last = {
      {"--threads", "N", "threads, the caller included (default: one a CPU)"},
      {"--target", "NAME", "the code to use (default: the best that this machine supports)"},
      kSwapOption,
      kResidentOption,
      {"--json", nullptr, "one JSON object instead of text"},
  };
  options.insert(options.end(), own.begin(), own.end());
  options.insert(options.end(), last.begin(), last.end());
  return options;
}

int Rehearsal::open(const Options& options) {
  const int exit_code = open_session(options, this);
  if (exit_code != kSuccess) return exit_code;
  // Behind the artifact: of a file that is none, that is what matters.
  if (!options.has("--entry")) return fail("--entry is missing", kUsage);
  entry = options.get("--entry");
  const Result<uint32_t> index = program->find_entry(entry);
  if (!index) return fail(index.status().message());
  if (options.has("--checkpoint")) {
    const Status status = session->load_checkpoint(options.get("--checkpoint"));
    if (!status) return fail(status.message());
  }
  const std::string error = inputs.read_or_make(*program, *index, options);
  if (!error.empty()) return fail(error);
  for (uint32_t i = 0; i < program->entry(*index).output_count; ++i) outputs.push_back(&tensors.emplace_back());
  return kSuccess;
}

}  // namespace ferrule::tools
