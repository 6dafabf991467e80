// A progress bar on stderr, drawn over itself a few times a second if stderr is a terminal; nothing otherwise.
#ifndef FERRULE_RUNTIME_TOOLS_PROGRESS_H_
#define FERRULE_RUNTIME_TOOLS_PROGRESS_H_

#include <chrono>
#include <cstdint>
#include <string>

namespace ferrule::tools {

class Progress {
 public:
  Progress(std::string title, uint64_t total);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(uint64_t done, const std::string& details);
  // Removes the bar, so that other lines can be printed.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  std::string title_;
  uint64_t total_;
  bool terminal_;
  bool drawn_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point next_ = start_;
};

}  // namespace ferrule::tools

#endif  // FERRULE_RUNTIME_TOOLS_PROGRESS_H_
