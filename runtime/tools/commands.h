// The subcommands of ferrule-run. Each takes the arguments behind its name and returns the process's exit code.
#ifndef FERRULE_RUNTIME_TOOLS_COMMANDS_H_
#define FERRULE_RUNTIME_TOOLS_COMMANDS_H_

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "runtime/api/ferrule.hpp"
#include "runtime/tools/options.h"

namespace ferrule::tools {

enum ExitCode : int {
  kSuccess = 0,
  kFailure = 1,        // a file, the artifact, the data or a run
  kUsage = 2,          // the command line
  kInterrupted = 130,  // by SIGINT or SIGTERM; a training has saved its checkpoint
};

int run_command(const std::vector<std::string>& arguments);
int train_command(const std::vector<std::string>& arguments);
int bench_command(const std::vector<std::string>& arguments);
int profile_command(const std::vector<std::string>& arguments);
int info_command(const std::vector<std::string>& arguments);

// ---- What they share
// -------------------------------------------------------------------------------------------------

// A sentence to stderr with the program's name in front; returns `code`.
int fail(const std::string& sentence, int code = kFailure);

// What a subcommand is: its usage line and description, options and examples.
struct CommandHelp {
  const char* usage;
  const char* description;
  const std::vector<OptionSpec>* options;
  const char* examples;
};
void print_help(const CommandHelp& help);

// Parses; false when the command ends here: *exit_code is set (--help, or a wrong command line).
bool parse_command(const std::vector<std::string>& arguments, const CommandHelp& help, Options* options,
                   int* exit_code);

// Of the commands that run something.
inline constexpr OptionSpec kSwapOption = {
    "--swap", "FILE", "keep what the run needs in a new file, of which the system can take pages out of memory"};
inline constexpr OptionSpec kResidentOption = {
    "--resident", "BYTES", "with --swap: the most of the arena that may be in memory (default: the system decides)"};

// A session and what it lives on, which goes after it.
struct OpenedSession {
  std::optional<Program> program;
  std::optional<Swap> swap;
  std::optional<Arena> arena;
  std::optional<Session> session;
  double open_seconds = 0;  // of opening and verifying the program, and of creating the session
};

// For what is measured here: seconds between two moments.
inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// As --threads, --target, --swap, --resident and --check-numerics say. kSuccess, or the exit code after the error was
// printed.
int open_session(const Options& options, OpenedSession* out);

}  // namespace ferrule::tools

#endif  // FERRULE_RUNTIME_TOOLS_COMMANDS_H_
