//===- CompiledProgram.h - A program in memory, bound to a session --------===//
//
// The seam between the front end and the runtime's C API: dynamic mode runs its
// flushes, and traced functions their calls, through the same runtime that
// executes artifacts on a device.
//
//===----------------------------------------------------------------------===//
#ifndef FERRULE_FRONTEND_CORE_COMPILEDPROGRAM_H
#define FERRULE_FRONTEND_CORE_COMPILEDPROGRAM_H

#include "frontend/core/SharedArena.h"
#include "frontend/core/Tensor.h"

#include "llvm/Support/Error.h"

#include <sys/types.h>

struct FerruleKernelArgs;
struct FerruleProgram;
struct FerruleSession;

namespace ferrule::frontend {

/// Elements with a static shape; what goes into and comes out of a run.
struct HostArray {
  DataType type = DataType::Float32;
  llvm::SmallVector<int64_t, 4> shape;
  std::shared_ptr<HostBuffer> buffer;
};

/// A function that stands in for the kernels of an external op; FerruleExternalKernel in runtime/api/ferrule.h says how it
/// is called. `context` lives as long as the process.
struct ExternalKernel {
  std::string symbol;
  void *context = nullptr;
  int32_t (*function)(void *context, const FerruleKernelArgs *args) = nullptr;
};

class CompiledProgram {
public:
  /// Opens `artifact` (the bytes are copied) and creates a session in `arena` with
  /// `threadCount` workers; 0 takes all CPUs.
  static llvm::Expected<std::unique_ptr<CompiledProgram>> open(llvm::ArrayRef<uint8_t> artifact, unsigned threadCount,
                                                               std::shared_ptr<SharedArena> arena,
                                                               llvm::ArrayRef<ExternalKernel> kernels = {});

  ~CompiledProgram();
  CompiledProgram(const CompiledProgram &) = delete;
  CompiledProgram &operator=(const CompiledProgram &) = delete;

  /// Runs `entry`. The results are fresh buffers, `outputCount` of them. In a
  /// forked child the program gets a session of the child's own first: nobody
  /// could ask for one in dynamic mode. No other program of the arena is running.
  llvm::Expected<std::vector<HostArray>> run(const char *entry, llvm::ArrayRef<HostArray> inputs, unsigned outputCount);

  /// Gives back what running takes. The next run creates a session again.
  void closeSession();

private:
  CompiledProgram(FerruleProgram *program, unsigned threadCount, std::shared_ptr<SharedArena> arena);
  llvm::Error ensureSession();

  FerruleProgram *program;
  unsigned threadCount;
  std::shared_ptr<SharedArena> arena;
  FerruleSession *session = nullptr;
  /// The process that has the session's threads.
  pid_t process = 0;
};

} // namespace ferrule::frontend

#endif // FERRULE_FRONTEND_CORE_COMPILEDPROGRAM_H
