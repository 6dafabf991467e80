// A file as memory: blocks of it that are mapped shared, so that the system can write their pages to the file and use
// the memory for something else. Only swap space could do that for other memory, and small devices have none.
//
// The file has no name once it is there: its space returns when it is destroyed, or when the process ends, however.
#ifndef FERRULE_RUNTIME_SWAP_SWAP_FILE_H_
#define FERRULE_RUNTIME_SWAP_SWAP_FILE_H_

#include <stdint.h>

#include "runtime/base/allocator.h"
#include "runtime/base/lock.h"
#include "runtime/base/status.h"

namespace ferrule::runtime {

class SwapFile {
 public:
  // Makes `path`, which must not exist, and removes its name. It takes up to `byte_limit` bytes of the device; 0: what the
  // blocks need. kIoError with the system's reason.
  static Status create(const char* path, uint64_t byte_limit, SwapFile** out_file);
  // All blocks must have been returned. Null is allowed.
  static void destroy(SwapFile* file);

  // Blocks of whole pages of which each byte has its place in the file: writing them cannot fail for want of room. Null
  // where there is none, and refusal() says why. Aligned to a page at most.
  void* allocate(uint64_t byte_size, uint64_t alignment);
  void release(void* memory);
  // What the last allocate() that gave null says; ok if none did.
  Status refusal();

  // Whether `memory` lies in a block; then *out_position is its place in the file.
  bool locate(const void* memory, uint64_t* out_position);
  uint64_t byte_size();  // of all blocks

  // What follows is for whole pages at `memory` that lie at `position`.
  // Writes them and takes them out of memory; the next access reads them again.
  Status page_out(uint8_t* memory, uint64_t position, uint64_t byte_size);
  // Takes them out of memory unwritten: they read as zero, or as what they were. False where the file system cannot.
  bool forget(uint64_t position, uint64_t byte_size);
  // They will be read soon.
  void read_ahead(uint8_t* memory, uint64_t byte_size);

  static uint64_t page_bytes();

 private:
  struct Block {
    Block* next;
    uint8_t* memory;
    uint64_t position, byte_size;
  };

  SwapFile(int descriptor, uint64_t byte_limit) : descriptor_(descriptor), byte_limit_(byte_limit) {}
  ~SwapFile();
  Status add(uint64_t byte_size, uint64_t alignment, Block* block);

  const int descriptor_;
  const uint64_t byte_limit_;
  Mutex mutex_;
  Block* blocks_ = nullptr;
  uint64_t end_ = 0;         // of the file
  uint64_t byte_size_ = 0;
  Status refusal_;
};

}  // namespace ferrule::runtime

#endif  // FERRULE_RUNTIME_SWAP_SWAP_FILE_H_
