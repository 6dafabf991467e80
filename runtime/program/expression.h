// Evaluation of an entry's expression table: sizes, offsets, dims and tile counts for the dims of one call. Nothing is
// allocated.
#ifndef FERRULE_RUNTIME_PROGRAM_EXPRESSION_H_
#define FERRULE_RUNTIME_PROGRAM_EXPRESSION_H_

#include <stdint.h>

#include "runtime/base/status.h"
#include "runtime/program/entry_map.h"
#include "serialize/schema/program_schema.h"

namespace ferrule::runtime {

// The nodes that are known at the call, in one ascending pass. dims: one value a dim of the entry; those of inputs are
// given, those that block 0 reads are set to the most that they can be in this call. out_values: one a node of
// entry.expressions(). kInvalidArgument on overflow or division by zero: the sentence names the entry, the node and the
// operands.
Status evaluate_expressions(const schema::Entry& entry, const EntryMap& map, int64_t* dims, int64_t* out_values);

// The nodes that `dim`, which has just got a value, completes.
Status evaluate_expressions_of(const schema::Entry& entry, const EntryMap& map, uint32_t dim, const int64_t* dims,
                               int64_t* values);

// The most that a dim of source `instruction` can be while its limit has this value.
int64_t most_of(const schema::Dim& dim, int64_t limit);

}  // namespace ferrule::runtime

#endif  // FERRULE_RUNTIME_PROGRAM_EXPRESSION_H_
