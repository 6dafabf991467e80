// ferrule-dump FILE [--json] [--memory] [--instructions]: prints what an artifact holds.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

#include "serialize/dump/dump.h"

int main(int argc, char** argv) {
  const char* path = nullptr;
  bool json = false, usage_error = false;
  ferrule::serialize::DumpOptions options;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--json") == 0) {
      json = true;
    } else if (std::strcmp(argv[i], "--memory") == 0) {
      options.memory = true;
    } else if (std::strcmp(argv[i], "--instructions") == 0) {
      options.instructions = true;
    } else {
      usage_error = usage_error || argv[i][0] == '-' || path != nullptr;
      path = argv[i];
    }
  }
  if (path == nullptr || usage_error) {
    std::fprintf(stderr, "usage: ferrule-dump FILE.fer [--json] [--memory] [--instructions]\n");
    return 2;
  }
  std::ifstream file(path, std::ios::binary);
  const std::vector<uint8_t> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  ferrule::serialize::ArtifactContents contents;
  std::string error = "cannot be read";
  if (!file.is_open() || !ferrule::serialize::read_artifact(bytes.data(), bytes.size(), &contents, &error)) {
    std::fprintf(stderr, "%s: %s\n", path, error.c_str());
    return 1;
  }
  const std::string text =
      json ? ferrule::serialize::dump_json(contents, options) + "\n" : ferrule::serialize::dump_text(contents, options);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return 0;
}
