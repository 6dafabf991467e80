#include "runtime/tools/progress.h"

#include <unistd.h>

#include <cstdio>
#include <utility>

namespace ferrule::tools {

Progress::Progress(std::string title, uint64_t total)
    : title_(std::move(title)), total_(total), terminal_(isatty(STDERR_FILENO) != 0) {}

void Progress::update(uint64_t done, const std::string& details) {
  constexpr auto kInterval = std::chrono::milliseconds(100);
  constexpr uint64_t kWidth = 30;
  const Clock::time_point now = Clock::now();
  if (!terminal_ || now < next_) return;
  next_ = now + kInterval;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const uint64_t filled = total_ == 0 ? kWidth : done * kWidth / total_;
  std::string bar(filled, '#');
  bar.resize(kWidth, '.');
  std::fprintf(stderr, "\r\033[K%s [%s] %llu/%llu  %s  %.0f/s", title_.c_str(), bar.c_str(),
               static_cast<unsigned long long>(done), static_cast<unsigned long long>(total_), details.c_str(),
               seconds > 0 ? static_cast<double>(done) / seconds : 0.0);
  std::fflush(stderr);
  drawn_ = true;
}

void Progress::clear() {
  if (!drawn_) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  drawn_ = false;
}

}  // namespace ferrule::tools
