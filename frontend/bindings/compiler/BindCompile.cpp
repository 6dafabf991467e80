//===- BindCompile.cpp - Programs in Python -------------------------------===//

#include "frontend/bindings/compiler/Bindings.h"
#include "frontend/core/CompileProgram.h"
#include "ir/graph/ElementBytes.h"

#include "llvm/ADT/StringExtras.h"

#include <chrono>
#include <thread>

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
                  uint64_t memoryBudgetBytes, double memoryBudgetFraction, unsigned threads, bool useStored,
                  std::string storedName, bool keep, std::string tunedFor, std::map<std::string, unsigned> tiles,
                  std::optional<unsigned> otherTiles) {
  CompileSettings settings;
  settings.targets = std::move(targets);
  settings.disabledPasses = std::move(disabledPasses);
  settings.planAt = std::move(planAt);
  settings.memoryBudgetBytes = memoryBudgetBytes;
  settings.memoryBudgetFraction = memoryBudgetFraction;
  settings.threads = threads;
  settings.useStored = useStored;
  settings.storedName = std::move(storedName);
  settings.keep = keep;
  settings.tunedFor = std::move(tunedFor);
  settings.tiles = {std::move(tiles), otherTiles};
  CompiledArtifact artifact =
      unwrap(compileProgram(getFrontend(), toNamed<EntryRef>(entries), toNamed<VariableRef>(variables), settings));
  py::dict report;
  for (const auto &[phase, seconds] : artifact.secondsByPhase)
    report[py::str(phase)] = seconds;
  if (!artifact.storedPath.empty())
    return py::make_tuple(py::str(artifact.storedPath), report, py::list());
  py::list tunable;
  for (const mlir::ferrule::TunableKernel &kernel : artifact.tunableKernels)
    tunable.append(py::make_tuple(kernel.name, kernel.key, kernel.candidates, kernel.chosen));
  return py::make_tuple(artifact.file->release(), report, tunable);
}

/// While a program runs, a kernel in Python may let another thread run, and ask for the front end itself. Both would
/// find it in the middle of a flush.
void waitForRun(SharedArena &arena) {
  if (arena.isInUseHere())
    raise(makeError(ErrorKind::Execution, "the kernel of an external op computes with tensors; it is called while a "
                                          "program runs, and has arrays of NumPy for that"));
  while (arena.isInUse()) {
    py::gil_scoped_release release;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

} // namespace

Frontend &getFrontend() {
  static auto *frontend =
      new Frontend([](mlir::ModuleOp module) { return compileModuleToArtifact(module, CompileSettings()); });
  waitForRun(frontend->getCache().getArena());
  return *frontend;
}

static void bindProgramCache(py::module_ &module) {
  module.def(
      "program_cache_statistics",
      [] {
        const ProgramCache::Statistics statistics = getFrontend().getCache().getStatistics();
        return py::dict(py::arg("compiled") = statistics.compiled, py::arg("found") = statistics.found,
                        py::arg("evicted") = statistics.evicted, py::arg("programs") = statistics.programs,
                        py::arg("bytes") = statistics.bytes, py::arg("arena_bytes") = statistics.arenaBytes);
      },
      "Programs of dynamic mode: how often one was compiled, found on disk, evicted; how many there are, their "
      "bytes, and those of the arena in which all of them run.");
  module.def(
      "set_program_cache", [](uint64_t maxBytes) { getFrontend().getCache().setMaxBytes(maxBytes); },
      py::arg("max_bytes"));
  module.def(
      "register_kernel",
      [](std::string symbol, uintptr_t context, uintptr_t function) {
        using Function = decltype(ExternalKernel::function);
        getFrontend().getCache().registerKernel(
            {std::move(symbol), reinterpret_cast<void *>(context), reinterpret_cast<Function>(function)});
      },
      py::arg("symbol"), py::arg("context"), py::arg("function"),
      "What dynamic mode calls for external ops of that symbol: addresses that stay valid as long as the process.");
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

static void bindProgramStore(py::module_ &module) {
  module.def(
      "find_program",
      [](const std::string &name) -> py::object {
        ProgramStore *store = getFrontend().getCache().getStore();
        std::optional<std::string> path = store ? store->findPath(name) : std::nullopt;
        return path ? py::object(py::str(*path)) : py::none();
      },
      py::arg("name"), "The path of the program that the store keeps under a name, or None.");
  module.def(
      "hash_bytes",
      [](const py::buffer &buffer) {
        py::buffer_info bytes = buffer.request();
        auto [low, high] = mlir::ferrule::hashContents(bytes.ptr, bytes.size * bytes.itemsize);
        return llvm::utohexstr(high) + "." + llvm::utohexstr(low);
      },
      py::arg("buffer"), "128 bits (XXH3) that tell contents apart, as text; no protection against an adversary.");
}

static py::tuple makeObject(const py::bytes &artifact, const std::string &target, const std::string &name) {
  std::string_view bytes = artifact;
  mlir::ferrule::ObjectFile object =
      unwrap(makeObjectFile({reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()}, target, name));
  return py::make_tuple(py::bytes(object.bytes.data(), object.bytes.size()), object.header);
}

void bindCompile(py::module_ &module) {
  module.def("make_object", makeObject, py::arg("artifact"), py::arg("target"), py::arg("name"),
             "(object, header): an artifact's bytes as a relocatable object for one target, and the C header that declares "
             "what it defines.");
  bindProgramStore(module);
  bindProgramCache(module);
  module.def("compile", compile, py::arg("entries"), py::arg("variables"),
             py::arg("targets") = std::vector<std::string>{"host"},
             py::arg("disabled_passes") = std::vector<std::string>(),
             py::arg("plan_at") = std::map<std::string, int64_t>(), py::arg("memory_budget_bytes") = 0,
             py::arg("memory_budget_fraction") = 0.0, py::arg("threads") = 2, py::arg("use_stored") = true,
             py::arg("stored_name") = "", py::arg("keep") = true, py::arg("tuned_for") = "",
             py::arg("tiles") = std::map<std::string, unsigned>(), py::arg("other_tiles") = py::none(),
             "The artifact of all entries: the path where the store has it, else a descriptor of an open file, which the "
             "caller closes; seconds by phase; and of an artifact made now (name, key, candidates, chosen) of each kernel "
             "that has tiles to choose from, which `tiles` ({key: number}) and `other_tiles` name in place of the cost "
             "model.");
}

} // namespace ferrule::frontend::python
