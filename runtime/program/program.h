// An opened artifact: verified once, then trusted, immutable, and shared by any number of sessions.
//
// open() copies metadata and code to private memory, checks everything that a file can get wrong, and leaves the
// weights mapped. After it succeeds, callers index the metadata without checks; what is guaranteed is listed in
// runtime/program/verify.h. What depends on a call's dims is checked per call: runtime/program/call.h.
#ifndef FERRULE_RUNTIME_PROGRAM_PROGRAM_H_
#define FERRULE_RUNTIME_PROGRAM_PROGRAM_H_

#include <stddef.h>
#include <stdint.h>

#include "kernels/base/kernel_args.h"
#include "runtime/base/allocator.h"
#include "runtime/base/status.h"
#include "runtime/program/entry_map.h"
#include "serialize/schema/program_schema.h"

namespace ferrule::runtime {

// A kernel that the caller brings: what the artifact calls `name` runs `function`, with its context in front.
struct ExternalKernel {
  const char* name = nullptr;
  void* context = nullptr;
  int32_t (*function)(void* context, const FerruleKernelArgs* args) = nullptr;
};

// Weights of an artifact that are to be decrypted in place.
struct EncryptedWeights {
  const char* key_name;
  uint8_t* data;
  uint64_t byte_size;
  const uint8_t* tag;
  const uint8_t* nonce;
  const uint8_t* associated;
  uint64_t associated_byte_size;
};

struct OpenOptions {
  // Where private copies live; null: the C library's. Must outlive the program. (Code and mapped weights come from
  // mmap.)
  const Allocator* allocator = nullptr;
  // Also hash the weights (reads all of them). Everything else is always verified.
  bool verify_weights = false;
  // 32 bytes: the root hash that the artifact must have, as `ferrule info` prints it; null: any. Checked before
  // anything becomes executable. It vouches for the weights only together with verify_weights.
  const uint8_t* expected_sha256 = nullptr;
  // Asked, if given, after expected_sha256: false refuses the artifact, e.g. because it has no valid signature. The
  // same holds for the weights.
  bool (*accept)(void* context, const uint8_t* root_sha256) = nullptr;
  void* accept_context = nullptr;
  // Opens encrypted weights, if given, which then lie in memory of the allocator. kOk, kNotFound without a key of that name,
  // or anything else if the tag is wrong. Not given: such an artifact opens without weights (weights_are_sealed), for what
  // looks at it or writes it again.
  StatusCode (*decrypt)(void* context, const EncryptedWeights& weights) = nullptr;
  void* decrypt_context = nullptr;
  // Contexts must outlive the program; names only the call. Those that it does not call are ignored.
  const ExternalKernel* kernels = nullptr;
  uint32_t kernel_count = 0;
};

// The size of one part of an artifact, for `info`.
struct SegmentInfo {
  uint32_t kind;     // serialize::SegmentKind
  const char* name;  // the target of a code segment, else ""
  uint64_t byte_size;
  uint64_t offset;  // in the file; 0: absent
};

class Program {
 public:
  // Opens a file. On success *out_program holds one reference, which the caller releases. Errors: kNotFound (also for
  // external kernels: the sentence lists all that are missing), kIoError, kInvalidArtifact, kVersionMismatch,
  // kOutOfMemory; each sentence names the path.
  static Status open(const char* path, const OpenOptions& options, Program** out_program);

  // Opens an artifact in memory at any address; `bytes` must outlive the program unless `copy`. Weights that are not
  // 64-byte aligned there are copied.
  static Status open_memory(const void* bytes, size_t byte_size, bool copy, const OpenOptions& options,
                            Program** out_program);

  // Reference counting, safe from any thread. The last release() unmaps and frees everything.
  void retain();
  void release();

  const schema::Program* metadata() const;
  // What the blocks of entry number `entry` mean.
  const EntryMap& entry_map(uint32_t entry) const;
  const Allocator& allocator() const;

  // The weights segment, 64-byte aligned, read only; null when the program has none. Variables' initial_offset and
  // constants' offset point into it.
  const uint8_t* weights() const;
  uint64_t weights_byte_size() const;
  // There are weights and they were not decrypted: no session can be made.
  bool weights_are_sealed() const;
  const uint8_t* initial_value(uint32_t variable) const;
  const uint8_t* constant(uint32_t constant) const;

  const uint8_t* root_sha256() const;     // 32 bytes
  const uint8_t* weights_sha256() const;  // 32 bytes; zeros when the program has none
  uint32_t segment_count() const;
  SegmentInfo segment(uint32_t index) const;
  uint64_t file_byte_size() const;

  // By name; kNotFound lists the names that exist. find_variable also takes aliases.
  Status find_entry(const char* name, uint32_t* out_entry) const;
  Status find_variable(const char* name, uint32_t* out_variable) const;

  // Chooses a code image, makes it executable (once for all sessions; thread-safe) and returns its target index.
  // name null or "": the last target of the artifact that this machine supports. kNotFound / kUnsupported list the
  // targets that are there and those that this machine runs.
  Status select_target(const char* name, uint32_t* out_target);

  // The function of kernel `kernel` in a target that select_target() returned.
  FerruleKernelFunction kernel(uint32_t target, uint32_t kernel) const;
  // The caller's kernel if `kernel` is one, else null.
  const ExternalKernel* external_kernel(uint32_t kernel) const;

  // The user's line of an instruction ("model.py:12"); "" when location is 0 or the debug segment was stripped.
  const char* location(uint32_t location) const;

 private:
  friend class ProgramLoader;
  Program() = default;
  ~Program() = default;

  struct State;
  State* state_ = nullptr;
};

}  // namespace ferrule::runtime

#endif  // FERRULE_RUNTIME_PROGRAM_PROGRAM_H_
