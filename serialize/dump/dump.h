// What an artifact holds, for people and for programs: the text and the JSON of `ferrule info`.
#ifndef FERRULE_SERIALIZE_DUMP_DUMP_H_
#define FERRULE_SERIALIZE_DUMP_DUMP_H_

#include <string>

#include "serialize/reader/reader.h"

namespace ferrule::serialize {

struct DumpOptions {
  bool memory = false;        // also every buffer of every entry: place, size, live interval
  bool instructions = false;  // also every instruction
};

// For people: sizes, targets, entries with signatures and memory, variables, kernels.
std::string dump_text(const ArtifactContents& contents, const DumpOptions& options);

// One JSON object with the same facts; keys and their meaning are listed in docs/format.md.
std::string dump_json(const ArtifactContents& contents, const DumpOptions& options);

// Whether the artifact runs on a runtime that reads format versions up to `version`, as a sentence; what such a runtime
// lacks otherwise, and what to do. *out_runs says which.
std::string check_runtime(const ArtifactContents& contents, uint32_t version, bool* out_runs);

// "float32", "int4", "bool" ...; "code:bits" for what this version does not know.
std::string dtype_name(const DataTypeDescription& dtype);

// Each expression of an entry as text, e.g. "4 * batch". Malformed operands print as "?".
std::vector<std::string> expression_texts(const EntryDescription& entry);

}  // namespace ferrule::serialize

#endif  // FERRULE_SERIALIZE_DUMP_DUMP_H_
