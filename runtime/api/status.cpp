#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/api/handles.h"

namespace ferrule::runtime {
namespace {

// When there is no memory for a status. Never freed.
FerruleStatus g_no_memory_for_status = {kFerruleOutOfMemory, "out of memory"};

static_assert(int{kFerruleInvalidArgument} == int(StatusCode::kInvalidArgument));
static_assert(int{kFerruleNotFound} == int(StatusCode::kNotFound));
static_assert(int{kFerruleOutOfMemory} == int(StatusCode::kOutOfMemory));
static_assert(int{kFerruleIoError} == int(StatusCode::kIoError));
static_assert(int{kFerruleInvalidArtifact} == int(StatusCode::kInvalidArtifact));
static_assert(int{kFerruleVersionMismatch} == int(StatusCode::kVersionMismatch));
static_assert(int{kFerruleUnsupported} == int(StatusCode::kUnsupported));
static_assert(int{kFerruleFailedPrecondition} == int(StatusCode::kFailedPrecondition));
static_assert(int{kFerruleCancelled} == int(StatusCode::kCancelled));
static_assert(int{kFerruleKernelError} == int(StatusCode::kKernelError));
static_assert(int{kFerruleInternal} == int(StatusCode::kInternal));

}  // namespace

FerruleStatus* to_c(const Status& status) {
  if (status.ok()) return nullptr;
  const size_t length = strlen(status.message()) + 1;
  auto* result = static_cast<FerruleStatus*>(malloc(sizeof(FerruleStatus) + length));
  if (result == nullptr) return &g_no_memory_for_status;
  char* message = reinterpret_cast<char*>(result + 1);
  memcpy(message, status.message(), length);
  result->code = static_cast<FerruleStatusCode>(status.code());
  result->message = message;
  return result;
}

FerruleStatus* to_c(const Status& status, const FerruleLogger& logger) {
  if (!status.ok() && logger.log != nullptr) logger.log(logger.context, kFerruleLogError, status.message());
  return to_c(status);
}

void log_info(const FerruleLogger& logger, const char* format, ...) {
  if (logger.log == nullptr) return;
  char sentence[kStatusMessageBytes];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(sentence, sizeof(sentence), format, arguments);
  va_end(arguments);
  logger.log(logger.context, kFerruleLogInfo, sentence);
}

}  // namespace ferrule::runtime

using ferrule::runtime::g_no_memory_for_status;

FerruleStatusCode ferrule_status_code(const FerruleStatus* status) {
  return status == nullptr ? kFerruleOk : status->code;
}

const char* ferrule_status_message(const FerruleStatus* status) { return status == nullptr ? "ok" : status->message; }

void ferrule_status_release(FerruleStatus* status) {
  if (status != &g_no_memory_for_status) free(status);
}
