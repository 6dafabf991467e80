// The generated flatbuffers reader of an artifact's metadata. Include this, not program_generated.h.
//
// The build defines FLATBUFFERS_ASSERT away (the library's `defines`): nothing in the runtime aborts. What the
// assertions would catch is checked first, by runtime/program.
#ifndef FERRULE_SERIALIZE_SCHEMA_PROGRAM_SCHEMA_H_
#define FERRULE_SERIALIZE_SCHEMA_PROGRAM_SCHEMA_H_

#ifndef FLATBUFFERS_ASSERT
#error "FLATBUFFERS_ASSERT must be defined away: depend on //serialize/schema"
#endif

#include "serialize/schema/program_generated.h"

namespace ferrule::schema {

inline constexpr char kDebugIdentifier[] = "FERD";

}  // namespace ferrule::schema

#endif  // FERRULE_SERIALIZE_SCHEMA_PROGRAM_SCHEMA_H_
