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

// Encrypts `byte_size` weights in place with AES-256-GCM, under a nonce that no other encryption with that key has.
// False: it cannot.
using EncryptWeights = std::function<bool(uint8_t* weights, uint64_t byte_size, const uint8_t* associated,
                                          uint64_t associated_byte_size, uint8_t* out_tag, uint8_t* out_nonce)>;

// The same into memory of the caller, who is asked for it once; false on failure, also if there is none. `encrypt` is
// needed if the program names a key.
bool write_program(const ProgramDescription& program, const AllocateArtifact& allocate, std::string* error,
                   const EncryptWeights& encrypt = nullptr);

}  // namespace ferrule::serialize

#endif  // FERRULE_SERIALIZE_WRITER_WRITER_H_
