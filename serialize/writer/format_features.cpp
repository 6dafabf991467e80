#include "serialize/writer/format_features.h"

#include <algorithm>

namespace ferrule::serialize {
namespace {

struct Feature {
  uint32_t version;
  const char* name;
  bool (*is_used)(const ProgramDescription& program);
};

// A new version adds rows behind these; a row never changes.
constexpr Feature kFeatures[] = {
    {1, "the first frozen format", [](const ProgramDescription&) { return true; }},
    {2, "encrypted weights", [](const ProgramDescription& program) { return !program.weights_key_name.empty(); }},
};

}  // namespace

std::vector<std::string> missing_features(const ProgramDescription& program, uint32_t version) {
  std::vector<std::string> missing;
  for (const Feature& feature : kFeatures) {
    if (feature.version > version && feature.is_used(program)) {
      missing.push_back(std::string(feature.name) + " (version " + std::to_string(feature.version) + ")");
    }
  }
  return missing;
}

uint32_t minimum_reader_version(const ProgramDescription& program) {
  uint32_t version = 0;
  for (const Feature& feature : kFeatures) {
    if (feature.is_used(program)) version = std::max(version, feature.version);
  }
  return version;
}

}  // namespace ferrule::serialize
