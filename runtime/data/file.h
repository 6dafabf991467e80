// Files read whole through a mapping, and files replaced in one step.
#ifndef FERRULE_RUNTIME_DATA_FILE_H_
#define FERRULE_RUNTIME_DATA_FILE_H_

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/status.h"

namespace ferrule::runtime {

// A file mapped read-only. An empty file has data() null.
class MappedFile {
 public:
  MappedFile() = default;
  ~MappedFile() { close(); }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  // kNotFound or kIoError, naming the path and the system's reason.
  Status open(const char* path);
  void close();

  const uint8_t* data() const { return data_; }
  uint64_t byte_size() const { return byte_size_; }

 private:
  const uint8_t* data_ = nullptr;
  uint64_t byte_size_ = 0;
};

// Writes `path` so that after a crash, a full disk or a kill at any byte it holds the old contents or the new ones.
//
// The bytes go to `path`.partial, which commit() syncs and renames; an abandoned one is overwritten by the next writer.
// Two writers of one path at the same time: the second is refused.
class AtomicFile {
 public:
  AtomicFile() = default;
  ~AtomicFile() { abandon(); }
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  Status create(const char* path);
  Status write(const void* bytes, size_t byte_size);
  // After an error the old file is still there, and the partial one is gone.
  Status commit();

 private:
  Status lock_partial();
  Status sync_directory() const;
  void abandon();
  Status error(const char* action) const;

  int descriptor_ = -1;
  char path_[PATH_MAX];
  char partial_[PATH_MAX];
};

}  // namespace ferrule::runtime

#endif  // FERRULE_RUNTIME_DATA_FILE_H_
