#include "runtime/check/memory_check.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <memory>

#include "catch2/catch.hpp"
#include "runtime/api/handles.h"
#include "runtime/api/ferrule.hpp"
#include "runtime/check/guarded_allocator.h"
#include "runtime/testing/faulty_program.h"

namespace ferrule::runtime {
namespace {

using Catch::Matchers::Contains;

const FerruleAllocator kGuarded = {
    sizeof(FerruleAllocator), nullptr,
    [](void*, uint64_t byte_size, uint64_t alignment) {
      return guarded_allocator().allocate(nullptr, byte_size, alignment);
    },
    [](void*, void* memory, uint64_t byte_size) { guarded_allocator().deallocate(nullptr, memory, byte_size); }};

ferrule::Program open_faulty() {
  const std::vector<uint8_t> bytes = testing::to_artifact(testing::describe_faulty_program());
  Result<ferrule::Program> program = ferrule::Program::open_bytes(bytes.data(), bytes.size());
  INFO(program.status().message());
  REQUIRE(program.ok());
  return std::move(*program);
}

ferrule::Session create(const ferrule::Program& program, uint32_t threads = 1) {
  ferrule::Session::Options options;
  options.thread_count = threads;
  options.allocator = &kGuarded;
  Result<ferrule::Session> session = ferrule::Session::create(program, options);
  REQUIRE(session.ok());
  return std::move(*session);
}

Tensor rows(int64_t batch) {
  Tensor tensor(DataTypeOf<float>::value, {batch, 4});
  for (int64_t i = 0; i < batch * 4; ++i) tensor.data<float>()[i] = static_cast<float>(i);
  return tensor;
}

Tensor integer(int32_t value) { return Tensor::copy_of<int32_t>({}, &value); }

}  // namespace

TEST_CASE("what keeps to its plan passes, with loops, branches and late sizes, and gives the same results") {
  const ferrule::Program program = open_faulty();
  for (uint32_t threads : {1u, 3u}) {
    ferrule::Session plain = create(program, threads), checked = create(program, threads);
    MemoryCheck check(*checked.c()->session);
    const auto same = [&](const char* entry, std::vector<TensorView> inputs, size_t output_count) {
      std::vector<Tensor> wanted(output_count), found(output_count);
      std::vector<Tensor*> first, second;
      for (size_t i = 0; i < output_count; ++i) {
        first.push_back(&wanted[i]);
        second.push_back(&found[i]);
      }
      REQUIRE(plain.run(entry, inputs, first).ok());
      const Status status(checked.run(entry, inputs, second).ok() ? Status() : Status::error(StatusCode::kInternal, "%s", entry));
      INFO(entry);
      REQUIRE(status.ok());
      for (size_t i = 0; i < output_count; ++i) {
        REQUIRE(wanted[i].byte_size() == found[i].byte_size());
        CHECK(std::memcmp(wanted[i].raw(), found[i].raw(), found[i].byte_size()) == 0);
      }
    };
    const Tensor x = rows(5), n = integer(4);
    const bool yes = true;
    const Tensor flag = Tensor::copy_of<bool>({}, &yes);
    const int64_t seven = 7;
    const Tensor m = Tensor::copy_of<int64_t>({}, &seven);
    same("predict", {x}, 1);
    same("train", {x}, 1);
    same("train", {x}, 1);
    same("evaluate", {x}, 2);
    same("repeat", {x, n}, 2);
    same("choose", {x, flag}, 1);
    same("scan", {x}, 1);
    same("triangle", {m}, 1);
    same("positive", {x}, 2);
    CHECK(check.instruction_count() > 20);
  }
}

TEST_CASE("used bytes reach the plan at the largest sizes, and stay below it at others") {
  const ferrule::Program program = open_faulty();
  ferrule::Session session = create(program);
  MemoryCheck check(*session.c()->session);
  Tensor loss;
  REQUIRE(session.run("train", {rows(3)}, {&loss}).ok());
  CHECK(check.used_bytes() == 64);  // 48, rounded up
  REQUIRE(session.run("train", {rows(8)}, {&loss}).ok());
  CHECK(check.used_bytes() == program.entry(*program.find_entry("train")).peak_bytes);
}

TEST_CASE("a kernel that writes what is not its output is caught, and the sentence says whose bytes they are") {
  const ferrule::Program program = open_faulty();
  Tensor y;
  const auto caught = [&](const char* entry, std::vector<const char*> parts) {
    // Without the check nobody notices.
    ferrule::Session plain = create(program);
    REQUIRE(plain.run(entry, {rows(2)}, {&y}).ok());
    ferrule::Session session = create(program);
    MemoryCheck check(*session.c()->session);
    const ferrule::Status status = session.run(entry, {rows(2)}, {&y});
    INFO(status.message());
    CHECK(status.code() == kFerruleInternal);
    for (const char* part : parts) CHECK_THAT(status.message(), Contains(part));
  };
  // 20 floats to the 64 bytes at 64: bytes 128 to 144 are those of `first`.
  caught("into_live", {"into_live", "kernel 'write_beyond' at model.py:12 changed byte 128 of the arena",
                       "of buffer 'first'; it may write bytes 64 to 128"});
  caught("into_gap", {"into_gap", "changed byte 16 of the arena, which no buffer uses then; it may write bytes 0 to 16"});
}

TEST_CASE("what reads bytes that are no longer live gets NaN") {
  const ferrule::Program program = open_faulty();
  ferrule::Session plain = create(program), session = create(program);
  MemoryCheck check(*session.c()->session);
  Tensor wanted, found;
  REQUIRE(plain.run("reads_freed", {rows(2)}, {&wanted}).ok());
  REQUIRE(session.run("reads_freed", {rows(2)}, {&found}).ok());
  CHECK(*wanted.data<float>() == 1);  // 2 * 0 + 1 is still there
  CHECK(*found.data<float>() != *found.data<float>());
}

TEST_CASE("the check leaves when it is destroyed") {
  const ferrule::Program program = open_faulty();
  ferrule::Session session = create(program);
  Tensor y;
  {
    MemoryCheck check(*session.c()->session);
    CHECK_FALSE(session.run("into_gap", {rows(2)}, {&y}).ok());
    CHECK_THAT(check.current(), Contains("entry 'into_gap', kernel 'write_beyond' at model.py:12"));
  }
  CHECK(session.run("into_gap", {rows(2)}, {&y}).ok());
}

TEST_CASE("guarded blocks: aligned, flush with the page behind, zero, and what touches a guard ends") {
  const Allocator& allocator = guarded_allocator();
  for (size_t bytes : {size_t{64}, size_t{4096}, size_t{10240}, size_t{1} << 20}) {
    auto* memory = static_cast<uint8_t*>(allocator.allocate(nullptr, bytes, 64));
    REQUIRE(memory != nullptr);
    CHECK(reinterpret_cast<uintptr_t>(memory) % 64 == 0);
    CHECK((reinterpret_cast<uintptr_t>(memory) + bytes) % 4096 == 0);
    CHECK(memory[0] == 0);
    memory[0] = memory[bytes - 1] = 1;
    const pid_t child = fork();
    if (child == 0) {
      signal(SIGSEGV, SIG_DFL);  // not the test framework
      static_cast<volatile uint8_t*>(memory)[bytes] = 1;
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(WIFSIGNALED(status));
    allocator.deallocate(nullptr, memory, bytes);
  }
  CHECK(allocator.allocate(nullptr, 0, 64) == nullptr);
  CHECK(allocator.allocate(nullptr, 64, 1 << 20) == nullptr);
}

}  // namespace ferrule::runtime
