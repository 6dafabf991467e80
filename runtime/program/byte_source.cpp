#include "runtime/program/byte_source.h"

#include <string.h>

namespace ferrule::runtime {

void ByteSource::use_memory(const void* bytes, size_t byte_size) {
  static const uint8_t kNothing = 0;
  memory_ = bytes == nullptr ? &kNothing : static_cast<const uint8_t*>(bytes);
  byte_size_ = bytes == nullptr ? 0 : byte_size;
}

Status ByteSource::read(uint64_t offset, void* out, uint64_t byte_size) const {
  if (!is_memory()) return read_file(offset, out, byte_size);
  if (byte_size != 0) memcpy(out, memory_ + offset, byte_size);
  return Status();
}

}  // namespace ferrule::runtime
