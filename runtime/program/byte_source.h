// Where an artifact's bytes come from: a file or the caller's memory. Reads copy; only the weights are mapped.
#ifndef FERRULE_RUNTIME_PROGRAM_BYTE_SOURCE_H_
#define FERRULE_RUNTIME_PROGRAM_BYTE_SOURCE_H_

#include <stddef.h>
#include <stdint.h>

#include "runtime/base/status.h"

namespace ferrule::runtime {

// Pages of a file, mapped from the border below what was asked for, which begins at `bytes`.
class FilePages {
 public:
  FilePages() = default;
  FilePages(const FilePages&) = delete;
  FilePages& operator=(const FilePages&) = delete;
  ~FilePages();

  const uint8_t* bytes() const { return bytes_; }

 private:
  friend class ByteSource;
  const uint8_t* bytes_ = nullptr;
  void* first_page_ = nullptr;
  size_t mapped_bytes_ = 0;
};

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

  // Of a file only: private read-only pages that hold [offset, offset + byte_size), which is not empty.
  Status map(uint64_t offset, uint64_t byte_size, FilePages* out_pages) const;

 private:
  Status read_file(uint64_t offset, void* out, uint64_t byte_size) const;

  int file_ = -1;
  const uint8_t* memory_ = nullptr;
  uint64_t byte_size_ = 0;
  const char* name_ = "the artifact in memory";
};

}  // namespace ferrule::runtime

#endif  // FERRULE_RUNTIME_PROGRAM_BYTE_SOURCE_H_
