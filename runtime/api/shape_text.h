// Shapes for people: "[batch, 1, 2*height - 1]".
#ifndef FERRULE_RUNTIME_API_SHAPE_TEXT_H_
#define FERRULE_RUNTIME_API_SHAPE_TEXT_H_

#include <stddef.h>

#include "serialize/schema/program_schema.h"

namespace ferrule::runtime {

// Writes at most `capacity` bytes, the closing zero included. Sizes that are too long or too deep become "...".
void write_shape_text(const schema::Entry& entry, const schema::TensorSpec& spec, char* out, size_t capacity);

}  // namespace ferrule::runtime

#endif  // FERRULE_RUNTIME_API_SHAPE_TEXT_H_
