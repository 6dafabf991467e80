//===- Compiler.cpp - From a graph module to a program --------------------===//

#include "codegen/Compiler.h"

#include "codegen/emit/EntryEmitter.h"
#include "codegen/emit/KernelTable.h"
#include "ir/graph/ElementBytes.h"
#include "ir/graph/Layout.h"
#include "ir/graph/ModuleDims.h"
#include "ir/graph/PackPanels.h"
#include "ir/graph/State.h"
#include "ir/plan/PlanOps.h"
#include "passes/Pipelines.h"
#include "passes/recompute/Marks.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/MapVector.h"

#include <chrono>
#include <cstring>
#include <set>

using namespace mlir;
using namespace mlir::ferrule;
using namespace ::ferrule::serialize;

static constexpr llvm::StringLiteral producer = "ferrule 0.1";

namespace {

/// Adds the seconds of a phase to a map when it ends.
class PhaseTimer {
public:
  PhaseTimer(std::map<std::string, double> *seconds, std::string phase)
      : seconds(seconds), phase(std::move(phase)), start(std::chrono::steady_clock::now()) {}
  ~PhaseTimer() {
    if (seconds)
      (*seconds)[phase] += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

private:
  std::map<std::string, double> *seconds;
  std::string phase;
  std::chrono::steady_clock::time_point start;
};

/// Adds the seconds of each pass to a map, as "PHASE.PASS".
class PassTimer : public PassInstrumentation {
public:
  PassTimer(std::map<std::string, double> &seconds, StringRef phase) : seconds(seconds), phase(phase) {}

  void runBeforePass(Pass *pass, Operation *) override { starts[pass] = std::chrono::steady_clock::now(); }
  void runAfterPass(Pass *pass, Operation *) override {
    auto taken = std::chrono::steady_clock::now() - starts.lookup(pass);
    StringRef name = pass->getArgument();
    name.consume_front("ferrule-");
    seconds[(phase + "." + name).str()] += std::chrono::duration<double>(taken).count();
  }

private:
  std::map<std::string, double> &seconds;
  StringRef phase;
  DenseMap<Pass *, std::chrono::steady_clock::time_point> starts;
};

/// The contents of a variable or constant, made of `source` when the artifact is written: packed if there is a layout.
GeneratedBytes generateBytes(ElementBytes source, ArrayRef<int64_t> shape, size_t elementBytes,
                             std::optional<PanelLayout> layout) {
  GeneratedBytes generated;
  generated.identity = hashContents(source.bytes.data(), source.bytes.size());
  if (!layout) {
    generated.size = source.bytes.size();
    generated.write = [source](uint8_t *to) { std::memcpy(to, source.bytes.data(), source.bytes.size()); };
    return generated;
  }
  SmallVector<uint64_t> key(generated.identity.begin(), generated.identity.end());
  key.append({elementBytes, uint64_t(layout->groups), layout->nAxes.size(), layout->kAxes.size()});
  for (ArrayRef<int64_t> numbers : {ArrayRef<int64_t>(layout->nAxes), ArrayRef<int64_t>(layout->kAxes), shape})
    key.append(numbers.begin(), numbers.end());
  generated.identity = hashContents(key.data(), key.size_in_bytes());
  generated.size = llvm::product_of(layout->getPhysicalShape(shape)) * elementBytes;
  generated.write = [source, shape = llvm::to_vector(shape), elementBytes, layout = *layout,
                     size = generated.size](uint8_t *to) {
    packPanels(layout, shape, elementBytes, source.bytes, {reinterpret_cast<char *>(to), size});
  };
  return generated;
}

class Compilation {
public:
  Compilation(ModuleOp module, const CompileOptions &options)
      : module(module), options(options), kernels(module.getContext()), locations(program.locations) {}

