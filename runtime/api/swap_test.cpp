// Sessions whose memory lies in a file: same results, what is paged out when, and what can go wrong.
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "runtime/api/session_test_support.h"
#include "runtime/testing/entry_builder.h"

namespace ferrule {
namespace {

using namespace runtime::testing;

constexpr uint64_t kMiB = 1 << 20;

bool exists(const std::string& path) {
  struct stat found;
  return lstat(path.c_str(), &found) == 0;
}

Swap create_swap(const std::string& name, uint64_t byte_limit = 0) {
  Result<Swap> swap = Swap::create(temporary_path(name), byte_limit);
  INFO(swap.status().message());
  REQUIRE(swap.ok());
  return std::move(*swap);
}

Result<Session> create_in(const Program& program, const Swap& swap, const Arena& arena) {
  Session::Options options;
  options.thread_count = 1;
  options.allocator = swap.allocator();
  options.arena = &arena;
  return Session::create(program, options);
}

// keep(x) -> last, first: x copied from place to place, each 1 MiB of the arena. What the first place holds is read
// again at the end, after five instructions:
//   0: A = x  1: B = A  2: C = B  3: D = C  4: E = D  5: last = E  6: first = A    with B and D, C and E in one place
serialize::EntryDescription describe_keep() {
  EntryBuilder b("keep");
  const uint32_t batch = b.dim("batch"), zero = b.constant(0), bytes = b.times(batch, 16);
  const uint32_t x = b.rows_input("x", batch);
  const uint32_t last = b.output("last", kFloat32, {batch, b.constant(kColumns)}, bytes, 16 * kMaxBatch);
  const uint32_t first = b.output("first", kFloat32, {batch, b.constant(kColumns)}, bytes, 16 * kMaxBatch);
  const uint32_t kept = b.arena(bytes, kMiB, 0, 0, 6);
  const auto copy = [&](uint32_t target, uint32_t source) { b.copy({target, zero}, {source, zero}, bytes); };
  copy(kept, x);
  uint32_t previous = kept;
  for (uint32_t position = 1; position < 5; ++position) {
    const uint32_t next = b.arena(bytes, kMiB, kMiB + (position - 1) % 2 * kMiB, position, position + 1);
    copy(next, previous);
    previous = next;
  }
  copy(last, previous);
  copy(first, kept);
  return b.entry;
}

Program open_keep() {
  serialize::ProgramDescription description = describe_test_program();
  description.entries.push_back(describe_keep());
  description.arenas[0].byte_size = 3 * kMiB;
  const std::vector<uint8_t> bytes = to_artifact(description);
  Result<Program> program = Program::open_bytes(bytes.data(), bytes.size());
  INFO(program.status().message());
  REQUIRE(program.ok());
  return std::move(*program);
}

// KiB that smaps tells of mappings whose line contains `name`: `field` as "Rss:".
uint64_t mapped_kib(const std::string& name, const std::string& field) {
  std::ifstream smaps("/proc/self/smaps");
  std::string line;
  bool inside = false;
  uint64_t sum = 0;
  while (std::getline(smaps, line)) {
    const bool is_field = line.compare(0, field.size(), field) == 0;
    if (line.find('-') < line.find(' ')) inside = line.find(name) != std::string::npos;
    if (inside && is_field) sum += std::stoull(line.substr(field.size()));
  }
  return sum;
}

}  // namespace

TEST_CASE("training in a swap file gives the same numbers, and the file has no name") {
  const Program program = open_test_program();
  const std::string path = temporary_path("train.swap");
  Result<Swap> swap = Swap::create(path);
  REQUIRE(swap.ok());
  CHECK_FALSE(exists(path));
  Result<Arena> arena = Arena::create(swap->allocator());
  REQUIRE(arena.ok());
  Result<Session> swapped = create_in(program, *swap, *arena);
  REQUIRE(swapped.ok());
  CHECK(swap->byte_size() > 0);
  Session plain = create_session(program);
  for (int step = 0; step < 5; ++step) {
    Tensor expected, actual;
    check_ok(plain.run("train", {rows(3, static_cast<float>(step))}, {&expected}));
    check_ok(swapped->run("train", {rows(3, static_cast<float>(step))}, {&actual}));
    CHECK(floats(actual) == floats(expected));
  }
  std::vector<float> expected(4), actual(4);
  check_ok(plain.get_variable("w", expected.data(), 16));
  check_ok(swapped->get_variable("w", actual.data(), 16));
  CHECK(actual == expected);
}

TEST_CASE("under a limit what is idle for longest is written, what is dead is given up, and values stay") {
  const Program program = open_keep();
  const Swap swap = create_swap("keep.swap");
  Result<Arena> arena = Arena::create(swap.allocator());
  REQUIRE(arena.ok());
  Result<Session> session = create_in(program, swap, *arena);
  REQUIRE(session.ok());
  check_ok(session->limit_arena(swap, 2 * kMiB));
  for (uint64_t run = 1; run <= 3; ++run) {
    Tensor last, first;
    check_ok(session->run("keep", {rows(8, static_cast<float>(run))}, {&last, &first}));
    CHECK(floats(last) == floats(rows(8, static_cast<float>(run))));
    CHECK(floats(first) == floats(last));
    const FerrulePagingInfo info = session->paging_info();
    CHECK(info.resident_bytes == 2 * kMiB);
    // Of a run: the first place, while the other two are in use; these two, behind their last use.
    CHECK(info.written_bytes + info.forgotten_bytes == run * 3 * kMiB);
    CHECK(info.written_bytes >= run * kMiB);
    CHECK(info.nanoseconds > 0);
    // The last instruction used one page of the first place, with which the system maps its neighbours, up to 64 KiB; so it
    // does with those of the variables and of handles.
    CHECK(mapped_kib("keep.swap", "Rss:") <= 256);
  }
  check_ok(session->limit_arena(swap, 0));
  CHECK(session->paging_info().resident_bytes == 0);
  Tensor last, first;
  check_ok(session->run("keep", {rows(2)}, {&last, &first}));
  CHECK(floats(first) == floats(rows(2)));
}

TEST_CASE("a limit that an instruction breaks by itself is refused with the least") {
  const Program program = open_keep();
  const Swap swap = create_swap("least.swap");
  Result<Arena> arena = Arena::create(swap.allocator());
  REQUIRE(arena.ok());
  Result<Session> session = create_in(program, swap, *arena);
  REQUIRE(session.ok());
  const Status status = session->limit_arena(swap, kMiB);
  CHECK(status.code() == kFerruleInvalidArgument);
  CHECK_THAT(status.message(),
             contains("entry 'keep' cannot run with 1048576 bytes of its arena in memory: instruction 1 of 7 uses 2097152 "
                      "bytes at once (in chunks of 65536); that is the least"));
  Tensor last, first;
  check_ok(session->run("keep", {rows(2)}, {&last, &first}));
}

TEST_CASE("a limit needs an arena in the file") {
  const Program program = open_keep();
  const Swap swap = create_swap("elsewhere.swap");
  Session session = create_session(program);
  const Status status = session.limit_arena(swap, 2 * kMiB);
  CHECK(status.code() == kFerruleInvalidArgument);
  CHECK_THAT(status.message(), contains("the session's arena does not lie in the swap file"));
}

TEST_CASE("files that cannot be made are named with the system's reason") {
  const std::string missing = temporary_path("no_such_folder/x.swap");
  Result<Swap> absent = Swap::create(missing);
  const Status& no_folder = absent.status();
  CHECK(no_folder.code() == kFerruleIoError);
  CHECK_THAT(no_folder.message(),
             contains("the swap file '" + missing + "' cannot be made: No such file or directory"));

  const std::string taken = temporary_path("taken.swap");
  write_file(taken, {1, 2, 3});
  Result<Swap> second = Swap::create(taken);
  const Status& refused = second.status();
  CHECK(refused.code() == kFerruleIoError);
  CHECK_THAT(refused.message(), contains("'" + taken + "' cannot be made: File exists; name one that does not exist"));
  CHECK(read_file(taken) == std::vector<uint8_t>{1, 2, 3});
  unlink(taken.c_str());

  Result<Swap> unwritable = Swap::create("/proc/ferrule.swap");
  const Status& read_only = unwritable.status();
  CHECK(read_only.code() == kFerruleIoError);
  CHECK_THAT(read_only.message(), contains("the swap file '/proc/ferrule.swap' cannot be made"));
}

TEST_CASE("a full file refuses the session, says why, and gives its room back") {
  const Program program = open_keep();
  const Swap swap = create_swap("full.swap", 2 * kMiB);
  {
    Result<Arena> arena = Arena::create(swap.allocator());
    REQUIRE(arena.ok());
    CHECK(swap.refusal().ok());
    Result<Session> session = create_in(program, swap, *arena);
    REQUIRE_FALSE(session.ok());
    CHECK(session.status().code() == kFerruleOutOfMemory);
    CHECK_THAT(session.status().message(), contains("the arena"));
    CHECK_THAT(swap.refusal().message(), contains("the swap file may take 2097152 bytes and holds"));
  }
  CHECK(swap.byte_size() == 0);
}

}  // namespace ferrule
