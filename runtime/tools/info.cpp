// ferrule-run info: verifies an artifact as a session would, then prints what it holds.
#include <cstdio>

#include "runtime/data/file.h"
#include "runtime/tools/commands.h"
#include "serialize/dump/dump.h"

namespace ferrule::tools {
namespace {

const std::vector<OptionSpec> kOptions = {
    {"--memory", nullptr, "also every buffer of every entry: place, size, live interval"},
    {"--instructions", nullptr, "also every instruction"},
    {"--verify", nullptr, "hash the weights too (everything else is always verified)"},
    {"--check-runtime", "VERSION",
     "only say whether the artifact runs on a runtime that reads format versions up to this one,\n"
     "and what it lacks; exit code 1 if it does not"},
    {"--json", nullptr, "one JSON object instead of text"},
};

const CommandHelp kHelp = {
    "info ARTIFACT [options]",
    "Verifies an artifact and prints its segments, entries, memory plan, variables and targets.",
    &kOptions,
    "  ferrule-run info net.fer\n"
    "  ferrule-run info net.fer --memory\n"
    "  ferrule-run info net.fer --verify --json\n",
};

void print_targets(const Program& program) {
  std::printf("targets, worst first\n");
  for (uint32_t t = 0; t < program.info().target_count; ++t) {
    const FerruleTargetInfo target = program.target(t);
    std::printf("  %-24s%s\n", target.name, target.supported != 0 ? "" : "not supported by this machine");
  }
}

}  // namespace

int info_command(const std::vector<std::string>& arguments) {
  Options options;
  int exit_code = kSuccess;
  if (!parse_command(arguments, kHelp, &options, &exit_code)) return exit_code;
  Program::Options open_options;
  if (options.has("--verify")) open_options.verify = kFerruleVerifyAll;
  const Result<Program> program = Program::open(options.artifact(), open_options);
  if (!program) return fail(program.status().message());

  runtime::MappedFile file;
  const runtime::Status status = file.open(options.artifact().c_str());
  if (!status.ok()) return fail(status.message());
  serialize::ArtifactContents contents;
  std::string error;
  if (!serialize::read_artifact(file.data(), file.byte_size(), &contents, &error))
    return fail(options.artifact() + ": " + error);
  if (options.has("--check-runtime")) {
    error.clear();
    const uint64_t version = options.number("--check-runtime", 0, 0, UINT32_MAX, &error);
    if (!error.empty()) return fail(error, kUsage);
    bool runs = false;
    const std::string sentence = serialize::check_runtime(contents, static_cast<uint32_t>(version), &runs);
    std::printf("%s\n", sentence.c_str());
    return runs ? kSuccess : kFailure;
  }
  serialize::DumpOptions dump;
  dump.memory = options.has("--memory");
  dump.instructions = options.has("--instructions");
  if (options.has("--json")) {
    std::printf("%s\n", serialize::dump_json(contents, dump).c_str());
    return kSuccess;
  }
  std::fputs(serialize::dump_text(contents, dump).c_str(), stdout);
  print_targets(*program);
  return kSuccess;
}

}  // namespace ferrule::tools
