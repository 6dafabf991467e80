// Program description to artifact bytes.
#ifndef FERRULE_SERIALIZE_WRITER_WRITER_H_
#define FERRULE_SERIALIZE_WRITER_WRITER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "serialize/writer/artifact_layout.h"
#include "serialize/writer/program_description.h"

namespace ferrule::serialize {

// The bytes of a .fer file; equal descriptions give equal bytes. Initial values and constants are placed in the weights
// segment in order, equal ones once. On failure returns an empty vector and *error names what does not fit the format:
// a target name over 31 bytes, too many segments, a metadata flatbuffer over 1 GiB. The description is otherwise the
// caller's word: runtime/program judges what was written when it opens it.
std::vector<uint8_t> write_program(const ProgramDescription& program, std::string* error);

// The same into memory of the caller, who is asked for it once; false on failure, also if there is none.
bool write_program(const ProgramDescription& program, const AllocateArtifact& allocate, std::string* error);

}  // namespace ferrule::serialize

#endif  // FERRULE_SERIALIZE_WRITER_WRITER_H_
