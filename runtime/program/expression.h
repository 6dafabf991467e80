// Evaluation of an entry's expression table: sizes, offsets, dims and tile counts for the dims of one call.
#ifndef FERRULE_RUNTIME_PROGRAM_EXPRESSION_H_
#define FERRULE_RUNTIME_PROGRAM_EXPRESSION_H_

#include <stdint.h>

#include "runtime/base/status.h"
#include "serialize/schema/program_schema.h"

namespace ferrule::runtime {

// dims: one value a dim of the entry. out_values: one a node of entry.expressions(). One ascending pass, no allocation.
// kInvalidArgument on overflow or division by zero: the sentence names the entry, the node and the operands.
Status evaluate_expressions(const schema::Entry& entry, const int64_t* dims, int64_t* out_values);

}  // namespace ferrule::runtime

#endif  // FERRULE_RUNTIME_PROGRAM_EXPRESSION_H_
