//===- BindCompile.cpp - Programs in Python -------------------------------===//

#include "frontend/bindings/compiler/Bindings.h"
#include "frontend/core/CompileProgram.h"

namespace ferrule::frontend::python {
namespace {

template <typename T> std::vector<std::pair<std::string, T>> toNamed(const py::dict &dictionary) {
  std::vector<std::pair<std::string, T>> named;
  for (std::pair<py::handle, py::handle> item : dictionary)
    named.emplace_back(py::str(item.first), item.second.cast<T>());
  return named;
}

py::tuple compile(const py::dict &entries, const py::dict &variables, std::vector<std::string> targets,
                  std::vector<std::string> disabledPasses, std::map<std::string, int64_t> planAt,
                  uint64_t memoryBudgetBytes, double memoryBudgetFraction, unsigned threads) {
  CompileSettings settings;
  settings.targets = std::move(targets);
  settings.disabledPasses = std::move(disabledPasses);
  settings.planAt = std::move(planAt);
  settings.memoryBudgetBytes = memoryBudgetBytes;
  settings.memoryBudgetFraction = memoryBudgetFraction;
  settings.threads = threads;
  CompiledArtifact artifact =
      unwrap(compileProgram(getFrontend(), toNamed<EntryRef>(entries), toNamed<VariableRef>(variables), settings));
  py::dict report;
  for (const auto &[phase, seconds] : artifact.secondsByPhase)
    report[py::str(phase)] = seconds;
  return py::make_tuple(py::bytes(reinterpret_cast<const char *>(artifact.bytes.data()), artifact.bytes.size()),
                        report);
}

} // namespace

Frontend &getFrontend() {
  static auto *frontend =
      new Frontend([](mlir::ModuleOp module) { return compileModuleToArtifact(module, CompileSettings()); });
  return *frontend;
}

static void bindProgramCache(py::module_ &module) {
  module.def(
      "program_cache_statistics",
      [] {
        const ProgramCache::Statistics &statistics = getFrontend().getCache().getStatistics();
        return py::dict(py::arg("compiled") = statistics.compiled, py::arg("found") = statistics.found,
                        py::arg("evicted") = statistics.evicted, py::arg("programs") = statistics.programs,
                        py::arg("bytes") = statistics.bytes);
      },
      "Programs of dynamic mode: how often one was compiled, found on disk, evicted; how many there are, and their "
      "bytes.");
  module.def(
      "set_program_cache", [](uint64_t maxBytes) { getFrontend().getCache().setMaxBytes(maxBytes); },
      py::arg("max_bytes"));
  module.def(
      "set_program_store",
      [](std::string folder, const std::string &version, uint64_t maxBytes) {
        getFrontend().getCache().setStore(
            folder.empty() ? nullptr
                           : std::make_unique<ProgramStore>(std::move(folder), version + getCompilerName(), maxBytes));
      },
      py::arg("folder"), py::arg("version") = "", py::arg("max_bytes") = 0,
      "Where programs outlive the process; an empty folder for nowhere.");
}

void bindCompile(py::module_ &module) {
  bindProgramCache(module);
  module.def("compile", compile, py::arg("entries"), py::arg("variables"),
             py::arg("targets") = std::vector<std::string>{"host"},
             py::arg("disabled_passes") = std::vector<std::string>(),
             py::arg("plan_at") = std::map<std::string, int64_t>(), py::arg("memory_budget_bytes") = 0,
             py::arg("memory_budget_fraction") = 0.0, py::arg("threads") = 2,
             "The artifact of all entries as bytes, and seconds by phase.");
}

} // namespace ferrule::frontend::python
