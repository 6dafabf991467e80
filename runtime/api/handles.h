// What the opaque types of ferrule.h are, and the rules for structs that begin with `struct_size`.
#ifndef FERRULE_RUNTIME_API_HANDLES_H_
#define FERRULE_RUNTIME_API_HANDLES_H_

#include <string.h>

#include <type_traits>

#include "runtime/api/ferrule.h"
#include "runtime/base/status.h"
#include "runtime/executor/run_memory.h"
#include "runtime/executor/session.h"
#include "runtime/program/program.h"

// Made by to_c; the sentence follows the struct.
struct FerruleStatus {
  FerruleStatusCode code;
  const char* message;
};

// What the `*Info` structs point to and the artifact does not store in that form.
struct ProgramDescriptions {
  // Inputs, then outputs, entry after entry; `first_tensor[e]`: where entry e begins.
  ferrule::runtime::Array<uint32_t> first_tensor;
  ferrule::runtime::Array<int64_t> tensor_shapes;    // kMaximumRank a tensor
  ferrule::runtime::Array<char> tensor_texts;        // kShapeTextBytes a tensor
  ferrule::runtime::Array<int64_t> variable_shapes;  // kMaximumRank a variable
  ferrule::runtime::Array<uint32_t> first_alias;     // one a variable, into aliases
  ferrule::runtime::Array<const char*> aliases;
};

struct FerruleProgram {
  ferrule::runtime::Program* program = nullptr;
  // Made by the first call that needs them, on any thread, so that a product without any does not link what makes them.
  mutable ProgramDescriptions* descriptions = nullptr;
};

struct FerruleArena {
  ferrule::runtime::RunMemory* memory;
};

struct FerruleAsyncRunner;  // async.cpp
namespace ferrule::runtime {
class Growth;  // runtime/executor/growth.h
class Paging;  // runtime/swap/paging.h
}

struct FerruleSession {
  ferrule::runtime::Session* session = nullptr;
  FerruleLogger logger{};
  // Set by the first asynchronous run, so that a product without any does not link what they need.
  FerruleAsyncRunner* async = nullptr;
  bool (*async_is_busy)(const FerruleAsyncRunner* async) = nullptr;
  void (*release_async)(FerruleSession* session) = nullptr;
  // The same for a limit of the arena.
  ferrule::runtime::Paging* paging = nullptr;
  void (*release_paging)(FerruleSession* session) = nullptr;
  // And for growing.
  ferrule::runtime::Growth* growth = nullptr;
  void (*release_growth)(FerruleSession* session) = nullptr;
  // The tensors of the call in progress, as many as the largest entry has.
  ferrule::runtime::Array<ferrule::runtime::TensorRef> inputs;
  ferrule::runtime::Array<ferrule::runtime::TensorRef> outputs;
};

namespace ferrule::runtime {

inline constexpr size_t kShapeTextBytes = 128;

// Null when ok.
FerruleStatus* to_c(const Status& status);
// The same, after the logger, if any, was told of an error.
FerruleStatus* to_c(const Status& status, const FerruleLogger& logger);
// The program's descriptions, which belong to it.
Status describe(const FerruleProgram& program, const ProgramDescriptions** out);
// printf rules for `format`. Does nothing without a logger.
void log_info(const FerruleLogger& logger, const char* format, ...) __attribute__((format(printf, 2, 3)));

// A run, or with `run` false what ferrule_session_output_shapes does, for the session's only user.
Status call_entry(FerruleSession& session, uint32_t entry, const FerruleTensor* inputs, uint32_t input_count,
                  FerruleTensor* outputs, uint32_t output_count, bool run);
// The entry's number, and the struct_size of the tensors' first elements.
Status check_call(const FerruleSession& session, const char* entry, const FerruleTensor* inputs, uint32_t input_count,
                  const FerruleTensor* outputs, uint32_t output_count, uint32_t* out_entry);

inline Status invalid_argument(const char* sentence) {
  return Status::error(StatusCode::kInvalidArgument, "%s", sentence);
}

// The C library's for null; else one that calls the caller's, which must live as long. kInvalidArgument if it lacks a
// function.
Status read_allocator(const FerruleAllocator* allocator, Allocator* out_allocator);

// The caller's struct, as much of it as the caller knows; the rest is zero. Null gives all zeros.
template <typename T>
T read_struct(const T* from) {
  T result{};
  if (from != nullptr) memcpy(&result, from, from->struct_size < sizeof(T) ? from->struct_size : sizeof(T));
  return result;
}

// As much of `from` as the caller has room for; the caller's struct_size stays.
template <typename T>
void write_struct(const T& from, T* out) {
  constexpr size_t kBegin = sizeof(out->struct_size);
  const size_t end = out->struct_size < sizeof(T) ? out->struct_size : sizeof(T);
  if (end > kBegin)
    memcpy(reinterpret_cast<char*>(out) + kBegin, reinterpret_cast<const char*>(&from) + kBegin, end - kBegin);
}

// Of an array of the caller. The stride is the first element's struct_size: the caller may know a longer or a shorter struct.
template <typename T>
T* element(T* first, uint32_t index) {
  using Byte = std::conditional_t<std::is_const_v<T>, const char, char>;
  return reinterpret_cast<T*>(reinterpret_cast<Byte*>(first) + first->struct_size * index);
}

}  // namespace ferrule::runtime

#endif  // FERRULE_RUNTIME_API_HANDLES_H_
