#include <stdlib.h>
#include <string.h>

#include "runtime/base/arithmetic.h"
#include "runtime/data/data_type.h"
#include "runtime/data/json_scanner.h"
#include "runtime/data/safetensors.h"
#include "runtime/program/layout.h"

namespace ferrule::runtime {

// Reads the header in one pass into tables that the caller has sized by counting braces, commas and brackets: no header
// holds more tensors than '{', more sizes than ',' and '[' together, or longer strings than itself.
class SafetensorsParser {
 public:
  SafetensorsParser(SafetensorsReader& reader, const char* header, size_t header_size, const uint8_t* data,
                    uint64_t data_size)
      : reader_(reader), scanner_(header, header_size, reader.text_.data()), data_(data), data_size_(data_size) {}

  // False: `problem()` says what is wrong.
  bool parse_header() {
    if (!scanner_.expect('{')) return fail("the header is not a JSON object");
    if (scanner_.accept('}')) return finish();
    do {
      const char* name = scanner_.string();
      if (name == nullptr || !scanner_.expect(':')) return fail("the header is not valid JSON");
      if (strcmp(name, "__metadata__") == 0) {
        if (!parse_metadata()) return fail("__metadata__ is not an object of strings");
      } else if (!parse_tensor(name)) {
        return false;
      }
    } while (scanner_.accept(','));
    return scanner_.expect('}') ? finish() : fail("the header is not valid JSON");
  }

  const char* problem() const { return problem_; }
  const char* subject() const { return subject_; }  // the tensor that it is about, or ""

 private:
  bool fail(const char* problem, const char* subject = "") {
    problem_ = problem;
    subject_ = subject;
    return false;
  }

  bool finish() { return scanner_.at_end() || fail("the header holds more than one JSON value"); }

  bool parse_metadata() {
    if (!scanner_.expect('{')) return false;
    if (scanner_.accept('}')) return true;
    do {
      const char* key = scanner_.string();
      if (key == nullptr || !scanner_.expect(':')) return false;
      const char* value = scanner_.string();
      if (value == nullptr || reader_.metadata_count_ == reader_.metadata_.size()) return false;
      reader_.metadata_[reader_.metadata_count_++] = MetadataPair{key, value};
    } while (scanner_.accept(','));
    return scanner_.expect('}');
  }

  bool parse_tensor(const char* name) {
    NamedTensor tensor{};
    tensor.name = name;
    uint64_t offsets[2] = {};
    bool has_dtype = false, has_shape = false, has_offsets = false;
    if (!scanner_.expect('{')) return fail("it is not described by an object", name);
    do {
      const char* key = scanner_.string();
      if (key == nullptr || !scanner_.expect(':')) return fail("its description is not valid JSON", name);
      if (strcmp(key, "dtype") == 0 && !has_dtype) {
        const char* text = scanner_.string();
        const DataTypeNames* type = text == nullptr ? nullptr : find_safetensors_type(text, strlen(text));
        if (type == nullptr) return fail("its dtype is unknown", name);
        tensor.dtype = schema::DataType(type->code, type->bits, 1);
        has_dtype = true;
      } else if (strcmp(key, "shape") == 0 && !has_shape) {
        if (!parse_shape(tensor)) return fail("its shape is not a list of at most 16 sizes", name);
        has_shape = true;
      } else if (strcmp(key, "data_offsets") == 0 && !has_offsets) {
        if (!scanner_.expect('[') || !scanner_.unsigned_integer(&offsets[0]) || !scanner_.expect(',') ||
            !scanner_.unsigned_integer(&offsets[1]) || !scanner_.expect(']'))
          return fail("its data_offsets are not two numbers", name);
        has_offsets = true;
      } else {
        return fail("its description has an unknown or a repeated key", name);
      }
    } while (scanner_.accept(','));
    if (!scanner_.expect('}')) return fail("its description is not valid JSON", name);
    if (!has_dtype || !has_shape || !has_offsets) return fail("it lacks dtype, shape or data_offsets", name);
    return add(tensor, offsets[0], offsets[1]);
  }

  bool parse_shape(NamedTensor& tensor) {
    tensor.shape = reader_.shape_pool_.data() + shape_count_;
    if (!scanner_.expect('[')) return false;
    if (scanner_.accept(']')) return true;
    do {
      uint64_t size;
      if (!scanner_.unsigned_integer(&size) || size > INT64_MAX || tensor.rank == kMaximumRank) return false;
      reader_.shape_pool_[shape_count_++] = static_cast<int64_t>(size);
      ++tensor.rank;
    } while (scanner_.accept(','));
    return scanner_.expect(']');
  }

  bool add(NamedTensor& tensor, uint64_t begin, uint64_t end) {
    if (begin > end || end > data_size_) return fail("its data_offsets leave the file", tensor.name);
    if (!logical_byte_size(tensor.dtype, tensor.shape, tensor.rank, &tensor.byte_size) ||
        tensor.byte_size != end - begin)
      return fail("its data_offsets do not fit its dtype and shape", tensor.name);
    tensor.data = data_ + begin;
    reader_.tensors_[reader_.tensor_count_++] = tensor;
    return true;
  }

