// Which version of the format brought what: the one list behind an artifact's minimum reader version and the answer of
// `ferrule info --check-runtime`.
#ifndef FERRULE_SERIALIZE_WRITER_FORMAT_FEATURES_H_
#define FERRULE_SERIALIZE_WRITER_FORMAT_FEATURES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "serialize/writer/program_description.h"

namespace ferrule::serialize {

// What `program` uses and a runtime that reads format versions up to `version` does not know; empty: it runs there. What a
// newer writer adds to old tables for people and tools only is no feature: older readers pass over it.
std::vector<std::string> missing_features(const ProgramDescription& program, uint32_t version);

// The least version with which nothing is missing.
uint32_t minimum_reader_version(const ProgramDescription& program);

}  // namespace ferrule::serialize

#endif  // FERRULE_SERIALIZE_WRITER_FORMAT_FEATURES_H_
