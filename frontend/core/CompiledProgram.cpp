//===- CompiledProgram.cpp - A program in memory, bound to a session ------===//

#include "frontend/core/CompiledProgram.h"

#include "frontend/core/Error.h"
#include "frontend/core/RuntimeError.h"

#include "runtime/api/ferrule.h"

#include <unistd.h>

namespace ferrule::frontend {
namespace {

FerruleDataType toRuntimeType(DataType type) {
  FerruleDataType result{0, static_cast<uint8_t>(8 * getByteSize(type)), 1};
  if (type == DataType::Bool)
    result.code = 6;
  else if (type == DataType::BFloat16)
    result.code = 4;
  else if (isFloat(type))
    result.code = 2;
  else if (isUnsignedInteger(type))
    result.code = 1;
  return result;
}

std::optional<DataType> fromRuntimeType(FerruleDataType type) {
  for (unsigned i = 0; i <= static_cast<unsigned>(DataType::Float64); ++i) {
    FerruleDataType candidate = toRuntimeType(static_cast<DataType>(i));
    if (candidate.code == type.code && candidate.bits == type.bits)
      return static_cast<DataType>(i);
  }
  return std::nullopt;
}

FerruleTensor emptyTensor() {
  FerruleTensor tensor{};
  tensor.struct_size = sizeof(FerruleTensor);
  return tensor;
}

/// Describes the outputs whose shapes the runtime has just told, and gives each
/// a buffer.
llvm::Expected<std::vector<HostArray>> allocateOutputs(llvm::MutableArrayRef<FerruleTensor> outputs) {
  std::vector<HostArray> arrays;
  arrays.reserve(outputs.size());
  for (FerruleTensor &output : outputs) {
    std::optional<DataType> type = fromRuntimeType(output.dtype);
    if (!type)
      return makeError(ErrorKind::Unsupported, "the program returns an element type that has no "
                                               "tensor type in Python");
    HostArray array;
    array.type = *type;
    array.shape.assign(output.shape, output.shape + output.rank);
    array.buffer = HostBuffer::allocate(output.byte_size);
    if (!array.buffer)
      return makeError(ErrorKind::Execution,
                       "out of memory for a result of " + llvm::Twine(output.byte_size) + " bytes");
    output.data = array.buffer->data();
    arrays.push_back(std::move(array));
  }
  return arrays;
}

} // namespace

llvm::Expected<std::unique_ptr<CompiledProgram>> CompiledProgram::open(llvm::ArrayRef<uint8_t> artifact,
                                                                       unsigned threadCount,
                                                                       std::shared_ptr<SharedArena> arena,
                                                                       llvm::ArrayRef<ExternalKernel> kernels) {
  llvm::SmallVector<FerruleExternalKernel, 4> table;
  for (const ExternalKernel &kernel : kernels)
    table.push_back({sizeof(FerruleExternalKernel), kernel.symbol.c_str(), kernel.context, kernel.function});
  FerruleProgramOptions options{};
  options.struct_size = sizeof(options);
  options.kernels = table.data();
  options.kernel_count = table.size();
  FerruleProgram *program = nullptr;
  if (llvm::Error error = toError(ferrule_program_open_bytes(artifact.data(), artifact.size(), &options, &program)))
    return error;
  std::unique_ptr<CompiledProgram> compiled(new CompiledProgram(program, threadCount, std::move(arena)));
  if (llvm::Error error = compiled->ensureSession())
    return error;
  return compiled;
}

CompiledProgram::CompiledProgram(FerruleProgram *program, unsigned threadCount, std::shared_ptr<SharedArena> arena)
    : program(program), threadCount(threadCount), arena(std::move(arena)) {
  this->arena->add(this);
}

CompiledProgram::~CompiledProgram() {
  arena->remove(this);
  closeSession();
  ferrule_program_release(program);
}

void CompiledProgram::closeSession() {
  ferrule_session_release(session);
  session = nullptr;
}

llvm::Error CompiledProgram::ensureSession() {
  if (session && process == getpid())
    return llvm::Error::success();
  closeSession();
  llvm::Expected<FerruleArena *> memory = arena->get();
  if (!memory)
    return memory.takeError();
  FerruleSessionOptions options{};
  options.struct_size = sizeof(options);
  options.thread_count = threadCount;
  options.arena = *memory;
  if (llvm::Error error = toError(ferrule_session_create(program, &options, &session)))
    return error;
  process = getpid();
  return llvm::Error::success();
}

llvm::Expected<std::vector<HostArray>> CompiledProgram::run(const char *entry, llvm::ArrayRef<HostArray> inputs,
                                                            unsigned outputCount) {
  if (llvm::Error error = ensureSession())
    return error;
  SharedArena::Use use(*arena);
  llvm::SmallVector<FerruleTensor, 8> arguments;
  for (const HostArray &input : inputs) {
    FerruleTensor tensor = emptyTensor();
    tensor.data = input.buffer->data();
    tensor.byte_size = input.buffer->size();
    tensor.dtype = toRuntimeType(input.type);
    tensor.rank = input.shape.size();
    tensor.shape = input.shape.data();
    arguments.push_back(tensor);
  }
  llvm::SmallVector<FerruleTensor, 8> results(outputCount, emptyTensor());
  if (llvm::Error error = toError(ferrule_session_output_shapes(session, entry, arguments.data(), arguments.size(),
                                                                results.data(), results.size())))
    return error;
  llvm::Expected<std::vector<HostArray>> arrays = allocateOutputs(results);
  if (!arrays)
    return arrays.takeError();
  if (llvm::Error error = toError(
          ferrule_session_run(session, entry, arguments.data(), arguments.size(), results.data(), results.size())))
    return error;
  // A size that the program found out while it ran may be less than the most that it could be, for which the buffer has
  // room.
  for (auto [array, result] : llvm::zip(*arrays, results)) {
    if (result.byte_size == array.buffer->size())
      continue;
    array.shape.assign(result.shape, result.shape + result.rank);
    array.buffer = HostBuffer::borrow(array.buffer->data(), result.byte_size, array.buffer);
  }
  return arrays;
}

} // namespace ferrule::frontend
