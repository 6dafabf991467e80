#include <stdio.h>
#include <string.h>

#include "runtime/data/data_type.h"
#include "runtime/data/file.h"
#include "runtime/data/safetensors.h"

namespace ferrule::runtime {
namespace {

// Text that is first measured, then written: with `out` null only the length grows.
struct TextSink {
  char* out = nullptr;
  size_t length = 0;

  void character(char letter) {
    if (out != nullptr) out[length] = letter;
    ++length;
  }
  void text(const char* letters) {
    for (; *letters != '\0'; ++letters) character(*letters);
  }
  void number(uint64_t value) {
    char digits[24];
    snprintf(digits, sizeof(digits), "%llu", static_cast<unsigned long long>(value));
    text(digits);
  }
  void quoted(const char* letters) {
    character('"');
    for (; *letters != '\0'; ++letters) {
      const auto code = static_cast<unsigned char>(*letters);
      if (code < 0x20) {
        char escape[8];
        snprintf(escape, sizeof(escape), "\\u%04x", code);
        text(escape);
        continue;
      }
      if (code == '"' || code == '\\') character('\\');
      character(*letters);
    }
    character('"');
  }
};

void write_tensor(TextSink& sink, const NamedTensor& tensor, const char* type, uint64_t offset) {
  sink.quoted(tensor.name);
  sink.text(":{\"dtype\":");
  sink.quoted(type);
  sink.text(",\"shape\":[");
  for (uint32_t axis = 0; axis < tensor.rank; ++axis) {
    if (axis != 0) sink.character(',');
    sink.number(static_cast<uint64_t>(tensor.shape[axis]));
  }
  sink.text("],\"data_offsets\":[");
  sink.number(offset);
  sink.character(',');
  sink.number(offset + tensor.byte_size);
  sink.text("]}");
}

// `order`: the positions of the tensors in the order of their data.
void write_header(TextSink& sink, const NamedTensor* tensors, const Array<size_t>& order, const MetadataPair* metadata,
                  size_t metadata_count) {
  bool first = true;
  sink.character('{');
  if (metadata_count != 0) {
    sink.text("\"__metadata__\":{");
    for (size_t i = 0; i < metadata_count; ++i) {
      if (i != 0) sink.character(',');
      sink.quoted(metadata[i].key);
      sink.character(':');
      sink.quoted(metadata[i].value);
    }
    sink.character('}');
    first = false;
  }
  uint64_t offset = 0;
  for (const size_t i : order) {
    if (!first) sink.character(',');
    first = false;
    write_tensor(sink, tensors[i], find_data_type(tensors[i].dtype)->safetensors, offset);
    offset += tensors[i].byte_size;
  }
  sink.character('}');
  while (sink.length % 8 != 0) sink.character(' ');
}

Status check_types(const char* path, const NamedTensor* tensors, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const DataTypeNames* type = find_data_type(tensors[i].dtype);
    if (type == nullptr || type->safetensors[0] == '\0')
      return Status::error(StatusCode::kUnsupported, "cannot write '%s': safetensors has no dtype for tensor '%s' (%s)",
                           path, tensors[i].name, data_type_name(tensors[i].dtype));
  }
  return Status();
}

Status order_by_element_size(const NamedTensor* tensors, size_t count, const Allocator& allocator,
                             Array<size_t>& out_order) {
  FERRULE_RETURN_IF_ERROR(out_order.allocate(allocator, count, "the order of the tensors"));
  size_t next = 0;
  for (const uint8_t bits : {64, 32, 16, 8})
    for (size_t i = 0; i < count; ++i)
      if (tensors[i].dtype.bits() == bits) out_order[next++] = i;
  return Status();
}

}  // namespace

Status write_safetensors(const char* path, const NamedTensor* tensors, size_t count, const MetadataPair* metadata,
                         size_t metadata_count, FillTensor fill, void* context, const Allocator& allocator) {
  FERRULE_RETURN_IF_ERROR(check_types(path, tensors, count));
  Array<size_t> order;
  FERRULE_RETURN_IF_ERROR(order_by_element_size(tensors, count, allocator, order));
  TextSink measured;
  write_header(measured, tensors, order, metadata, metadata_count);
  Array<char> header;
  FERRULE_RETURN_IF_ERROR(header.allocate(allocator, measured.length, "the header of a safetensors file"));
  TextSink sink;
  sink.out = header.data();
  write_header(sink, tensors, order, metadata, metadata_count);

  uint64_t largest = 0;
  for (size_t i = 0; i < count; ++i) largest = tensors[i].byte_size > largest ? tensors[i].byte_size : largest;
  Array<uint8_t> values;
  FERRULE_RETURN_IF_ERROR(values.allocate(allocator, largest, "a copy of the largest tensor", 64));

  AtomicFile file;
  FERRULE_RETURN_IF_ERROR(file.create(path));
  const uint64_t header_size = header.size();
  FERRULE_RETURN_IF_ERROR(file.write(&header_size, sizeof(header_size)));
  FERRULE_RETURN_IF_ERROR(file.write(header.data(), header.size()));
  for (const size_t i : order) {
    FERRULE_RETURN_IF_ERROR(fill(context, i, values.data()));
    FERRULE_RETURN_IF_ERROR(file.write(values.data(), tensors[i].byte_size));
  }
  return file.commit();
}

}  // namespace ferrule::runtime
