#include "runtime/base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

namespace ferrule::runtime {
namespace {

// Formats at message[length ...], ending in "..." when it does not fit.
void format_at(char* message, size_t length, const char* format, va_list arguments) {
  const size_t room = kStatusMessageBytes - length;
  const int wanted = vsnprintf(message + length, room, format, arguments);
  if (wanted >= 0 && static_cast<size_t>(wanted) >= room) {
    memcpy(message + kStatusMessageBytes - 4, "...", 4);
  }
}

}  // namespace

Status::Status(const Status& other) { *this = other; }

Status& Status::operator=(const Status& other) {
  if (this == &other) return *this;
  code_ = other.code_;
  memcpy(message_, other.message_, strlen(other.message_) + 1);
  return *this;
}

Status Status::error(StatusCode code, const char* format, ...) {
  Status status;
  status.code_ = code;
  va_list arguments;
  va_start(arguments, format);
  format_at(status.message_, 0, format, arguments);
  va_end(arguments);
  return status;
}

void Status::append(const char* format, ...) {
  if (ok()) return;
  va_list arguments;
  va_start(arguments, format);
  format_at(message_, strlen(message_), format, arguments);
  va_end(arguments);
}

}  // namespace ferrule::runtime
