#include "runtime/base/fork.h"

#include <pthread.h>

namespace ferrule::runtime {
namespace {

pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;
bool g_is_watching = false;
uint32_t g_fork_count = 0;

// In the child, which has one thread.
void count_fork() { __atomic_fetch_add(&g_fork_count, 1, __ATOMIC_RELAXED); }

}  // namespace

Status watch_forks() {
  pthread_mutex_lock(&g_mutex);
  if (!g_is_watching) g_is_watching = pthread_atfork(nullptr, nullptr, count_fork) == 0;
  const bool is_watching = g_is_watching;
  pthread_mutex_unlock(&g_mutex);
  if (is_watching) return Status();
  return Status::error(StatusCode::kOutOfMemory, "out of memory: the system has no room for a handler of forks");
}

uint32_t fork_count() { return __atomic_load_n(&g_fork_count, __ATOMIC_RELAXED); }

}  // namespace ferrule::runtime
