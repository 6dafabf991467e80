// What depends on the shapes of one call, and on the dims that get a value while it runs: dims bound from the inputs,
// and the plan checked for their values.
//
// A session calls bind_dims, then evaluate_expressions, then check_call; when the dims are those of the call before and
// the entry has no late dims, all three can be skipped. While the entry runs it calls assign_dim when a loop counts or
// an instruction reads a dim, and check_instruction before each instruction that map.changes(). Nothing is allocated.
#ifndef FERRULE_RUNTIME_PROGRAM_CALL_H_
#define FERRULE_RUNTIME_PROGRAM_CALL_H_

#include <stdint.h>

#include "runtime/base/status.h"
#include "runtime/program/entry_map.h"
#include "serialize/schema/program_schema.h"

namespace ferrule::runtime {

struct Shape {
  const int64_t* sizes;
  uint32_t rank;
};

// The values of a call: what its expressions are, and what its outputs and buffers hold.
struct CallValues {
  int64_t* dims;               // one a dim of the entry
  int64_t* values;             // one an expression
  uint64_t* output_bytes;      // one an output: the room that it has in this call
  const uint64_t* capacities;  // one a buffer: the bytes that it has if it lies in an arena; null: its planned_size
};

// inputs: one a TensorSpec of entry.inputs(). out_dims: one a dim of the entry. Checks every rank, every dim's range
// and multiple; kInvalidArgument names entry, input, axis, dim, value and what is allowed.
Status bind_dims(const schema::Entry& entry, const Shape* inputs, int64_t* out_dims);

// call: dims and values as evaluate_expressions left them; output_bytes are set. Checks the inputs' sizes against their
// shape expressions, the equalities, 0 <= size <= capacity of every buffer, and every instruction, as far as these
// are known at the call. After it, no access that the plan asks for leaves its buffer, provided that input and output
// buffers hold tensor_byte_size() bytes and that the rest is checked while running. kInvalidArgument for what the
// caller passed, kInvalidArtifact for what the plan gets wrong.
Status check_call(const schema::Entry& entry, const EntryMap& map, const Shape* inputs, const CallValues& call);

// Gives a dim that a loop counts or an instruction reads its value, and evaluates and checks what it completes. A value
// that an instruction read outside [min, min(max, limit)], or that is no multiple, is kKernelError; the sentence names
// the dim, the value and what is allowed.
Status assign_dim(const schema::Entry& entry, const EntryMap& map, uint32_t dim, int64_t value, const CallValues& call);

// Instruction `position` of `block`: every operand's offset and every copy inside its buffers, tiles and counts not
// negative.
Status check_instruction(const schema::Entry& entry, const EntryMap& map, uint32_t block, uint32_t position,
                         const CallValues& call);

// Says " 'n' = 9, 'm' = 4": the dims of the inputs without a max. False, and nothing is said, if there is none.
bool append_open_dims(const schema::Entry& entry, const int64_t* dims, Status* status);

// Bytes of an input or output for this call's values (the product of its dims times its dtype, rounded up to bytes).
// kInvalidArgument on a negative dim or overflow.
Status tensor_byte_size(const schema::Entry& entry, const schema::TensorSpec& spec, const int64_t* values,
                        uint64_t* out_byte_size);

}  // namespace ferrule::runtime

#endif  // FERRULE_RUNTIME_PROGRAM_CALL_H_
