// Where the runtime's memory comes from: the caller's allocator, or the C library's.
//
// Everything is allocated while opening and creating; nothing while running.
#ifndef FERRULE_RUNTIME_BASE_ALLOCATOR_H_
#define FERRULE_RUNTIME_BASE_ALLOCATOR_H_

#include <stddef.h>
#include <stdint.h>

#include "runtime/base/status.h"

namespace ferrule::runtime {

// Plain functions and a context, so that C callers can supply one. Must be safe to call from the threads that open
// programs and create sessions.
struct Allocator {
  void* (*allocate)(void* context, size_t byte_size, size_t alignment);  // null on failure; alignment: a power of two
  void (*deallocate)(void* context, void* pointer, size_t byte_size);    // `pointer` is never null
  void* context;
};

// aligned_alloc and free.
const Allocator& system_allocator();

// What Array<T>::allocate does for every T alike. A count of 0 allocates nothing and gives null.
Status allocate_elements(const Allocator& allocator, size_t count, size_t element_bytes, size_t alignment,
                         const char* what, void** out_memory);

// An owned array of a trivial type. Moves, does not copy. Elements start uninitialised (allocate) or zero
// (allocate_zeroed); a size of 0 allocates nothing and data() is null.
template <typename T>
class Array {
 public:
  Array() = default;
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  Array(Array&& other) noexcept { swap(other); }
  Array& operator=(Array&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Array() { reset(); }

  // Replaces the contents. kOutOfMemory when the allocator fails or the size overflows. `what` names it in the error.
  Status allocate(const Allocator& allocator, size_t count, const char* what, size_t alignment = alignof(T)) {
    reset();
    void* memory;
    FERRULE_RETURN_IF_ERROR(allocate_elements(allocator, count, sizeof(T), alignment, what, &memory));
    allocator_ = allocator;
    data_ = static_cast<T*>(memory);
    size_ = count;
    return Status();
  }
  Status allocate_zeroed(const Allocator& allocator, size_t count, const char* what, size_t alignment = alignof(T)) {
    FERRULE_RETURN_IF_ERROR(allocate(allocator, count, what, alignment));
    if (count != 0) __builtin_memset(static_cast<void*>(data_), 0, count * sizeof(T));
    return Status();
  }
  void reset() {
    if (data_ != nullptr) allocator_.deallocate(allocator_.context, data_, size_ * sizeof(T));
    data_ = nullptr;
    size_ = 0;
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  size_t size() const { return size_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }

 private:
  void swap(Array& other) {
    Allocator allocator = allocator_;
    T* data = data_;
    size_t size = size_;
    allocator_ = other.allocator_;
    data_ = other.data_;
    size_ = other.size_;
    other.allocator_ = allocator;
    other.data_ = data;
    other.size_ = size;
  }

  Allocator allocator_{};
  T* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace ferrule::runtime

#endif  // FERRULE_RUNTIME_BASE_ALLOCATOR_H_
