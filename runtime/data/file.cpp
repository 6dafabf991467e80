#include "runtime/data/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ferrule::runtime {

Status MappedFile::open(const char* path) {
  close();
  const int descriptor = ::open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return Status::error(errno == ENOENT ? StatusCode::kNotFound : StatusCode::kIoError, "cannot open '%s': %s", path,
                         strerror(errno));
  struct stat info;
  Status status;
  if (fstat(descriptor, &info) != 0) {
    status = Status::error(StatusCode::kIoError, "cannot read '%s': %s", path, strerror(errno));
  } else if (!S_ISREG(info.st_mode)) {
    status = Status::error(StatusCode::kIoError, "cannot read '%s': it is not a regular file", path);
  } else if (info.st_size > 0) {
    void* memory = mmap(nullptr, static_cast<size_t>(info.st_size), PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (memory == MAP_FAILED) {
      status = Status::error(errno == ENOMEM ? StatusCode::kOutOfMemory : StatusCode::kIoError, "cannot map '%s': %s",
                             path, strerror(errno));
    } else {
      data_ = static_cast<const uint8_t*>(memory);
      byte_size_ = static_cast<uint64_t>(info.st_size);
    }
  }
  ::close(descriptor);
  return status;
}

void MappedFile::close() {
  if (data_ != nullptr) munmap(const_cast<uint8_t*>(data_), static_cast<size_t>(byte_size_));
  data_ = nullptr;
  byte_size_ = 0;
}

Status AtomicFile::error(const char* action) const {
  return Status::error(StatusCode::kIoError, "cannot %s '%s': %s; an earlier '%s' is unchanged", action, partial_,
                       strerror(errno), path_);
}

Status AtomicFile::create(const char* path) {
  abandon();
  const int length = snprintf(partial_, sizeof(partial_), "%s.partial", path);
  if (length < 0 || static_cast<size_t>(length) >= sizeof(partial_))
    return Status::error(StatusCode::kIoError, "cannot write '%.100s...': the path is too long", path);
  snprintf(path_, sizeof(path_), "%s", path);
  const Status status = lock_partial();
  if (!status.ok() && descriptor_ >= 0) {
    // Another writer's file: close it, but leave it alone.
    ::close(descriptor_);
    descriptor_ = -1;
  }
  return status;
}

// Opens the partial file and locks it. The lock ends with its owner, so a killed writer leaves none behind. Between
// open and lock the owner may have renamed the file to its final name; then it must not be touched, and the next try
// makes a new one.
Status AtomicFile::lock_partial() {
  for (int attempt = 0; attempt < 16; ++attempt) {
    descriptor_ = ::open(partial_, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor_ < 0) return error("create");
    if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0)
      return Status::error(StatusCode::kIoError, "cannot write '%s': another process or thread is writing it", path_);
    struct stat opened, named;
    if (fstat(descriptor_, &opened) != 0) return error("create");
    if (stat(partial_, &named) == 0 && opened.st_ino == named.st_ino && opened.st_dev == named.st_dev)
      return ftruncate(descriptor_, 0) == 0 ? Status() : error("create");
    ::close(descriptor_);
    descriptor_ = -1;
  }
  return Status::error(StatusCode::kIoError, "cannot write '%s': other processes keep writing it", path_);
}

Status AtomicFile::write(const void* bytes, size_t byte_size) {
  const auto* next = static_cast<const uint8_t*>(bytes);
  while (byte_size > 0) {
    const ssize_t written = ::write(descriptor_, next, byte_size);
    if (written < 0) {
      if (errno == EINTR) continue;
      const Status status = error("write");
      abandon();
      return status;
    }
    next += written;
    byte_size -= static_cast<size_t>(written);
  }
  return Status();
}

Status AtomicFile::commit() {
  // Renamed before the descriptor, and with it the lock, is given up.
  if (fsync(descriptor_) != 0 || rename(partial_, path_) != 0) {
    const Status status = error("save");
    abandon();
    return status;
  }
  ::close(descriptor_);
  descriptor_ = -1;
  return sync_directory();
}

// Without this the rename itself may be lost in a power cut; the old file is then back, still whole.
Status AtomicFile::sync_directory() const {
  char directory[PATH_MAX];
  snprintf(directory, sizeof(directory), "%s", path_);
  char* slash = strrchr(directory, '/');
  if (slash == nullptr)
    snprintf(directory, sizeof(directory), ".");
  else
    slash[slash == directory ? 1 : 0] = '\0';
  const int descriptor = ::open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  // A directory that cannot be opened or synced (some network file systems) does not make the save fail.
  if (descriptor < 0) return Status();
  fsync(descriptor);
  ::close(descriptor);
  return Status();
}

void AtomicFile::abandon() {
  if (descriptor_ < 0) return;
  unlink(partial_);
  ::close(descriptor_);
  descriptor_ = -1;
}

}  // namespace ferrule::runtime
