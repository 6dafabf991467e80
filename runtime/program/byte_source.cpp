#include "runtime/program/byte_source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ferrule::runtime {
namespace {

uint64_t page_byte_size() { return static_cast<uint64_t>(sysconf(_SC_PAGESIZE)); }

}  // namespace

ByteSource::~ByteSource() {
  if (file_ >= 0) close(file_);
}

Status ByteSource::open_file(const char* path) {
  name_ = path;
  file_ = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a FIFO must not block before it is refused
  if (file_ < 0) {
    const int reason = errno;
    return Status::error(reason == ENOENT ? StatusCode::kNotFound : StatusCode::kIoError, "cannot open %s: %s", path,
                         strerror(reason));
  }
  struct stat info;
  if (fstat(file_, &info) != 0) {
    return Status::error(StatusCode::kIoError, "cannot read %s: %s", path, strerror(errno));
  }
  if (!S_ISREG(info.st_mode)) return Status::error(StatusCode::kInvalidArgument, "%s is not a regular file", path);
  byte_size_ = static_cast<uint64_t>(info.st_size);
  return Status();
}

void ByteSource::use_memory(const void* bytes, size_t byte_size) {
  static const uint8_t kNothing = 0;
  memory_ = bytes == nullptr ? &kNothing : static_cast<const uint8_t*>(bytes);
  byte_size_ = bytes == nullptr ? 0 : byte_size;
}

Status ByteSource::read(uint64_t offset, void* out, uint64_t byte_size) const {
  if (is_memory()) {
    if (byte_size != 0) memcpy(out, memory_ + offset, byte_size);
    return Status();
  }
  uint8_t* at = static_cast<uint8_t*>(out);
  while (byte_size != 0) {
    const ssize_t count = pread(file_, at, byte_size, static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      return Status::error(StatusCode::kIoError, "cannot read %s at byte %llu: %s", name_,
                           static_cast<unsigned long long>(offset),
                           count == 0 ? "the file became shorter" : strerror(errno));
    }
    at += count;
    offset += static_cast<uint64_t>(count);
    byte_size -= static_cast<uint64_t>(count);
  }
  return Status();
}

Status ByteSource::map(uint64_t offset, uint64_t byte_size, const uint8_t** out_bytes) const {
  if (is_memory()) {
    *out_bytes = memory_ + offset;
    return Status();
  }
  // Mappings begin on a page, whatever its size here.
  const uint64_t in_page = offset % page_byte_size();
  void* mapping = mmap(nullptr, in_page + byte_size, PROT_READ, MAP_PRIVATE, file_, static_cast<off_t>(offset - in_page));
  if (mapping == MAP_FAILED) {
    return Status::error(StatusCode::kIoError, "cannot map %llu bytes of %s: %s",
                         static_cast<unsigned long long>(byte_size), name_, strerror(errno));
  }
  *out_bytes = static_cast<const uint8_t*>(mapping) + in_page;
  return Status();
}

void ByteSource::unmap(const uint8_t* bytes, uint64_t byte_size) {
  const uint64_t in_page = reinterpret_cast<uintptr_t>(bytes) % page_byte_size();
  munmap(const_cast<uint8_t*>(bytes) - in_page, in_page + byte_size);
}

}  // namespace ferrule::runtime
