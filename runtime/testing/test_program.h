// A small program for the runtime's tests, made with the artifact writer and hand-made kernels: no compiler.
//
// dim batch in [1, 8]; x is float32 [batch, 4]. Variables: w (float32 [4], starts at 1, 2, 3, 4, assigned by train and
// fail), table (float32 [3, 2] in panels, starts at 10 .. 15, assigned by nobody, alias "weights"), counter (int32 [],
// 7).
//   predict(x)        -> y = 2 x + w                          [batch, 4]
//   train(x)          -> loss = sum of (2 x + w), then w += sum of x over the batch
//   evaluate(x)       -> loss as in train; correct = the rows whose first element is positive, int32
//   fail(x, index)    -> checked = index, after w += sum of x: fails if an index is 10 or more
//   check(index)      -> checked = index, without a change
//   halve(x)          -> x[:, 0] / 2                           [batch]
//   threads(x)        -> the thread of each row                [batch]
//   pair(a, b)        -> b copied; a is [batch, 4], b is [other, 4], and batch == other is recorded
// Control flow; n is int32 [], m is int64 [], flag is bool []:
//   repeat(x, n)      -> y = x, n times replaced by 2 y + w; steps = the count, int32   (a while)
//   choose(x, flag)   -> 2 (2 x + w) + w if flag, else x                                (an if)
//   scan(x)           -> y[t] = 2 x[t] + y[t + 1], from the last row up                 (a loop over rows)
//   check_each(index) -> as check, one index at a time                                  (a loop)
//   check_halves(index) -> as check, of 8 indices four at a time                        (a loop)
//   triangle(m)       -> the sum of 1 .. m - 2, counted one by one, int32; m at most 9  (a loop in a loop)
//   positive(x)       -> rows = 2 x + w where x's first element is positive [count, 4]; count, int64 []
#ifndef FERRULE_RUNTIME_TESTING_TEST_PROGRAM_H_
#define FERRULE_RUNTIME_TESTING_TEST_PROGRAM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "serialize/writer/program_description.h"

namespace ferrule::runtime::testing {

// The target that the program has code for, one that the machine of the test runs.
#if defined(__aarch64__)
inline constexpr char kTestTarget[] = "aarch64";
#else
inline constexpr char kTestTarget[] = "x86-64-v3";
#endif

enum class TestKernel : uint32_t {
  kAffine,
  kAccumulate,
  kSum,
  kCheckIndex,
  kHalve,
  kThreadOfRow,
  kCountPositive,
  kIsBelow,
  kIncrement,
  kSelectPositive,
  kWriteBeyond,    // wrong on purpose: faulty_program.h
  kReadElsewhere,  // too
  kCount
};

// `kernels`: the image that //runtime/testing:test_kernels.bin is; the default is where a test finds it.
serialize::ProgramDescription describe_test_program(const char* kernels = "runtime/testing/test_kernels.bin");

// The same where no size has a max: its memory is still that of 8 rows.
serialize::ProgramDescription describe_growing_program();

// The artifact's bytes; ends the process with a message if they cannot be made.
std::vector<uint8_t> test_artifact();
std::vector<uint8_t> to_artifact(const serialize::ProgramDescription& program);

// A path in the test's own folder.
std::string temporary_path(const std::string& name);
void write_file(const std::string& path, const std::vector<uint8_t>& bytes);
std::vector<uint8_t> read_file(const std::string& path);

}  // namespace ferrule::runtime::testing

#endif  // FERRULE_RUNTIME_TESTING_TEST_PROGRAM_H_
