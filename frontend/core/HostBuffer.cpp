//===- HostBuffer.cpp - Shared host memory of concrete tensors ------------===//

#include "frontend/core/HostBuffer.h"

#include <algorithm>
#include <cstdlib>

namespace ferrule::frontend {

std::shared_ptr<HostBuffer> HostBuffer::allocate(size_t byteSize) {
  size_t rounded = (std::max<size_t>(byteSize, 1) + alignment - 1) & ~(alignment - 1);
  void *memory = std::aligned_alloc(alignment, rounded);
  if (!memory)
    return nullptr;
  return std::make_shared<HostBuffer>(memory, byteSize, std::shared_ptr<void>(memory, std::free));
}

std::shared_ptr<HostBuffer> HostBuffer::borrow(void *data, size_t byteSize, std::shared_ptr<void> owner) {
  return std::make_shared<HostBuffer>(data, byteSize, std::move(owner));
}

} // namespace ferrule::frontend
