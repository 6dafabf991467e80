#include "runtime/program/code_image.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

namespace ferrule::runtime {

Status CodeImage::map(uint64_t byte_size) {
  unmap();
  // A program of copies only has no code. It still maps a page, for "mapped" is how a target that is there is told from
  // one that was sliced away.
  if (byte_size == 0) byte_size = 1;
  void* pages = byte_size > SIZE_MAX ? MAP_FAILED
                                     : mmap(nullptr, static_cast<size_t>(byte_size), PROT_READ | PROT_WRITE,
                                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) {
    return Status::error(StatusCode::kOutOfMemory, "out of memory: a code image needs %llu bytes",
                         static_cast<unsigned long long>(byte_size));
  }
  base_ = static_cast<uint8_t*>(pages);
  mapped_bytes_ = static_cast<size_t>(byte_size);
  return Status();
}

Status CodeImage::make_executable() {
  if (executable_ || base_ == nullptr) return Status();
  __builtin___clear_cache(reinterpret_cast<char*>(base_), reinterpret_cast<char*>(base_ + mapped_bytes_));
  if (mprotect(base_, mapped_bytes_, PROT_READ | PROT_EXEC) != 0) {
    return Status::error(StatusCode::kUnsupported, "this system refuses to make loaded code executable: %s",
                         strerror(errno));
  }
  executable_ = true;
  return Status();
}

void CodeImage::unmap() {
  if (base_ != nullptr) munmap(base_, mapped_bytes_);
  base_ = nullptr;
  mapped_bytes_ = 0;
  executable_ = false;
}

}  // namespace ferrule::runtime
