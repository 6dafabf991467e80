// Artifact bytes back to a program description, for tools: dump, slicing, tests. The runtime has its own loader.
#ifndef FERRULE_SERIALIZE_READER_READER_H_
#define FERRULE_SERIALIZE_READER_READER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "serialize/schema/artifact_header.h"
#include "serialize/writer/program_description.h"

namespace ferrule::serialize {

struct ArtifactContents {
  ArtifactHeader header;
  std::vector<uint64_t> offsets;  // 0: absent
  std::vector<SegmentEntry> directory;
  ProgramDescription program;  // segments that are absent are empty in it
};

// Checks that every access stays inside the bytes and that every hash holds, not that the program makes sense. On
// failure returns false and *error says what is wrong.
bool read_artifact(const uint8_t* bytes, size_t byte_size, ArtifactContents* out_contents, std::string* error);

// Makes the program one that write_program takes. False, and *error says why not: its weights are encrypted, or a segment
// other than debug is absent. `change` says in the error what is to be written, e.g. "dropping entries".
bool prepare_to_write(const std::string& change, ArtifactContents* contents, std::string* error);

}  // namespace ferrule::serialize

#endif  // FERRULE_SERIALIZE_READER_READER_H_
