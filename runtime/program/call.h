// What depends on the shapes of one call: dims bound from the inputs, and the plan checked for their values.
//
// A session calls bind_dims, then evaluate_expressions, then check_call; when the dims are those of the call before,
// all three can be skipped.
#ifndef FERRULE_RUNTIME_PROGRAM_CALL_H_
#define FERRULE_RUNTIME_PROGRAM_CALL_H_

#include <stdint.h>

#include "runtime/base/status.h"
#include "serialize/schema/program_schema.h"

namespace ferrule::runtime {

struct Shape {
  const int64_t* sizes;
  uint32_t rank;
};

// inputs: one a TensorSpec of entry.inputs(). out_dims: one a dim of the entry. Checks every rank, every dim's range
// and multiple; kInvalidArgument names entry, input, axis, dim, value and what is allowed.
Status bind_dims(const schema::Entry& entry, const Shape* inputs, int64_t* out_dims);

// values: the result of evaluate_expressions for the same dims. Checks the inputs' sizes against their shape
// expressions, the equalities, 0 <= size <= planned_size of every buffer, every operand's offset and every copy inside
// its buffers, and tiles >= 0. After it, no access that the plan asks for leaves its buffer, provided that input and
// output buffers hold tensor_byte_size() bytes. kInvalidArgument for what the caller passed, kInvalidArtifact for what
// the plan gets wrong.
Status check_call(const schema::Entry& entry, const Shape* inputs, const int64_t* values);

// Bytes of an input or output for this call's values (the product of its dims times its dtype, rounded up to bytes).
// kInvalidArgument on a negative dim or overflow.
Status tensor_byte_size(const schema::Entry& entry, const schema::TensorSpec& spec, const int64_t* values,
                        uint64_t* out_byte_size);

}  // namespace ferrule::runtime

#endif  // FERRULE_RUNTIME_PROGRAM_CALL_H_
