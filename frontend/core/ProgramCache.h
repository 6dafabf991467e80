//===- ProgramCache.h - Compiled fragments by their structure -------------===//
//
// Dynamic mode meets the same fragment again and again (a training step), so
// compiled programs are kept by the structure of their entry. The first shape of
// a structure is compiled as it is, the second with the sizes that differ as
// dims (FragmentTemplate.h); after that only a shape that refutes what was
// guessed of them compiles.
//
// All of them run in one arena. When programs and arena take too much memory, what
// was used least recently leaves, or the program that needs the arena so large. A
// store on disk, if there is one, saves the compilation in the next process.
//
//===----------------------------------------------------------------------===//
#ifndef FERRULE_FRONTEND_CORE_PROGRAMCACHE_H
#define FERRULE_FRONTEND_CORE_PROGRAMCACHE_H

#include "frontend/core/FragmentTemplate.h"
#include "frontend/core/ProgramStore.h"
#include "frontend/core/StructureKey.h"

#include <functional>
#include <map>

namespace ferrule::frontend {

/// Compiles a module of the graph dialect to the bytes of an artifact for this
/// machine. The module may be changed.
using CompileFunction = std::function<llvm::Expected<std::vector<uint8_t>>(mlir::ModuleOp)>;

class ProgramCache {
public:
  static constexpr uint64_t defaultMaxBytes = uint64_t(1) << 30;

  /// Counts since the process began, and what is held now.
  struct Statistics {
    uint64_t compiled = 0; ///< How often something was compiled.
    uint64_t found = 0;    ///< How often the store on disk had the program.
    uint64_t evicted = 0;
    uint64_t programs = 0;
    uint64_t bytes = 0;      ///< What counts against the limit; see Held.
    uint64_t arenaBytes = 0; ///< Of the arena: what the largest program needs, at its largest sizes.
  };

  explicit ProgramCache(CompileFunction compile) : compile(std::move(compile)) {}

  /// The program of exactly `module` (locations and value names aside), compiled
  /// unless it is known.
  llvm::Expected<std::shared_ptr<CompiledProgram>> get(mlir::ModuleOp module);

  /// Runs the only entry of `module`, which is called "main", by the program of
  /// exactly this module or by one for several shapes.
  llvm::Expected<std::vector<HostArray>> run(mlir::ModuleOp module, llvm::ArrayRef<HostArray> inputs);

  Statistics getStatistics();

  /// In which all programs run.
  SharedArena &getArena() { return *arena; }

  /// Workers of the sessions made from now on; 0 takes all CPUs.
  void setThreadCount(unsigned count);

  /// The most bytes that programs and their values take; one that is larger than
  /// that is kept until the next is made.
  void setMaxBytes(uint64_t bytes);

  /// What programs opened from now on call where they hold an external op of that symbol. Another kernel takes the place of
  /// one that was registered before.
  void registerKernel(ExternalKernel kernel);

  /// Where programs outlive the process; null for nowhere.
  void setStore(std::unique_ptr<ProgramStore> newStore) { store = std::move(newStore); }
  ProgramStore *getStore() const { return store.get(); }

private:
  using ProgramRef = std::shared_ptr<CompiledProgram>;

  /// A program and what decides whether it stays.
  struct Kept {
    ProgramRef program;
    uint64_t artifactBytes = 0;
    /// Of all values that it makes when it runs for the fragment that it was made
    /// for. What they take in the arena is less, as they share bytes, and more for
    /// larger shapes.
    uint64_t valueBytes = 0;
    uint64_t lastUse = 0;
  };
  /// What programs take: each its artifact, and as all run in one arena, the values
  /// of the largest.
  struct Held {
    uint64_t artifactBytes = 0;
    Kept *oldest = nullptr; ///< But for the one that is spared.
    Kept *largest = nullptr;
    uint64_t getBytes() const { return artifactBytes + (largest ? largest->valueBytes : 0); }
  };
  /// The fragments of one skeleton: the last ones that no program served, and a
  /// program for all of them, if there is one.
  struct Family {
    llvm::SmallVector<mlir::OwningOpRef<mlir::ModuleOp>, 2> samples;
    std::unique_ptr<FragmentTemplate> shared;
    Kept general;
    uint64_t lastUse = 0;
    unsigned failures = 0; ///< Templates that the compiler refused.
  };
  static constexpr unsigned maximumSamples = 8;
  static constexpr unsigned maximumFailures = 4;
  static constexpr unsigned maximumFamilies = 4096;

  /// From the store, or compiled. `module` is changed.
  llvm::Expected<Kept> make(mlir::ModuleOp module);
  llvm::Expected<Kept> compileNew(mlir::ModuleOp module, llvm::StringRef storedName);
  void generalize(Family &family);
  void compileGeneral(Family &family);
  Family &getFamily(mlir::ModuleOp module);
  ProgramRef findGeneral(mlir::ModuleOp module, llvm::SmallVectorImpl<HostArray> &inputs);
  ProgramRef use(Kept &kept);
  void add(Kept &place, Kept kept);
  void drop(Kept &kept);
  Held findHeld(const Kept *spared);
  void evict(const Kept *spared);

  CompileFunction compile;
  std::unique_ptr<ProgramStore> store;
  std::vector<ExternalKernel> kernels;
  std::map<StructureKey, Kept> programs;
  std::map<StructureKey, Family> families;
  std::shared_ptr<SharedArena> arena = std::make_shared<SharedArena>();
  Statistics statistics;
  uint64_t clock = 0;
  uint64_t maxBytes = defaultMaxBytes;
  unsigned threadCount = 0;
};

} // namespace ferrule::frontend

#endif // FERRULE_FRONTEND_CORE_PROGRAMCACHE_H
