#include "runtime/data/safetensors.h"

#include <cstring>
#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "runtime/data/file.h"

namespace ferrule::runtime {
namespace {

using Catch::Matchers::Contains;

std::string test_path(const char* name) {
  const char* folder = std::getenv("TEST_TMPDIR");
  return std::string(folder == nullptr ? "/tmp" : folder) + "/" + name;
}

// A file: the header's length, the header, then `data_size` zeros.
std::vector<uint8_t> file_of(const std::string& header, size_t data_size) {
  std::vector<uint8_t> bytes(8 + header.size() + data_size);
  const uint64_t size = header.size();
  std::memcpy(bytes.data(), &size, 8);
  std::memcpy(bytes.data() + 8, header.data(), header.size());
  return bytes;
}

Status parse(const std::vector<uint8_t>& bytes) {
  // A copy of the exact size, so that a tool that watches memory sees any read past the end.
  std::vector<uint8_t> exact(bytes.begin(), bytes.end());
  SafetensorsReader reader;
  return reader.parse(exact.data(), exact.size(), "t.safetensors", system_allocator());
}

TEST_CASE("what is written is read back") {
  const int64_t wide[] = {2, 3}, one[] = {5};
  const NamedTensor tensors[] = {
      {"bytes \"\\\x01\xc3\xa9", schema::DataType(1, 8, 1), 1, one, nullptr, 5},
      {"floats", schema::DataType(2, 32, 1), 2, wide, nullptr, 24},
      {"scalar", schema::DataType(0, 64, 1), 0, nullptr, nullptr, 8},
      {"empty", schema::DataType(2, 32, 1), 1, (const int64_t[]){0}, nullptr, 0},
  };
  const MetadataPair metadata[] = {{"format", "test"}, {"step", "12"}};
  const std::string path = test_path("round_trip.safetensors");
  const Status written = write_safetensors(
      path.c_str(), tensors, 4, metadata, 2,
      [](void*, size_t index, void* out) {
        const uint64_t sizes[] = {5, 24, 8, 0};
        std::memset(out, static_cast<int>(index + 1), sizes[index]);
        return Status();
      },
      nullptr, system_allocator());
  REQUIRE(written.message() == std::string());

  MappedFile file;
  REQUIRE(file.open(path.c_str()).ok());
  SafetensorsReader reader;
  const Status status = reader.parse(file.data(), file.byte_size(), path.c_str(), system_allocator());
  REQUIRE(status.message() == std::string());
  REQUIRE(reader.size() == 4);
  for (size_t i = 0; i < 4; ++i) {
    const NamedTensor* tensor = reader.find(tensors[i].name);
    REQUIRE(tensor != nullptr);
    CHECK(tensor->byte_size == tensors[i].byte_size);
    CHECK(tensor->rank == tensors[i].rank);
    CHECK(tensor->dtype.bits() == tensors[i].dtype.bits());
    // Aligned in the file, by falling element size.
    CHECK(static_cast<uint64_t>(tensor->data - file.data()) % (tensor->dtype.bits() / 8) == 0);
    for (uint64_t b = 0; b < tensor->byte_size; ++b) REQUIRE(tensor->data[b] == i + 1);
  }
  CHECK(std::string(reader.metadata("step")) == "12");
  CHECK(reader.metadata("nothing") == nullptr);
  CHECK(reader.find("nothing") == nullptr);
}

TEST_CASE("valid headers") {
  CHECK(parse(file_of("{}", 0)).ok());
  CHECK(parse(file_of("{}    ", 0)).ok());
  CHECK(parse(file_of(R"( { "a" : {"dtype" : "F32", "data_offsets" : [0, 8], "shape" : [ 2 ] } } )", 8)).ok());
  CHECK(parse(file_of(R"({"\u00e9\ud83d\ude00":{"dtype":"U8","shape":[],"data_offsets":[0,1]}})", 1)).ok());
  CHECK(parse(file_of(R"({"__metadata__":{},"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})", 0)).ok());
}

TEST_CASE("hostile headers are refused, and the sentence says why") {
  struct Case {
    const char* header;
    size_t data_size;
    const char* part;
  };
  const Case cases[] = {
      {"", 0, "JSON"},
      {"[]", 0, "JSON"},
      {"{", 0, "JSON"},
      {"{}{}", 0, "more than one"},
      {R"({"a)", 0, "JSON"},
      {R"({"a\)", 0, "JSON"},
      {R"({"a\u00)", 0, "JSON"},
      {R"({"a\u0000":1})", 0, "JSON"},
      {R"({"\ud800":1})", 0, "JSON"},
      {R"({"a":{}})", 0, "JSON"},
      {R"({"a":[]})", 0, "object"},
      {R"({"__metadata__":{"k":1}})", 0, "__metadata__"},
      {R"({"a":{"dtype":"F99","shape":[],"data_offsets":[0,4]}})", 4, "dtype"},
      {R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4, "shape"},
      {R"({"a":{"dtype":"F32","shape":[1.5],"data_offsets":[0,4]}})", 4, "shape"},
      {R"({"a":{"dtype":"F32","shape":[99999999999999999999],"data_offsets":[0,4]}})", 4, "shape"},
      {R"({"a":{"dtype":"F32","shape":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1],"data_offsets":[0,4]}})", 4, "shape"},
      {R"({"a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}})", 0, "fit"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,8]}})", 8, "fit"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 0, "leave"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[8,4]}})", 8, "leave"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,18446744073709551616]}})", 8, "data_offsets"},
      {R"({"a":{"dtype":"F32","shape":[1]}})", 4, "lacks"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"more":1}})", 4, "unknown"},
      {R"({"a":{"dtype":"F32","shape":[1],"shape":[1],"data_offsets":[0,4]}})", 4, "repeated"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 8, "longer"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", 8, "gaps"},
      {R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
       3, "overlap"},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
       2, "same name"},
  };
  for (const Case& each : cases) {
    const Status status = parse(file_of(each.header, each.data_size));
    INFO(each.header << "\n" << status.message());
    CHECK(status.code() == StatusCode::kInvalidArtifact);
    CHECK_THAT(status.message(), Contains(each.part) && Contains("t.safetensors"));
  }
}

TEST_CASE("a file that is cut at any byte is refused") {
  const std::vector<uint8_t> whole =
      file_of(R"({"__metadata__":{"k":"v"},"a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]}})", 8);
  REQUIRE(parse(whole).ok());
  for (size_t size = 0; size < whole.size(); ++size)
    CHECK_FALSE(parse(std::vector<uint8_t>(whole.begin(), whole.begin() + static_cast<long>(size))).ok());
}

TEST_CASE("a changed byte of the header never leads outside the file") {
  const std::vector<uint8_t> whole =
      file_of(R"({"__metadata__":{"k":"v"},"a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]}})", 8);
  for (size_t position = 0; position < whole.size() - 8; ++position)
    for (int value = 0; value < 256; ++value) {
      std::vector<uint8_t> changed = whole;
      changed[position] = static_cast<uint8_t>(value);
      SafetensorsReader reader;
      if (!reader.parse(changed.data(), changed.size(), "t", system_allocator()).ok()) continue;
      for (size_t i = 0; i < reader.size(); ++i) {
        REQUIRE(reader[i].data >= changed.data());
        REQUIRE(reader[i].data + reader[i].byte_size <= changed.data() + changed.size());
      }
    }
}

}  // namespace
}  // namespace ferrule::runtime
