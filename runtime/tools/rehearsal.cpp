#include "runtime/tools/rehearsal.h"

#include "runtime/tools/commands.h"

namespace ferrule::tools {

int Rehearsal::open(const Options& options) {
  if (!options.has("--entry")) return fail("--entry is missing", kUsage);
  entry = options.get("--entry");
  const int exit_code = open_session(options, &program, &session);
  if (exit_code != kSuccess) return exit_code;
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
