// How many threads the process of a test has.
#ifndef FERRULE_RUNTIME_TESTING_PROCESS_THREADS_H_
#define FERRULE_RUNTIME_TESTING_PROCESS_THREADS_H_

#include <unistd.h>

#include <fstream>
#include <string>

namespace ferrule::runtime::testing {

// By the system's count; -1 if it gives none. An emulator's own threads count.
inline int process_thread_count() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("Threads:", 0) == 0) return std::stoi(line.substr(8));
  return -1;
}

// Whether there are `count` threads within two seconds: the system counts one that was joined a moment longer.
inline bool has_threads(int count) {
  for (int wait_ms = 0; wait_ms < 2000; ++wait_ms) {
    if (process_thread_count() == count) return true;
    usleep(1000);
  }
  return false;
}

}  // namespace ferrule::runtime::testing

#endif  // FERRULE_RUNTIME_TESTING_PROCESS_THREADS_H_
