// Where an artifact's bytes come from: a file or the caller's memory. Reads copy; only the weights are mapped.
#ifndef FERRULE_RUNTIME_PROGRAM_BYTE_SOURCE_H_
#define FERRULE_RUNTIME_PROGRAM_BYTE_SOURCE_H_

#include <stddef.h>
#include <stdint.h>

#include "runtime/base/status.h"

namespace ferrule::runtime {

class ByteSource {
 public:
  ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  ~ByteSource();  // closes the file; mappings stay

  Status open_file(const char* path);
  void use_memory(const void* bytes, size_t byte_size);

  uint64_t byte_size() const { return byte_size_; }
  bool is_memory() const { return memory_ != nullptr; }
  const uint8_t* bytes() const { return memory_; }  // of a source in memory
  // For errors: the path, or "the artifact in memory".
  const char* name() const { return name_; }

  // Copies [offset, offset + byte_size), which must fit byte_size(). kIoError when the file shrank or reading failed.
  Status read(uint64_t offset, void* out, uint64_t byte_size) const;

  // For a source in memory: the bytes themselves. For a file: a private read-only mapping, to be ended by `unmap`.
  Status map(uint64_t offset, uint64_t byte_size, const uint8_t** out_bytes) const;
  static void unmap(const uint8_t* bytes, uint64_t byte_size);

 private:
  int file_ = -1;
  const uint8_t* memory_ = nullptr;
  uint64_t byte_size_ = 0;
  const char* name_ = "the artifact in memory";
};

}  // namespace ferrule::runtime

#endif  // FERRULE_RUNTIME_PROGRAM_BYTE_SOURCE_H_
