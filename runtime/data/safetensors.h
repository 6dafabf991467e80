// The safetensors container: named tensors behind a JSON header, written and read.
//
// File: 8 bytes header length (little endian), the header (a JSON object, padded with spaces to a multiple of 8), then
// the data of all tensors without gaps. The reader trusts nothing: header and tensors are bounds-checked, sizes must
// equal dtype x shape, tensors must tile the data exactly, names must be unique.
#ifndef FERRULE_RUNTIME_DATA_SAFETENSORS_H_
#define FERRULE_RUNTIME_DATA_SAFETENSORS_H_

#include <stddef.h>
#include <stdint.h>

#include "runtime/base/allocator.h"
#include "runtime/base/status.h"
#include "serialize/schema/program_schema.h"

namespace ferrule::runtime {

// A dense row-major tensor of a file. `data` is little endian and may be unaligned.
struct NamedTensor {
  const char* name;
  schema::DataType dtype;
  uint32_t rank;
  const int64_t* shape;
  const uint8_t* data;
  uint64_t byte_size;
};

struct MetadataPair {
  const char* key;
  const char* value;
};

class SafetensorsReader {
 public:
  // `bytes` must outlive the reader. `path` names the file in errors, all kInvalidArtifact (or kOutOfMemory).
  Status parse(const uint8_t* bytes, uint64_t byte_size, const char* path, const Allocator& allocator);

  size_t size() const { return tensor_count_; }
  const NamedTensor& operator[](size_t i) const { return tensors_[i]; }
  const NamedTensor* find(const char* name) const;  // null: no tensor of that name
  const char* metadata(const char* key) const;      // null: no such key

 private:
  friend class SafetensorsParser;
  Array<char> text_;  // all strings, each ended by a zero
  Array<int64_t> shape_pool_;
  Array<NamedTensor> tensors_;
  Array<MetadataPair> metadata_;
  size_t tensor_count_ = 0;
  size_t metadata_count_ = 0;
};

// Writes the tensors in an order of its own (by falling element size, so that all are aligned); `fill` is called once a
// tensor to put its values into a buffer of byte_size bytes. `data` of the tensors is not used. The file is replaced in
// one step (AtomicFile).
using FillTensor = Status (*)(void* context, size_t index, void* out_data);
Status write_safetensors(const char* path, const NamedTensor* tensors, size_t count, const MetadataPair* metadata,
                         size_t metadata_count, FillTensor fill, void* context, const Allocator& allocator);

}  // namespace ferrule::runtime

#endif  // FERRULE_RUNTIME_DATA_SAFETENSORS_H_
