//===- SharedArena.h - Memory for the programs of dynamic mode -----===//
//
// Fragments run in turn, and nothing of a run stays in the arena: their results
// are buffers of their own. So one arena serves all of them, as large as the
// largest needs.
//
//===----------------------------------------------------------------------===//
#ifndef FERRULE_FRONTEND_CORE_SHAREDARENA_H
#define FERRULE_FRONTEND_CORE_SHAREDARENA_H

#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <sys/types.h>
#include <thread>

struct FerruleArena;

namespace ferrule::frontend {

class CompiledProgram;

/// One thread at a time. The programs that run in it keep it alive.
class SharedArena {
public:
  SharedArena() = default;
  ~SharedArena();
  SharedArena(const SharedArena &) = delete;
  SharedArena &operator=(const SharedArena &) = delete;

  /// The runtime's arena, empty if there was none. Sessions that are created
  /// with it make it larger.
  llvm::Expected<FerruleArena *> get();

  /// What it takes now, besides the scratch of all threads.
  uint64_t getByteSize() const;

  /// Gives the memory back: closes the sessions of all programs, which open new
  /// ones when they run. None of them is running.
  void clear();

  /// Whether a program of this process runs in it; whether this thread runs it, so
  /// that a kernel in its host language is on the stack.
  bool isInUse() const;
  bool isInUseHere() const;

  /// For as long as a program runs.
  class Use {
  public:
    explicit Use(SharedArena &arena);
    ~Use();
    Use(const Use &) = delete;
    Use &operator=(const Use &) = delete;

  private:
    SharedArena &arena;
  };

  void add(CompiledProgram *program) { programs.insert(program); }
  void remove(CompiledProgram *program) { programs.erase(program); }

private:
  FerruleArena *arena = nullptr;
  llvm::DenseSet<CompiledProgram *> programs;
  std::thread::id user; ///< None: nobody runs.
  pid_t userProcess = 0;
};

} // namespace ferrule::frontend

#endif // FERRULE_FRONTEND_CORE_SHAREDARENA_H
