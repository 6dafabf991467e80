// ferrule-run: trains and runs compiled programs on machines that have neither the compiler nor Python.
#include <cstdio>

#include "runtime/tools/commands.h"
#include "runtime/tools/text.h"

namespace {

constexpr char kUsageText[] =
    "usage: ferrule-run COMMAND ARTIFACT [options]\n"
    "\n"
    "Runs programs that Ferrule compiled (.fer), for training and for inference.\n"
    "\n"
    "commands:\n"
    "  run      run an entry once, from files to files\n"
    "  train    train on a file of samples, with checkpoints\n"
    "  bench    measure how long runs of an entry take: latencies and percentiles\n"
    "  profile  show where the time of an entry goes, kernel by kernel\n"
    "  info     verify an artifact, print entries, sizes and the memory plan\n"
    "\n"
    "`ferrule-run COMMAND --help` describes a command and shows examples.\n"
    "\n"
    "exit codes: 0 success; 1 a file, the artifact, the data or a run failed; 2 wrong command line;\n"
    "130 interrupted (a training has saved its checkpoint)\n";

}  // namespace

int main(int argc, char** argv) {
  using namespace ferrule::tools;
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const std::string command = arguments.empty() ? "" : arguments[0];
  if (command == "--help" || command == "-h" || command == "help") {
    std::fputs(kUsageText, stdout);
    return kSuccess;
  }
  if (command.empty()) {
    std::fputs(kUsageText, stderr);
    return kUsage;
  }
  const std::vector<std::string> rest(arguments.begin() + 1, arguments.end());
  if (command == "run") return run_command(rest);
  if (command == "train") return train_command(rest);
  if (command == "bench") return bench_command(rest);
  if (command == "profile") return profile_command(rest);
  if (command == "info") return info_command(rest);
  return fail(format("unknown command '%s'; the commands are run, train, bench, profile, info", command.c_str()), kUsage);
}
