// What bench and profile run: an entry with inputs out of files or made up, and room for its outputs.
#ifndef FERRULE_RUNTIME_TOOLS_REHEARSAL_H_
#define FERRULE_RUNTIME_TOOLS_REHEARSAL_H_

#include <list>
#include <string>
#include <vector>

#include "runtime/tools/commands.h"
#include "runtime/tools/inputs.h"
#include "runtime/tools/options.h"

namespace ferrule::tools {

// The options that Rehearsal::open reads, and --json, around a command's own.
std::vector<OptionSpec> rehearsal_options(const std::vector<OptionSpec>& own);

struct Rehearsal : OpenedSession {
  std::string entry;
  Inputs inputs;
  std::list<Tensor> tensors;
  std::vector<Tensor*> outputs;

  // As --entry, --checkpoint and the options of open_session and Inputs::read_or_make say: kSuccess, or the exit code after
  // the error was printed.
  int open(const Options& options);
};

}  // namespace ferrule::tools

#endif  // FERRULE_RUNTIME_TOOLS_REHEARSAL_H_
