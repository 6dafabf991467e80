// A program whose plan is sound and whose kernels break it: what a check of memory has to find. Beside the entries of
// the test program it has, with x float32 [batch, 4] of one row or more and an arena of 256 bytes:
//   into_live(x)    -> y = 2 (2 x + w) + w; a kernel writes over a buffer that is read later
//   into_gap(x)     -> the same; a kernel writes behind its output, where nothing lies
//   past_arena(x)   -> the same; a kernel writes behind the arena
//   into_variable(x) -> the same, and w becomes the sum of x and w; a kernel writes behind w
//   reads_freed(x)  -> z = a number that a buffer held which is no longer live
//   reads_past(x)   -> z = a number behind the input
#ifndef FERRULE_RUNTIME_TESTING_FAULTY_PROGRAM_H_
#define FERRULE_RUNTIME_TESTING_FAULTY_PROGRAM_H_

#include "runtime/testing/test_program.h"

namespace ferrule::runtime::testing {

serialize::ProgramDescription describe_faulty_program(const char* kernels = "runtime/testing/test_kernels.bin");

}  // namespace ferrule::runtime::testing

#endif  // FERRULE_RUNTIME_TESTING_FAULTY_PROGRAM_H_
