// Code is copied to memory of the C library, which can be executed where nothing protects pages. A product that forbids
// that registers its kernels instead.
#include "runtime/program/code_image.h"

#include <stdlib.h>

namespace ferrule::runtime {

Status CodeImage::map(uint64_t byte_size) {
  unmap();
  if (byte_size == 0) byte_size = 1;  // as in program/code_image.cpp
  void* memory = nullptr;
  if (byte_size > SIZE_MAX || posix_memalign(&memory, 64, static_cast<size_t>(byte_size)) != 0)
    return Status::error(StatusCode::kOutOfMemory, "out of memory: a code image needs %llu bytes",
                         static_cast<unsigned long long>(byte_size));
  base_ = static_cast<uint8_t*>(memory);
  mapped_bytes_ = static_cast<size_t>(byte_size);
  return Status();
}

Status CodeImage::make_executable() {
  if (base_ != nullptr)
    __builtin___clear_cache(reinterpret_cast<char*>(base_), reinterpret_cast<char*>(base_ + mapped_bytes_));
  executable_ = true;
  return Status();
}

void CodeImage::unmap() {
  free(base_);
  base_ = nullptr;
  mapped_bytes_ = 0;
  executable_ = false;
}

}  // namespace ferrule::runtime
