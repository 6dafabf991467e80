//===- ProgramCache.cpp - Compiled fragments by their structure -----------===//

#include "frontend/core/ProgramCache.h"

#include "frontend/core/Error.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ferrule::frontend {
namespace {

uint64_t getValueBytes(mlir::ModuleOp fragment) {
  uint64_t total = 0;
  fragment.walk([&](mlir::Operation *op) {
    for (mlir::Type type : op->getResultTypes())
      if (auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type); tensor && tensor.hasStaticShape())
        total += uint64_t(tensor.getNumElements()) * ((tensor.getElementTypeBitWidth() + 7) / 8);
  });
  return total;
}

} // namespace

void ProgramCache::setThreadCount(unsigned count) {
  if (count == threadCount)
    return;
  threadCount = count;
  // A session's pool has a fixed size; entries hold on to what they need.
  programs.clear();
  families.clear();
  statistics.programs = 0;
  arena->clear();
}

ProgramCache::Statistics ProgramCache::getStatistics() {
  Statistics now = statistics;
  now.bytes = findHeld(/*spared=*/nullptr).getBytes();
  now.arenaBytes = arena->getByteSize();
  return now;
}

void ProgramCache::registerKernel(ExternalKernel kernel) {
  llvm::erase_if(kernels, [&](const ExternalKernel &known) { return known.symbol == kernel.symbol; });
  kernels.push_back(std::move(kernel));
}

void ProgramCache::setMaxBytes(uint64_t bytes) {
  maxBytes = bytes;
  evict(/*spared=*/nullptr);
}

//===----------------------------------------------------------------------===//
// Making programs
//===----------------------------------------------------------------------===//

llvm::Expected<ProgramCache::Kept> ProgramCache::make(mlir::ModuleOp module) {
  std::string name;
  if (store) {
    name = store->getName(module);
    if (std::optional<std::vector<uint8_t>> artifact = store->find(name)) {
      auto program = CompiledProgram::open(*artifact, threadCount, arena, kernels);
      if (program) {
        ++statistics.found;
        return Kept{ProgramRef(std::move(*program)), artifact->size(), getValueBytes(module)};
      }
      // Damaged: made anew, which also overwrites it.
      llvm::consumeError(program.takeError());
    }
  }
  return compileNew(module, name);
}

llvm::Expected<ProgramCache::Kept> ProgramCache::compileNew(mlir::ModuleOp module, llvm::StringRef storedName) {
  ++statistics.compiled;
  uint64_t valueBytes = getValueBytes(module);
  llvm::Expected<std::vector<uint8_t>> artifact = compile(module);
  if (!artifact)
    return artifact.takeError();
  llvm::Expected<std::unique_ptr<CompiledProgram>> program =
      CompiledProgram::open(*artifact, threadCount, arena, kernels);
  if (!program)
    return program.takeError();
  if (store)
    store->keep(storedName, *artifact);
  return Kept{ProgramRef(std::move(*program)), artifact->size(), valueBytes};
}

llvm::Expected<std::shared_ptr<CompiledProgram>> ProgramCache::get(mlir::ModuleOp module) {
  StructureKey key = getStructureKey(module);
  auto found = programs.find(key);
  if (found != programs.end())
    return use(found->second);
  llvm::Expected<Kept> made = make(module);
  if (!made)
    return made.takeError();
  ProgramRef program = made->program;
  add(programs[std::move(key)], std::move(*made));
  return program;
}

//===----------------------------------------------------------------------===//
// One program for several shapes
//===----------------------------------------------------------------------===//

/// Makes and compiles the template of what a family has seen. Fragments that have
/// nothing in common with the newest are forgotten, the oldest first.
void ProgramCache::generalize(Family &family) {
  drop(family.general);
  family.shared = nullptr;
  for (; family.samples.size() > 1 && !family.shared; family.samples.erase(family.samples.begin())) {
    llvm::SmallVector<mlir::ModuleOp, 4> fragments;
    for (mlir::OwningOpRef<mlir::ModuleOp> &sample : family.samples)
      fragments.push_back(*sample);
    family.shared = FragmentTemplate::create(fragments);
    if (family.shared)
      return compileGeneral(family);
  }
}

/// Compiles the template of a family; takes it away if it has no program.
void ProgramCache::compileGeneral(Family &family) {
  // The compiler changes what it is given; the template is needed as it is.
  mlir::OwningOpRef<mlir::ModuleOp> copy = family.shared->getModule().clone();
  llvm::Expected<Kept> made = make(*copy);
  if (!made) {
    // Not the user's error: the fragment itself is compiled next, and speaks.
    llvm::consumeError(made.takeError());
    family.shared = nullptr;
    ++family.failures;
    return;
  }
  made->valueBytes = getValueBytes(*family.samples.back());
  add(family.general, std::move(*made));
}

