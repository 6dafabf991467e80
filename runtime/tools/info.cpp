// ferrule-run info: what an artifact holds.
#include <cstdio>

#include "runtime/tools/commands.h"
#include "runtime/tools/tensor_files.h"
#include "runtime/tools/text.h"

namespace ferrule::tools {
namespace {

const std::vector<OptionSpec> kOptions = {
    {"--memory", nullptr, "only the memory plan"},
    {"--variables", nullptr, "list the variables too"},
    {"--verify", nullptr, "hash the weights too (everything else is always verified)"},
    {"--json", nullptr, "one JSON object instead of text"},
};

const CommandHelp kHelp = {
    "info ARTIFACT [options]",
    "Verifies an artifact and prints its entries, targets, sizes and memory plan.",
    &kOptions,
    "  ferrule-run info net.fer\n"
    "  ferrule-run info net.fer --memory\n"
    "  ferrule-run info net.fer --verify --json\n",
};

void print_tensor(const char* direction, const FerruleTensorInfo& tensor) {
  std::printf("    %-7s %-24s %-9s %s\n", direction, tensor.name, type_name(tensor.dtype).c_str(), tensor.shape_text);
}

void print_entry(const Program& program, uint32_t index) {
  const FerruleEntryInfo entry = program.entry(index);
  std::printf("  %s%s\n", entry.name, entry.assigned_count == 0 ? "" : "  (assigns variables)");
  for (uint32_t d = 0; d < entry.dim_count; ++d) {
    const FerruleDimInfo dim = program.dim(index, d);
    std::printf("    dim     %-24s from %lld", dim.name, static_cast<long long>(dim.min));
    if (dim.max != INT64_MAX) std::printf(" to %lld", static_cast<long long>(dim.max));
    if (dim.multiple_of != 1) std::printf(", a multiple of %lld", static_cast<long long>(dim.multiple_of));
    std::printf("\n");
  }
  for (uint32_t i = 0; i < entry.input_count; ++i) print_tensor("input", program.input(index, i));
  for (uint32_t i = 0; i < entry.output_count; ++i) print_tensor("output", program.output(index, i));
}

void print_memory(const Program& program) {
  const FerruleProgramInfo info = program.info();
  std::printf("memory, in bytes, over the whole range of the dims\n  %-24s %14s %14s %14s\n", "entry", "peak", "lower bound",
              "naive sum");
  for (uint32_t e = 0; e < info.entry_count; ++e) {
    const FerruleEntryInfo entry = program.entry(e);
    std::printf("  %-24s %14s %14s %14s\n", entry.name, with_commas(entry.peak_bytes).c_str(),
                with_commas(entry.lower_bound_bytes).c_str(), with_commas(entry.naive_bytes).c_str());
  }
  std::printf("  a session: arena %s, scratch %s a thread\n", with_commas(info.arena_bytes).c_str(),
              with_commas(info.scratch_bytes).c_str());
}

void print_variables(const Program& program) {
  std::printf("variables\n");
  for (uint32_t v = 0; v < program.info().variable_count; ++v) {
    const FerruleVariableInfo variable = program.variable(v);
    std::printf("  %-40s %-9s %-20s %s%s\n", variable.name, type_name(variable.dtype).c_str(),
                shape_name({variable.shape, variable.shape + variable.rank}).c_str(), variable.role,
                variable.assigned != 0 ? "" : ", constant");
  }
}

void print_text(const Program& program, const Options& options) {
  const FerruleProgramInfo info = program.info();
  if (!options.has("--memory")) {
    std::printf("%s\n  made by %s\n  root hash %s\n", options.artifact().c_str(), info.producer,
                to_hex(info.root_sha256, sizeof(info.root_sha256)).c_str());
    std::printf("  %s bytes: weights %s, code %s\nentries\n", with_commas(info.file_bytes).c_str(),
                with_commas(info.weight_bytes).c_str(), with_commas(info.code_bytes).c_str());
    for (uint32_t e = 0; e < info.entry_count; ++e) print_entry(program, e);
    std::printf("targets, worst first\n");
    for (uint32_t t = 0; t < info.target_count; ++t) {
      const FerruleTargetInfo target = program.target(t);
      std::printf("  %-24s %s bytes of code%s\n", target.name, with_commas(target.code_bytes).c_str(),
                  target.supported != 0 ? "" : ", not supported by this machine");
    }
    if (options.has("--variables"))
      print_variables(program);
    else
      std::printf("variables: %u (--variables lists them)\n", info.variable_count);
  }
  print_memory(program);
}

Json describe_tensor(const FerruleTensorInfo& tensor) {
  return Json::object()
      .add("name", tensor.name)
      .add("dtype", type_name(tensor.dtype))
      .add("shape", tensor.shape_text);
}

Json describe_entry(const Program& program, uint32_t index) {
  const FerruleEntryInfo entry = program.entry(index);
  Json dims = Json::array(), inputs = Json::array(), outputs = Json::array();
  for (uint32_t d = 0; d < entry.dim_count; ++d) {
    const FerruleDimInfo dim = program.dim(index, d);
    Json object = Json::object().add("name", dim.name).add("min", dim.min);
    if (dim.max != INT64_MAX) object.add("max", dim.max);
    dims.add(object.add("multiple_of", dim.multiple_of));
  }
  for (uint32_t i = 0; i < entry.input_count; ++i) inputs.add(describe_tensor(program.input(index, i)));
  for (uint32_t i = 0; i < entry.output_count; ++i) outputs.add(describe_tensor(program.output(index, i)));
  return Json::object()
      .add("name", entry.name)
      .add("dims", dims)
      .add("inputs", inputs)
      .add("outputs", outputs)
      .add("assigned_variables", uint64_t{entry.assigned_count})
      .add("peak_bytes", entry.peak_bytes)
      .add("lower_bound_bytes", entry.lower_bound_bytes)
      .add("naive_bytes", entry.naive_bytes);
}

void print_json(const Program& program) {
  const FerruleProgramInfo info = program.info();
  Json entries = Json::array(), targets = Json::array(), variables = Json::array();
  for (uint32_t e = 0; e < info.entry_count; ++e) entries.add(describe_entry(program, e));
  for (uint32_t t = 0; t < info.target_count; ++t) {
    const FerruleTargetInfo target = program.target(t);
    targets.add(Json::object()
                    .add("name", target.name)
                    .add("code_bytes", target.code_bytes)
                    .add("supported", target.supported != 0));
  }
  for (uint32_t v = 0; v < info.variable_count; ++v) {
    const FerruleVariableInfo variable = program.variable(v);
    Json shape = Json::array();
    for (uint32_t axis = 0; axis < variable.rank; ++axis) shape.add(variable.shape[axis]);
    variables.add(Json::object()
                      .add("name", variable.name)
                      .add("role", variable.role)
                      .add("dtype", type_name(variable.dtype))
                      .add("shape", shape)
                      .add("assigned", variable.assigned != 0));
  }
  const Json result = Json::object()
                          .add("producer", info.producer)
                          .add("root_sha256", to_hex(info.root_sha256, sizeof(info.root_sha256)))
                          .add("file_bytes", info.file_bytes)
                          .add("weight_bytes", info.weight_bytes)
                          .add("code_bytes", info.code_bytes)
                          .add("arena_bytes", info.arena_bytes)
                          .add("scratch_bytes", info.scratch_bytes)
                          .add("entries", entries)
                          .add("targets", targets)
                          .add("variables", variables);
  std::printf("%s\n", result.text().c_str());
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
  if (options.has("--json"))
    print_json(*program);
  else
    print_text(*program, options);
  return kSuccess;
}

}  // namespace ferrule::tools
