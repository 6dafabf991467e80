#include "runtime/swap/swap_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <new>

#include "runtime/base/arithmetic.h"

namespace ferrule::runtime {
namespace {

// Holds a mutex to the end of the scope.
class Held {
 public:
  explicit Held(Mutex& mutex) : mutex_(mutex) { mutex_.lock(); }
  ~Held() { mutex_.unlock(); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 private:
  Mutex& mutex_;
};

}  // namespace

uint64_t SwapFile::page_bytes() { return static_cast<uint64_t>(sysconf(_SC_PAGESIZE)); }

Status SwapFile::create(const char* path, uint64_t byte_limit, SwapFile** out_file) {
  const int descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0)
    return Status::error(StatusCode::kIoError, "the swap file '%s' cannot be made: %s%s", path, strerror(errno),
                         errno == EEXIST ? "; name one that does not exist" : "");
  unlink(path);
  void* memory = malloc(sizeof(SwapFile));
  if (memory == nullptr) {
    close(descriptor);
    return Status::error(StatusCode::kOutOfMemory, "out of memory: the swap file's handle");
  }
  *out_file = new (memory) SwapFile(descriptor, byte_limit);
  return Status();
}

SwapFile::~SwapFile() { close(descriptor_); }

void SwapFile::destroy(SwapFile* file) {
  if (file == nullptr) return;
  file->~SwapFile();
  free(file);
}

void* SwapFile::allocate(uint64_t byte_size, uint64_t alignment) {
  const Held held(mutex_);
  auto* block = static_cast<Block*>(malloc(sizeof(Block)));
  const Status status = block == nullptr
                            ? Status::error(StatusCode::kOutOfMemory, "out of memory: a block of the swap file")
                            : add(byte_size, alignment, block);
  if (status.ok()) return block->memory;
  refusal_ = status;
  free(block);
  return nullptr;
}

Status SwapFile::add(uint64_t byte_size, uint64_t alignment, Block* block) {
  const auto bytes = static_cast<unsigned long long>(byte_size);
  if (alignment > page_bytes())
    return Status::error(StatusCode::kUnsupported, "the swap file aligns to %llu bytes, a page, at most, not to %llu",
                         static_cast<unsigned long long>(page_bytes()), static_cast<unsigned long long>(alignment));
  uint64_t room, end;
  if (byte_size == 0 || !checked_align(byte_size, page_bytes(), &room) || !checked_add(end_, room, &end) ||
      end > INT64_MAX)
    return Status::error(StatusCode::kOutOfMemory, "the swap file cannot hold %llu bytes", bytes);
  if (byte_limit_ != 0 && room > byte_limit_ - byte_size_)
    return Status::error(StatusCode::kOutOfMemory,
                         "the swap file may take %llu bytes and holds %llu; %llu more do not fit",
                         static_cast<unsigned long long>(byte_limit_), static_cast<unsigned long long>(byte_size_),
                         bytes);
  // Room on the device now: a page without it would end the process when it is written.
  const int refused = posix_fallocate(descriptor_, static_cast<off_t>(end_), static_cast<off_t>(room));
  if (refused != 0)
    return Status::error(StatusCode::kIoError, "the swap file cannot hold %llu more bytes: %s", bytes,
                         strerror(refused));
  void* memory = mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, static_cast<off_t>(end_));
  if (memory == MAP_FAILED)
    return Status::error(StatusCode::kOutOfMemory, "%llu bytes of the swap file cannot be mapped: %s", bytes,
                         strerror(errno));
  *block = {blocks_, static_cast<uint8_t*>(memory), end_, room};
  blocks_ = block;
  end_ = end;
  byte_size_ += room;
  return Status();
}

void SwapFile::release(void* memory) {
  const Held held(mutex_);
  for (Block** link = &blocks_; *link != nullptr; link = &(*link)->next) {
    Block* block = *link;
    if (block->memory != memory) continue;
    *link = block->next;
    munmap(block->memory, block->byte_size);
    byte_size_ -= block->byte_size;
    // Best effort: a file system without holes returns the room with the last block.
    if (blocks_ != nullptr) {
      (void)fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(block->position),
                      static_cast<off_t>(block->byte_size));
    } else if (ftruncate(descriptor_, 0) == 0) {
      end_ = 0;
    }
    free(block);
    return;
  }
}

Status SwapFile::refusal() {
  const Held held(mutex_);
  return refusal_;
}

uint64_t SwapFile::byte_size() {
  const Held held(mutex_);
  return byte_size_;
}

bool SwapFile::locate(const void* memory, uint64_t* out_position) {
  const Held held(mutex_);
  for (const Block* block = blocks_; block != nullptr; block = block->next) {
    const auto offset = reinterpret_cast<uintptr_t>(memory) - reinterpret_cast<uintptr_t>(block->memory);
    if (offset >= block->byte_size) continue;
    *out_position = block->position + offset;
    return true;
  }
  return false;
}

Status SwapFile::page_out(uint8_t* memory, uint64_t position, uint64_t byte_size) {
  const auto offset = static_cast<off_t>(position), length = static_cast<off_t>(byte_size);
  // Only what is written can be taken away: MADV_PAGEOUT leaves changed pages of files in memory.
  if (sync_file_range(descriptor_, offset, length,
                      SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER) != 0)
    return Status::error(StatusCode::kIoError, "%llu bytes cannot be written to the swap file: %s",
                         static_cast<unsigned long long>(byte_size), strerror(errno));
  madvise(memory, byte_size, MADV_DONTNEED);
  posix_fadvise(descriptor_, offset, length, POSIX_FADV_DONTNEED);
  return Status();
}

bool SwapFile::forget(uint64_t position, uint64_t byte_size) {
  // Unlike a hole, the range keeps its room.
  return fallocate(descriptor_, FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(position),
                   static_cast<off_t>(byte_size)) == 0;
}

void SwapFile::read_ahead(uint8_t* memory, uint64_t byte_size) { madvise(memory, byte_size, MADV_WILLNEED); }

}  // namespace ferrule::runtime
