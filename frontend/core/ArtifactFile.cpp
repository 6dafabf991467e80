//===- ArtifactFile.cpp - An artifact that is being written ---------------===//

#include "frontend/core/ArtifactFile.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

namespace ferrule::frontend {

ArtifactFile::~ArtifactFile() {
  finish();
  if (descriptor >= 0)
    close(descriptor);
}

uint8_t *ArtifactFile::create(uint64_t size) {
  descriptor = memfd_create("ferrule program", MFD_CLOEXEC);
  // Without its pages a full memory would be a signal in the middle of writing.
  if (descriptor < 0 || posix_fallocate(descriptor, 0, static_cast<off_t>(size)) != 0)
    return nullptr;
  void *memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (memory == MAP_FAILED)
    return nullptr;
  bytes = static_cast<uint8_t *>(memory);
  byteSize = size;
  return bytes;
}

void ArtifactFile::finish() {
  if (bytes)
    munmap(bytes, byteSize);
  bytes = nullptr;
}

bool ArtifactFile::copyTo(int target) const {
  off_t offset = 0;
  while (static_cast<uint64_t>(offset) < byteSize) {
    ssize_t count = sendfile(target, descriptor, &offset, byteSize - offset);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
  }
  return true;
}

int ArtifactFile::release() {
  int released = descriptor;
  descriptor = -1;
  return released;
}

} // namespace ferrule::frontend
