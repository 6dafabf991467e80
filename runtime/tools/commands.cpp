#include "runtime/tools/commands.h"

#include <cstdio>

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

int open_session(const Options& options, std::optional<Program>* out_program, std::optional<Session>* out_session) {
  Session::Options session_options;
  std::string error;
  const std::string target = options.get("--target");
  session_options.thread_count = static_cast<uint32_t>(options.number("--threads", 0, 1, 256, &error));
  session_options.target = target.empty() ? nullptr : target.c_str();
  if (!error.empty()) return fail(error, kUsage);
  Result<Program> program = Program::open(options.artifact());
  if (!program) return fail(program.status().message());
  Result<Session> session = Session::create(*program, session_options);
  if (!session) return fail(session.status().message());
  const Status grows = session->allow_growth();
  if (!grows) return fail(grows.message());
  session->check_numerics(options.has("--check-numerics"));
  out_program->emplace(std::move(*program));
  out_session->emplace(std::move(*session));
  return kSuccess;
}

}  // namespace ferrule::tools