  SafetensorsReader& reader_;
  JsonScanner scanner_;
  const uint8_t* data_;
  uint64_t data_size_;
  size_t shape_count_ = 0;
  const char* problem_ = "";
  const char* subject_ = "";
};

namespace {

int compare_names(const void* a, const void* b) {
  return strcmp((*static_cast<const NamedTensor* const*>(a))->name, (*static_cast<const NamedTensor* const*>(b))->name);
}

int compare_positions(const void* a, const void* b) {
  const NamedTensor& left = **static_cast<const NamedTensor* const*>(a);
  const NamedTensor& right = **static_cast<const NamedTensor* const*>(b);
  if (left.data != right.data) return left.data < right.data ? -1 : 1;
  if (left.byte_size != right.byte_size) return left.byte_size < right.byte_size ? -1 : 1;
  return 0;
}

// Unique names, and tensors that tile the data without gaps or overlaps. Null: all is well.
const char* check_tiling(const NamedTensor** order, size_t count, const uint8_t* data, uint64_t data_size) {
  if (count == 0) return data_size == 0 ? nullptr : "its data is longer than its tensors";
  qsort(order, count, sizeof(*order), compare_names);
  for (size_t i = 1; i < count; ++i)
    if (strcmp(order[i - 1]->name, order[i]->name) == 0) return "two tensors have the same name";
  qsort(order, count, sizeof(*order), compare_positions);
  const uint8_t* next = data;
  for (size_t i = 0; i < count; ++i) {
    if (order[i]->data != next) return "its tensors overlap or leave gaps";
    next += order[i]->byte_size;
  }
  return next == data + data_size ? nullptr : "its data is longer than its tensors";
}

size_t count_of(const char* text, size_t size, char wanted) {
  size_t count = 0;
  for (size_t i = 0; i < size; ++i) count += text[i] == wanted;
  return count;
}

Status invalid(const char* path, const char* problem) {
  return Status::error(StatusCode::kInvalidArtifact, "'%s' is not a valid safetensors file: %s", path, problem);
}

}  // namespace

Status SafetensorsReader::parse(const uint8_t* bytes, uint64_t byte_size, const char* path,
                                const Allocator& allocator) {
  tensor_count_ = metadata_count_ = 0;
  uint64_t header_size = 0;
  if (byte_size < 8) return invalid(path, "it is shorter than 8 bytes");
  memcpy(&header_size, bytes, 8);
  if (header_size > byte_size - 8)
    return invalid(path, "its header is longer than the file: truncated, or another format");
  const char* header = reinterpret_cast<const char*>(bytes + 8);
  const uint8_t* data = bytes + 8 + header_size;
  const uint64_t data_size = byte_size - 8 - header_size;

  const size_t braces = count_of(header, header_size, '{');
  const size_t sizes = count_of(header, header_size, ',') + count_of(header, header_size, '[');
  FERRULE_RETURN_IF_ERROR(text_.allocate(allocator, header_size + 1, "the names of a safetensors file"));
  FERRULE_RETURN_IF_ERROR(tensors_.allocate(allocator, braces + 1, "the tensors of a safetensors file"));
  FERRULE_RETURN_IF_ERROR(shape_pool_.allocate(allocator, sizes + 1, "the shapes of a safetensors file"));
  FERRULE_RETURN_IF_ERROR(metadata_.allocate(allocator, sizes + 1, "the metadata of a safetensors file"));

  SafetensorsParser parser(*this, header, header_size, data, data_size);
  if (!parser.parse_header()) {
    if (parser.subject()[0] == '\0') return invalid(path, parser.problem());
    return Status::error(StatusCode::kInvalidArtifact, "'%s' is not a valid safetensors file: tensor '%s': %s", path,
                         parser.subject(), parser.problem());
  }
  Array<const NamedTensor*> order;
  FERRULE_RETURN_IF_ERROR(order.allocate(allocator, tensor_count_, "the tensors of a safetensors file"));
  for (size_t i = 0; i < tensor_count_; ++i) order[i] = &tensors_[i];
  const char* problem = check_tiling(order.data(), tensor_count_, data, data_size);
  return problem == nullptr ? Status() : invalid(path, problem);
}

const NamedTensor* SafetensorsReader::find(const char* name) const {
  for (size_t i = 0; i < tensor_count_; ++i)
    if (strcmp(tensors_[i].name, name) == 0) return &tensors_[i];
  return nullptr;
}

const char* SafetensorsReader::metadata(const char* key) const {
  for (size_t i = 0; i < metadata_count_; ++i)
    if (strcmp(metadata_[i].key, key) == 0) return metadata_[i].value;
  return nullptr;
}

}  // namespace ferrule::runtime
