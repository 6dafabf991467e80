// Files that sessions keep memory in, and sessions that keep part of their arena there.
#include <stdlib.h>

#include "runtime/api/handles.h"
#include "runtime/swap/paging.h"
#include "runtime/swap/swap_file.h"

using namespace ferrule::runtime;

struct FerruleSwap {
  SwapFile* file;
  FerruleAllocator allocator;
};

namespace {

void* allocate(void* context, uint64_t byte_size, uint64_t alignment) {
  return static_cast<SwapFile*>(context)->allocate(byte_size, alignment);
}

void release(void* context, void* memory, uint64_t) { static_cast<SwapFile*>(context)->release(memory); }

void release_paging(FerruleSession* session) {
  Paging::destroy(session->paging);
  session->paging = nullptr;
  session->release_paging = nullptr;
}

}  // namespace

FerruleStatus* ferrule_swap_create(const char* path, uint64_t byte_limit, FerruleSwap** out_swap) {
  auto* swap = static_cast<FerruleSwap*>(malloc(sizeof(FerruleSwap)));
  if (swap == nullptr) return to_c(Status::error(StatusCode::kOutOfMemory, "out of memory: the swap's handle"));
  const Status status = SwapFile::create(path, byte_limit, &swap->file);
  if (!status.ok()) {
    free(swap);
    return to_c(status);
  }
  swap->allocator = {sizeof(FerruleAllocator), swap->file, allocate, release};
  *out_swap = swap;
  return nullptr;
}

void ferrule_swap_release(FerruleSwap* swap) {
  if (swap == nullptr) return;
  SwapFile::destroy(swap->file);
  free(swap);
}

const FerruleAllocator* ferrule_swap_allocator(const FerruleSwap* swap) { return &swap->allocator; }

FerruleStatus* ferrule_swap_refusal(const FerruleSwap* swap) { return to_c(swap->file->refusal()); }

FerruleStatus* ferrule_swap_info(const FerruleSwap* swap, FerruleSwapInfo* out_info) {
  FerruleSwapInfo info{};
  info.byte_size = swap->file->byte_size();
  write_struct(info, out_info);
  return nullptr;
}

FerruleStatus* ferrule_session_limit_arena(FerruleSession* session, FerruleSwap* swap, uint64_t resident_bytes) {
  Paging* made = nullptr;
  if (resident_bytes != 0) {
    if (session->growth != nullptr)
      return to_c(Status::error(StatusCode::kFailedPrecondition, "the arena of a session that grows cannot be limited"),
                  session->logger);
    const Status status = Paging::create(*session->session, *swap->file, resident_bytes, &made);
    if (!status.ok()) return to_c(status, session->logger);
  }
  if (session->paging != nullptr) release_paging(session);
  if (made != nullptr) session->release_paging = release_paging;
  session->paging = made;
  return nullptr;
}

FerruleStatus* ferrule_session_paging_info(const FerruleSession* session, FerrulePagingInfo* out_info) {
  FerrulePagingInfo info{};
  if (session->paging != nullptr) {
    const Paging& paging = *session->paging;
    info.resident_bytes = paging.resident_bytes();
    info.written_bytes = paging.totals().written_bytes;
    info.forgotten_bytes = paging.totals().forgotten_bytes;
    info.nanoseconds = paging.totals().nanoseconds;
  }
  write_struct(info, out_info);
  return nullptr;
}
