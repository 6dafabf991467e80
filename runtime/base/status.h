// The result of everything in the runtime that can fail: a code to branch on and a sentence for people.
//
// The sentence names the thing, its value and what is allowed. It lives inside the Status (no allocation, so reporting
// "out of memory" cannot fail) and is cut with "..." when longer than kStatusMessageBytes. Nothing in the runtime
// throws, aborts or prints.
#ifndef FERRULE_RUNTIME_BASE_STATUS_H_
#define FERRULE_RUNTIME_BASE_STATUS_H_

#include <stddef.h>
#include <stdint.h>

namespace ferrule::runtime {

// Values are part of the C API: append only.
enum class StatusCode : int32_t {
  kOk = 0,
  kInvalidArgument = 1,     // the caller passed a wrong name, rank, dim, dtype, count or size
  kNotFound = 2,            // a file, entry, variable or target of that name does not exist
  kOutOfMemory = 3,         // the allocator or the system returned nothing
  kIoError = 4,             // reading or writing a file failed; the sentence holds the system's reason
  kInvalidArtifact = 5,     // the artifact or checkpoint is truncated, edited or not one of ours
  kVersionMismatch = 6,     // the artifact is of another format version; both are named
  kUnsupported = 7,         // this machine or this build cannot run it
  kFailedPrecondition = 8,  // the object is in a state that forbids the call
  kCancelled = 9,           // the caller cancelled
  kKernelError = 10,        // a kernel refused a value, e.g. an index out of range
  kInternal = 11,           // a bug in Ferrule
};

inline constexpr size_t kStatusMessageBytes = 1000;

class [[nodiscard]] Status {
 public:
  Status() : code_(StatusCode::kOk) { message_[0] = '\0'; }
  // Both copy the sentence only, not the whole buffer. Out of line: every call that can fail holds a copy.
  Status(const Status& other);
  Status& operator=(const Status& other);

  // printf rules for `format`. `code` must not be kOk.
  static Status error(StatusCode code, const char* format, ...) __attribute__((format(printf, 2, 3)));

  bool ok() const { return code_ == StatusCode::kOk; }
  StatusCode code() const { return code_; }
  const char* message() const { return message_; }  // empty when ok; lives as long as the Status

  // Appends to the sentence of an error, cutting as error() does; nothing happens to an ok status.
  void append(const char* format, ...) __attribute__((format(printf, 2, 3)));

 private:
  StatusCode code_;
  char message_[kStatusMessageBytes];
};

}  // namespace ferrule::runtime

// Returns from the calling function, which returns Status, when `expression` is an error.
#define FERRULE_RETURN_IF_ERROR(expression)                                 \
  do {                                                                      \
    ::ferrule::runtime::Status ferrule_status_ = (expression);              \
    if (__builtin_expect(!ferrule_status_.ok(), 0)) return ferrule_status_; \
  } while (0)

#endif  // FERRULE_RUNTIME_BASE_STATUS_H_
