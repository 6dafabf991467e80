// Judges an artifact's metadata after its hashes: a hash says that nobody edited the bytes, not that they are right.
//
// After verify_program() succeeds:
// - the flatbuffer's structure holds, 8-byte vectors are aligned, every string is UTF-8 without control characters
// (names
//   also non-empty and unique among their kind), every index is in range, no union member or enum value is unknown;
// - expressions use only earlier ones; every dim of an entry stands alone as some dim of an input, or one instruction
//   binds it, and nothing uses it where it has no value;
// - a variable's byte_size follows from shape, dtype and layout; its initial value and every constant lie in the
// weights,
//   64-byte aligned, in front of tag and nonce if they are encrypted, with a cipher that is known; kernel entry points lie in every code image; no kernel needs more scratch than the program says;
// - every block but the first belongs to one instruction, at most kMaximumBlockDepth deep; operand and dim counts are
//   the kernel's; what is written is an arena buffer, an output, or a variable in assigned_variables; arena buffers lie
//   in their arena, every use lies in the live interval, none is read before it is written on every path, and two that
//   are live at once share no byte unless they are of one block and name the same alias group.
// What the native code does with its pointers cannot be verified: an artifact is trusted like a shared library.
#ifndef FERRULE_RUNTIME_PROGRAM_VERIFY_H_
#define FERRULE_RUNTIME_PROGRAM_VERIFY_H_

#include <stdint.h>

#include "runtime/base/allocator.h"
#include "runtime/base/status.h"
#include "runtime/program/entry_map.h"
#include "serialize/schema/program_schema.h"

namespace ferrule::runtime {

// What the metadata is judged against.
struct VerifyContext {
  const Allocator* allocator;  // for work arrays
  const char* name;            // of the artifact, for errors
  uint64_t weights_byte_size;  // as the directory says, present or not
  uint64_t location_limit;     // how many locations the debug segment holds; UINT64_MAX when it is absent
  // The size of the code image of a target name, or false when the directory has none.
  bool (*code_byte_size)(const void* frame, const char* target, uint64_t* out_byte_size);
  const void* frame;
};

// `bytes` must be 8-byte aligned. kInvalidArtifact with a sentence that names the part. out_maps: one map an entry.
Status verify_program(const uint8_t* bytes, uint64_t byte_size, VerifyContext context, EntryMaps* out_maps);

// Structure and strings of a debug segment.
Status verify_debug(const uint8_t* bytes, uint64_t byte_size, const char* artifact_name);

// Used by verify_program; one file each.
Status verify_entry(const schema::Program& program, const schema::Entry& entry, const VerifyContext& context,
                    EntryMap* out_map);
Status verify_instructions(const schema::Program& program, const schema::Entry& entry, const EntryMap& map,
                           const VerifyContext& context);
Status verify_live_intervals(const schema::Entry& entry, const EntryMap& map, const VerifyContext& context);
Status verify_dtype(const schema::DataType& dtype, const char* artifact_name, const char* tensor_name);
Status verify_text(const flatbuffers::String& text, const char* artifact_name, const char* what);
Status verify_name(const flatbuffers::String& name, const char* artifact_name, const char* what);
Status verify_unique_names(const char** names, size_t count, const char* artifact_name, const char* what);  // sorts

}  // namespace ferrule::runtime

#endif  // FERRULE_RUNTIME_PROGRAM_VERIFY_H_