  FailureOr<ProgramDescription> run(std::string &error);

private:
  LogicalResult resolveTargets(std::string &error);
  LogicalResult runPasses();
  FailureOr<ElementBytes> getInitialValue(VariableOp variable, size_t byteCount);
  LogicalResult emitVariables();
  LogicalResult emitConstants();
  LogicalResult emitEntries();
  void boundScratch(plan::EntryOp planned, EntryDescription &entry);
  LogicalResult emitCode(std::string &error);
  uint32_t getLayout(Attribute attribute);

  ModuleOp module;
  const CompileOptions &options;
  ProgramDescription program;
  KernelTable kernels;
  LocationTable locations;
  ::ferrule::DimConstraints constraints;
  SmallVector<const CpuTarget *> targets;
  PlanNumbers numbers;
  llvm::MapVector<Attribute, unsigned> layoutNumbers;
};

LogicalResult Compilation::resolveTargets(std::string &error) {
  std::vector<bool> wanted(getCpuTargets().size());
  for (const std::string &name : options.targets) {
    StringRef resolved = name == "host" ? getHostTargetName() : StringRef(name);
    const CpuTarget *target = findCpuTarget(resolved);
    if (!target) {
      error = "unknown target '" + name + "'; allowed: host";
      for (const CpuTarget &known : getCpuTargets())
        error += ", " + known.name.str();
      return failure();
    }
    wanted[target - getCpuTargets().data()] = true;
  }
  for (const std::string &pass : options.disabledPasses)
    if (!llvm::is_contained(getOptionalPasses(), StringRef(pass))) {
      error = "unknown or mandatory pass '" + pass + "' in disabled_passes; allowed:";
      for (StringRef known : getOptionalPasses())
        error += " " + known.str();
      return failure();
    }
  for (auto [index, target] : llvm::enumerate(getCpuTargets()))
    if (wanted[index])
      targets.push_back(&target);
  if (!targets.empty())
    return success();
  error = "no target given";
  return failure();
}

LogicalResult Compilation::runPasses() {
  auto run = [&](StringRef phase, auto buildPipeline) {
    PhaseTimer timer(options.phaseSeconds, phase.str());
    PassManager manager(module.getContext());
    manager.enableVerifier(true);
    if (options.phaseSeconds)
      manager.addInstrumentation(std::make_unique<PassTimer>(*options.phaseSeconds, phase));
    buildPipeline(manager);
    return manager.run(module);
  };
  auto buildGraph = [&](OpPassManager &manager) {
    buildGraphPipeline(manager, options.disabledPasses, options.memoryBudget);
  };
  auto buildPlan = [&](OpPassManager &manager) { buildPlanPipeline(manager, options.disabledPasses); };
  LogicalResult result = run("passes", buildGraph);
  if (options.budgetMissed)
    *options.budgetMissed = module->hasAttr(budgetMissedAttributeName);
  if (failed(result))
    return failure();
  if (options.phaseSeconds)
    for (auto entry : module.getOps<func::FuncOp>())
      if (auto share = entry->getAttrOfType<FloatAttr>(recomputedShareAttributeName))
        (*options.phaseSeconds)[("recomputed." + entry.getName()).str()] = share.getValueAsDouble();
  return run("plan", buildPlan);
}

uint32_t Compilation::getLayout(Attribute attribute) {
  std::optional<PanelLayout> panels = PanelLayout::fromAttribute(attribute);
  if (!panels)
    return 0; // row_major
  auto [it, inserted] = layoutNumbers.insert({attribute, program.layouts.size()});
  if (inserted) {
    LayoutDescription layout;
    layout.kind = "panel";
    layout.n_axes.assign(panels->nAxes.begin(), panels->nAxes.end());
    layout.k_axes.assign(panels->kAxes.begin(), panels->kAxes.end());
    layout.groups = panels->groups;
    layout.panel = panelWidth;
    program.layouts.push_back(layout);
  }
  return it->second;
}

/// The elements that a variable begins with: those of the options, of the module, or zeros.
FailureOr<ElementBytes> Compilation::getInitialValue(VariableOp variable, size_t byteCount) {
  std::optional<ElementBytes> bytes;
  auto given = options.initialValues.find(variable.getSymName().str());
  if (given != options.initialValues.end()) {
    bytes = ElementBytes{given->second, nullptr};
  } else if (std::optional<ElementsAttr> value = variable.getValue()) {
    bytes = getElementBytes(*value);
  } else {
    auto zeros = std::make_shared<std::vector<char>>(byteCount);
    bytes = ElementBytes{*zeros, zeros};
  }
  if (!bytes || bytes->bytes.size() != byteCount)
    return variable.emitError() << "the initial value of " << variable.getSymName() << " is not dense or has another "
                                << "size than its type";
  return *bytes;
}

LogicalResult Compilation::emitVariables() {
  for (VariableOp variable : module.getOps<VariableOp>()) {
    VariableDescription description;
    auto type = cast<RankedTensorType>(variable.getType());
    description.name = variable.getSymName().str();
    if (ArrayAttr aliases = variable.getAliasesAttr())
      for (Attribute alias : aliases)
        description.aliases.push_back(cast<StringAttr>(alias).getValue().str());
    description.dtype = describeDataType(type.getElementType());
    description.shape.assign(type.getShape().begin(), type.getShape().end());
    description.role = variable.getRole().str();
    description.trainable = variable.getTrainable();
    description.layout = getLayout(variable.getLayoutAttr());
    size_t byteCount = *getByteCount(type).getConstant();
    FailureOr<ElementBytes> value = getInitialValue(variable, byteCount);
    if (failed(value))
      return failure();
    std::optional<PanelLayout> layout =
        description.layout == 0 ? std::nullopt : PanelLayout::fromAttribute(variable.getLayoutAttr());
    description.generated_value = generateBytes(*value, type.getShape(), description.dtype.bits / 8, layout);
    numbers.variables[variable.getSymName()] = program.variables.size();
    program.variables.push_back(std::move(description));
  }
  return success();
}

LogicalResult Compilation::emitConstants() {
  for (auto constant : module.getOps<plan::ConstantOp>()) {
    std::optional<ElementBytes> bytes = getElementBytes(constant.getValue());
    if (!bytes)
      return constant.emitError() << "the constant " << constant.getSymName() << " is not dense";
    numbers.constants[constant.getSymName()] = program.constants.size();
    program.constants.push_back({{}, generateBytes(*bytes, {}, 1, std::nullopt)});
  }
  return success();
}

/// A session allocates scratch for the sizes that memory is planned for, and no kernel can tell how much it got. So the dims
/// without a max on which an entry's scratch depends get one: the size at which they were planned.
void Compilation::boundScratch(plan::EntryOp planned, EntryDescription &entry) {
  std::set<std::string> dims;
  planned.walk([&](plan::CallOp call) {
    kernels.getKernels()[kernels.getNumber(call.getKernel())].scratchBytes.collectDims(dims);
  });
  // What a loop counts or an instruction reads follows from the inputs' sizes in ways that are not looked into.
  bool all = llvm::any_of(entry.dims, [&](const DimDescription &dim) {
    return dim.source != DimSource::kInput && dims.count(dim.name);
  });
  for (DimDescription &dim : entry.dims)
    if (dim.source == DimSource::kInput && dim.max == ::ferrule::DimRange::unbounded && (all || dims.count(dim.name)))
      dim.max = constraints.getRange(dim.name).max;
}

LogicalResult Compilation::emitEntries() {
  PhaseTimer timer(options.phaseSeconds, "kernels");
  if (failed(kernels.emitKernels(module, options.tileChoices, options.tunableKernels)))
    return failure();
  for (auto [index, kernel] : llvm::enumerate(kernels.getKernels()))
    numbers.kernels[kernel.name] = index;
  for (auto arena : module.getOps<plan::ArenaOp>()) {
    numbers.arenas[arena.getSymName()] = program.arenas.size();
    program.arenas.push_back({arena.getDevice(), arena.getByteSize(), arena.getAlignment()});
  }
  for (auto planned : module.getOps<plan::EntryOp>()) {
    FailureOr<EntryDescription> entry = emitEntry(planned, numbers, locations);
    if (failed(entry))
      return failure();
    boundScratch(planned, *entry);
    program.entries.push_back(std::move(*entry));
  }
  return success();
}

LogicalResult Compilation::emitCode(std::string &error) {
  PhaseTimer timer(options.phaseSeconds, "code");
  FailureOr<std::vector<CodeImage>> images = kernels.compile(targets, options.threads, error);
  if (failed(images))
    return failure();
  if (options.phaseSeconds)
    for (const CodeImage &image : *images)
      for (auto [step, seconds] : image.seconds)
        (*options.phaseSeconds)[("code." + step).str()] += seconds;
  for (auto [target, image] : llvm::zip(targets, *images))
    program.targets.push_back({target->name.str(), {}, std::move(image.bytes)});
  size_t compiled = 0;
  for (const KernelSpec &spec : kernels.getKernels()) {
    KernelDescription kernel;
    kernel.name = spec.name;
    kernel.operand_count = spec.operandCount;
    kernel.output_count = spec.outputCount;
    kernel.dim_count = spec.dims.size();
    kernel.symbol = spec.symbol;
    if (kernel.symbol.empty()) {
      for (const CodeImage &image : *images)
        kernel.offsets.push_back(image.offsets[compiled]);
      ++compiled;
    }
    ::ferrule::DimInterval bounds = constraints.getBounds(spec.scratchBytes);
    if (!bounds.upper) {
      error = "the kernel " + spec.name + " needs " + spec.scratchBytes.str() +
              " bytes of scratch, which has no upper bound; give every Dim in it a max, or plan_at a size";
      return failure();
    }
    kernel.scratch_bytes = uint64_t(*bounds.upper);
    program.scratch_bytes = std::max(program.scratch_bytes, kernel.scratch_bytes);
    program.kernels.push_back(std::move(kernel));
  }
  return success();
}

FailureOr<ProgramDescription> Compilation::run(std::string &error) {
  if (failed(resolveTargets(error)))
    return failure();
  program.producer = producer.str();
  std::string diagnostics;
  // A sentence at a line, not the text of the op.
  module.getContext()->printOpOnDiagnostic(false);
  ScopedDiagnosticHandler handler(module.getContext(), [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() != DiagnosticSeverity::Error || !diagnostics.empty())
      return success();
    llvm::raw_string_ostream stream(diagnostics);
    if (auto file = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>())
      stream << file.getFilename().getValue() << ":" << file.getLine() << ": ";
    stream << diagnostic;
    for (Diagnostic &note : diagnostic.getNotes())
      stream << "\n  " << note;
    return success();
  });
  for (const auto &[name, size] : options.planAt)
    if (failed(setPlanAt(module, name, size, error)))
      return failure();
  // Only sizes of memory are asked for here.
  FailureOr<::ferrule::DimConstraints> declared = getPlanningConstraints(module);
  if (succeeded(declared))
    constraints = std::move(*declared);
  if (failed(declared) || failed(runPasses()) || failed(emitVariables()) || failed(emitConstants()) ||
      failed(emitEntries())) {
    error = diagnostics.empty() ? "compiling failed without a message" : diagnostics;
    return failure();
  }
  if (failed(emitCode(error)))
    return failure();
  return std::move(program);
}

} // namespace

FailureOr<ProgramDescription> mlir::ferrule::compileModule(ModuleOp module, const CompileOptions &options,
                                                           std::string &error) {
  // Kernels are built in it; the caller's context may hold the graph dialect alone.
  module->getContext()->getOrLoadDialect<LLVM::LLVMDialect>();
  return Compilation(module, options).run(error);
}

std::string mlir::ferrule::getCompilerName() { return (producer + ", " + getHostTargetName()).str(); }
