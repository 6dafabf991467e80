// Native code of one target in memory: written first, then made executable, never both at once.
#ifndef FERRULE_RUNTIME_PROGRAM_CODE_IMAGE_H_
#define FERRULE_RUNTIME_PROGRAM_CODE_IMAGE_H_

#include <stddef.h>
#include <stdint.h>

#include "runtime/base/status.h"

namespace ferrule::runtime {

class CodeImage {
 public:
  CodeImage() = default;
  CodeImage(const CodeImage&) = delete;
  CodeImage& operator=(const CodeImage&) = delete;
  ~CodeImage() { unmap(); }

  // Private zeroed pages that start on a page, readable and writable.
  Status map(uint64_t byte_size);
  // Takes the write permission away and gives the execute permission; idempotent.
  Status make_executable();
  void unmap();

  uint8_t* data() { return base_; }
  const uint8_t* data() const { return base_; }
  bool is_mapped() const { return base_ != nullptr; }
  bool is_executable() const { return executable_; }

 private:
  uint8_t* base_ = nullptr;
  size_t mapped_bytes_ = 0;
  bool executable_ = false;
};

}  // namespace ferrule::runtime

#endif  // FERRULE_RUNTIME_PROGRAM_CODE_IMAGE_H_
