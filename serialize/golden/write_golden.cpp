// Writes the golden file of a new format version: bazel run //serialize/golden:write_golden -- PATH. A file that is there
// stays: golden files of a frozen version are never written again.
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "serialize/golden/sample_program.h"
#include "serialize/writer/writer.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: write_golden PATH\n");
    return 2;
  }
  std::string error;
  const std::vector<uint8_t> bytes = ferrule::serialize::write_program(ferrule::serialize::sample_program(), &error);
  std::FILE* file = bytes.empty() ? nullptr : std::fopen(argv[1], "wbx");
  const bool written = file != nullptr && std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  if (file == nullptr || std::fclose(file) != 0 || !written) {
    std::fprintf(stderr, "cannot write %s: %s\n", argv[1], error.empty() ? std::strerror(errno) : error.c_str());
    return 1;
  }
  return 0;
}
