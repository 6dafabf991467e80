// Sources that are files.
#include "runtime/program/byte_source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ferrule::runtime {

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

Status ByteSource::read_file(uint64_t offset, void* out, uint64_t byte_size) const {
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

FilePages::~FilePages() {
  if (first_page_ != nullptr) munmap(first_page_, mapped_bytes_);
}

Status ByteSource::map(uint64_t offset, uint64_t byte_size, FilePages* out_pages) const {
  const uint64_t before = offset % static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const size_t mapped_bytes = byte_size + before;
  void* mapping = mmap(nullptr, mapped_bytes, PROT_READ, MAP_PRIVATE, file_, static_cast<off_t>(offset - before));
  if (mapping == MAP_FAILED) {
    return Status::error(errno == ENOMEM ? StatusCode::kOutOfMemory : StatusCode::kIoError,
                         "cannot map %llu bytes of %s: %s", static_cast<unsigned long long>(byte_size), name_,
                         strerror(errno));
  }
  out_pages->first_page_ = mapping;
  out_pages->mapped_bytes_ = mapped_bytes;
  out_pages->bytes_ = static_cast<const uint8_t*>(mapping) + before;
  return Status();
}

}  // namespace ferrule::runtime
