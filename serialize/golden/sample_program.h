// A small program that uses every table of the schema, written by hand: the golden file's contents, and what the tests
// of the format and of the runtime's loader edit.
//
//   double_twice(x[batch]) -> y[batch] = 4 x   two calls of the kernel `double` over an arena buffer
//   store(x[3, 2])                             copies x into the variable `position`
//   double_some(x[batch], steps: int64[], undo: bool[]) -> y[steps]
//                                              the first `steps` elements, doubled unless `undo`: every kind of control
//                                              flow and of dim
//
// Targets: x86-64 and x86-64-v2 with the same real code, and aarch64 with one that no x86 machine can run.
#ifndef FERRULE_SERIALIZE_GOLDEN_SAMPLE_PROGRAM_H_
#define FERRULE_SERIALIZE_GOLDEN_SAMPLE_PROGRAM_H_

#include "serialize/writer/program_description.h"

namespace ferrule::serialize {

ProgramDescription sample_program();

}  // namespace ferrule::serialize

#endif  // FERRULE_SERIALIZE_GOLDEN_SAMPLE_PROGRAM_H_
