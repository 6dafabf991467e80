// There is one thread; a product with more brings a pool of its own. A session that asks for more is refused.
#include "runtime/device/cpu/thread_pool.h"

namespace ferrule::runtime {

uint32_t available_cpu_count() { return 1; }
ThreadPool* ThreadPool::acquire(uint32_t) { return nullptr; }
void ThreadPool::release(ThreadPool*) {}
bool ThreadPool::begin_run() { return false; }
void ThreadPool::end_run() {}
void ThreadPool::parallel_for(uint32_t, ParallelBody, void*) {}

}  // namespace ferrule::runtime