ProgramCache::Family &ProgramCache::getFamily(mlir::ModuleOp module) {
  Family &family = families[getSkeletonKey(module)];
  family.lastUse = ++clock;
  if (families.size() > maximumFamilies) {
    auto oldest = std::min_element(families.begin(), families.end(), [](const auto &a, const auto &b) {
      return a.second.lastUse < b.second.lastUse;
    });
    drop(oldest->second.general);
    families.erase(oldest);
  }
  return family;
}

/// The program for several shapes that serves `module`, with the inputs that it
/// takes behind the fragment's own added to `inputs`; null where there is none.
ProgramCache::ProgramRef ProgramCache::findGeneral(mlir::ModuleOp module, llvm::SmallVectorImpl<HostArray> &inputs) {
  Family &family = getFamily(module);
  auto match = [&]() -> ProgramRef {
    if (!family.shared)
      return nullptr;
    std::optional<std::vector<HostArray>> more = family.shared->match(module);
    if (!more)
      return nullptr;
    if (!family.general.program) // It was evicted.
      compileGeneral(family);
    if (!family.general.program)
      return nullptr;
    llvm::append_range(inputs, std::move(*more));
    return use(family.general);
  };
  if (ProgramRef program = match())
    return program;
  if (family.failures == maximumFailures)
    return nullptr;
  // What the samples have in common was guessed wrong or is nothing.
  if (family.samples.size() == maximumSamples)
    family.samples.erase(family.samples.begin());
  family.samples.push_back(module.clone());
  if (family.samples.size() == 1)
    return nullptr;
  generalize(family);
  return match();
}

llvm::Expected<std::vector<HostArray>> ProgramCache::run(mlir::ModuleOp module, llvm::ArrayRef<HostArray> inputs) {
  auto function = *module.getOps<mlir::func::FuncOp>().begin();
  unsigned resultCount = function.getNumResults();
  auto known = programs.find(getStructureKey(module));
  if (known != programs.end())
    return use(known->second)->run("main", inputs, resultCount);

  llvm::SmallVector<HostArray, 8> all(inputs);
  if (ProgramRef general = findGeneral(module, all))
    return general->run("main", all, resultCount);
  llvm::Expected<ProgramRef> program = get(module);
  if (!program)
    return program.takeError();
  return (*program)->run("main", inputs, resultCount);
}

//===----------------------------------------------------------------------===//
// What stays in memory
//===----------------------------------------------------------------------===//

ProgramCache::ProgramRef ProgramCache::use(Kept &kept) {
  kept.lastUse = ++clock;
  return kept.program;
}

void ProgramCache::add(Kept &place, Kept kept) {
  drop(place);
  place = std::move(kept);
  place.lastUse = ++clock;
  ++statistics.programs;
  evict(&place);
}

void ProgramCache::drop(Kept &kept) {
  if (!kept.program)
    return;
  --statistics.programs;
  kept = Kept();
}

ProgramCache::Held ProgramCache::findHeld(const Kept *spared) {
  Held held;
  auto consider = [&](Kept &kept) {
    if (!kept.program)
      return;
    held.artifactBytes += kept.artifactBytes;
    if (&kept != spared && (!held.oldest || kept.lastUse < held.oldest->lastUse))
      held.oldest = &kept;
    if (!held.largest || kept.valueBytes > held.largest->valueBytes)
      held.largest = &kept;
  };
  for (auto &[key, kept] : programs)
    consider(kept);
  for (auto &[key, family] : families)
    consider(family.general);
  return held;
}

/// If the artifacts alone are too much, or the values are those of the one that is spared, what was used least recently
/// leaves, else the program with most values, and the arena with it. Looks at every program for each that leaves: few
/// leave, and seldom.
void ProgramCache::evict(const Kept *spared) {
  bool isLargestGone = false;
  for (Held held = findHeld(spared); held.getBytes() > maxBytes; held = findHeld(spared)) {
    Kept *leaving = held.artifactBytes > maxBytes || held.largest == spared ? held.oldest : held.largest;
    if (!leaving)
      break;
    isLargestGone |= leaving == held.largest;
    drop(*leaving);
    ++statistics.evicted;
  }
  // What left may still belong to a traced function, and needs the arena again when that is called.
  if (isLargestGone || statistics.programs == 0)
    arena->clear();
  for (auto entry = programs.begin(); entry != programs.end();)
    entry = entry->second.program ? std::next(entry) : programs.erase(entry);
}

} // namespace ferrule::frontend
