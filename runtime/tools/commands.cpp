#include "runtime/tools/commands.h"

#include <cstdio>
#include <utility>

namespace ferrule::tools {

int fail(const std::string& sentence, int code) {
  std::fprintf(stderr, "ferrule-run: %s\n", sentence.c_str());
  return code;
}

void print_help(const CommandHelp& help) {
  std::printf("usage: ferrule-run %s\n\n%s\n\noptions:\n%s  --help                  print this\n\nexamples:\n%s",
              help.usage, help.description, describe_options(*help.options).c_str(), help.examples);
}

bool parse_command(const std::vector<std::string>& arguments, const CommandHelp& help, Options* options,
                   int* exit_code) {
  for (const std::string& argument : arguments) {
    if (argument != "--help" && argument != "-h") continue;
    print_help(help);
    *exit_code = kSuccess;
    return false;
  }
  std::string error = options->parse(arguments, *help.options);
  if (error.empty() && options->artifact().empty()) error = std::string("the artifact is missing: ") + help.usage;
  if (error.empty()) return true;
  *exit_code = fail(error, kUsage);
  return false;
}

namespace {

// The file of --swap, if it is given, for the arena and the variables of a session. kSuccess, or the exit code.
int open_swap(const Options& options, OpenedSession* out, Session::Options* session_options) {
  if (!options.has("--swap")) return kSuccess;
  Result<Swap> swap = Swap::create(options.get("--swap"));
  if (!swap) return fail(swap.status().message());
  out->swap.emplace(std::move(*swap));
  Result<Arena> arena = Arena::create(out->swap->allocator());
  if (!arena) return fail(arena.status().message());
  out->arena.emplace(std::move(*arena));
  session_options->allocator = out->swap->allocator();
  session_options->arena = &*out->arena;
  return kSuccess;
}

}  // namespace

int open_session(const Options& options, OpenedSession* out) {
  Session::Options session_options;
  std::string error;
  const std::string target = options.get("--target");
  session_options.thread_count = static_cast<uint32_t>(options.number("--threads", 0, 1, 256, &error));
  session_options.target = target.empty() ? nullptr : target.c_str();
  const uint64_t resident = options.number("--resident", 0, 1, UINT64_MAX, &error);
  if (resident != 0 && !options.has("--swap")) error = "--resident needs --swap, the file for what is not in memory";
  if (!error.empty()) return fail(error, kUsage);
  const auto start = std::chrono::steady_clock::now();
  Result<Program> program = Program::open(options.artifact());
  if (!program) return fail(program.status().message());
  out->program.emplace(std::move(*program));
  const int exit_code = open_swap(options, out, &session_options);
  if (exit_code != kSuccess) return exit_code;
  Result<Session> session = Session::create(*out->program, session_options);
  if (!session) {
    // Where the file had no room it says more than that there was no memory.
    const Status refusal = out->swap ? out->swap->refusal() : Status();
    return fail(refusal ? session.status().message() : refusal.message());
  }
  const Status limited = resident != 0 ? session->limit_arena(*out->swap, resident) : session->allow_growth();
  if (!limited) return fail(limited.message());
  session->check_numerics(options.has("--check-numerics"));
  out->session.emplace(std::move(*session));
  out->open_seconds = seconds_since(start);
  return kSuccess;
}

}  // namespace ferrule::tools
