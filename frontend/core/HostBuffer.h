//===- HostBuffer.h - Shared host memory of concrete tensors --------------===//
#ifndef FERRULE_FRONTEND_CORE_HOSTBUFFER_H
#define FERRULE_FRONTEND_CORE_HOSTBUFFER_H

#include <cstddef>
#include <memory>

namespace ferrule::frontend {

/// Bytes that several tensors, and arrays of the caller, may share. The content
/// is never written once a tensor refers to it: that is what lets a recorded op
/// read its inputs later than the call.
class HostBuffer {
public:
  /// Alignment of what `allocate` returns; the runtime asks for 64 bytes.
  static constexpr size_t alignment = 64;

  /// Uninitialised memory; null when the machine has none left. Zero bytes are
  /// allowed and give a valid, distinct address.
  static std::shared_ptr<HostBuffer> allocate(size_t byteSize);

  /// Memory that `owner` keeps alive.
  static std::shared_ptr<HostBuffer> borrow(void *data, size_t byteSize, std::shared_ptr<void> owner);

  HostBuffer(void *data, size_t byteSize, std::shared_ptr<void> owner)
      : bytes(data), byteSize(byteSize), owner(std::move(owner)) {}

  void *data() const { return bytes; }
  size_t size() const { return byteSize; }

private:
  void *bytes;
  size_t byteSize;
  std::shared_ptr<void> owner;
};

} // namespace ferrule::frontend

#endif // FERRULE_FRONTEND_CORE_HOSTBUFFER_H
