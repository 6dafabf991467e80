// Sessions that grow: sizes below, at and beyond those that memory was planned for, in any order.
#include <stdlib.h>

#include "runtime/api/session_test_support.h"

namespace ferrule {
namespace {

using namespace runtime::testing;

constexpr int64_t kPlannedBatch = 8;

// Hands out memory but while it `refuses`, and counts.
struct CountingAllocator {
  bool refuses = false;
  int64_t call_count = 0, live_bytes = 0;
  FerruleAllocator c{sizeof(FerruleAllocator), this, allocate, release};

  static void* allocate(void* context, uint64_t byte_size, uint64_t alignment) {
    auto& self = *static_cast<CountingAllocator*>(context);
    ++self.call_count;
    if (self.refuses) return nullptr;
    self.live_bytes += static_cast<int64_t>(byte_size);
    return aligned_alloc(alignment < 16 ? 16 : alignment, (byte_size + alignment - 1) / alignment * alignment);
  }
  static void release(void* context, void* memory, uint64_t byte_size) {
    static_cast<CountingAllocator*>(context)->live_bytes -= static_cast<int64_t>(byte_size);
    free(memory);
  }
};

Program open_program(const serialize::ProgramDescription& description) {
  const std::vector<uint8_t> bytes = to_artifact(description);
  Result<Program> program = Program::open_bytes(bytes.data(), bytes.size());
  INFO(program.status().message());
  REQUIRE(program.ok());
  return std::move(*program);
}
Program open_growing_program() { return open_program(describe_growing_program()); }

// The growing program with room for 1,000 rows from the start: what a grown session must equal.
Program open_roomy_program() {
  serialize::ProgramDescription description = describe_growing_program();
  description.arenas[0].byte_size = 16 * 1000;
  for (auto& entry : description.entries)
    for (auto& buffer : entry.buffers)
      if (buffer.storage == serialize::Storage::kArena && buffer.planned_size == 16 * kPlannedBatch)
        buffer.planned_size = 16 * 1000;
  return open_program(description);
}

Session create_growing(const Program& program, const CountingAllocator* allocator = nullptr, uint64_t limit = 0,
                       const Arena* arena = nullptr) {
  Session::Options options;
  options.thread_count = 2;
  options.allocator = allocator == nullptr ? nullptr : &allocator->c;
  options.arena = arena;
  Result<Session> session = Session::create(program, options);
  REQUIRE(session.ok());
  check_ok(session->allow_growth(limit));
  return std::move(*session);
}

std::vector<uint8_t> bytes_of(const Tensor& tensor) {
  const auto* data = static_cast<const uint8_t*>(tensor.raw());
  return {data, data + tensor.byte_size()};
}

// The bytes of all outputs of `entry` for so many rows, some of them negative.
std::vector<uint8_t> results(Session& session, const std::string& entry, int64_t batch) {
  const bool takes_count = entry == "repeat", takes_flag = entry == "choose", has_two = takes_count || entry == "evaluate" ||
                                                                                        entry == "positive";
  const int32_t count = 3;
  const uint8_t flag = 1;
  std::vector<Tensor> inputs;
  inputs.push_back(rows(batch, -13));
  if (takes_count) inputs.push_back(Tensor::copy_of<int32_t>({}, &count));
  if (takes_flag) {
    inputs.emplace_back(FerruleDataType{6, 8, 1}, std::vector<int64_t>{});
    *static_cast<uint8_t*>(inputs.back().raw()) = flag;
  }
  std::vector<TensorView> views(inputs.begin(), inputs.end());
  Tensor first, second;
  std::vector<Tensor*> outputs = {&first};
  if (has_two) outputs.push_back(&second);
  check_ok(session.run(entry, views, outputs));
  std::vector<uint8_t> all = bytes_of(first);
  if (has_two) {
    const std::vector<uint8_t> rest = bytes_of(second);
    all.insert(all.end(), rest.begin(), rest.end());
  }
  return all;
}

const char* const kEntries[] = {"evaluate", "train", "repeat", "choose", "scan", "positive"};

}  // namespace

TEST_CASE("a session that may not grow refuses more than was planned, by name") {
  const Program program = open_growing_program();
  Session session = create_session(program);
  Tensor loss;
  check_ok(session.run("train", {rows(kPlannedBatch)}, {&loss}));
  const Status refused = session.run("train", {rows(kPlannedBatch + 1)}, {&loss});
  CHECK(refused.code() == kFerruleInvalidArgument);
  CHECK(std::string(refused.message()) ==
        "entry 'train': no memory is planned for 'batch' = 9, without a max: buffer 3 needs 144 bytes and has 128; let the "
        "session grow, or compile with a larger plan_at");
}

TEST_CASE("a grown session has the results of one with room from the start, for sizes in any order") {
  const Program growing = open_growing_program(), roomy = open_roomy_program();
  Session session = create_growing(growing), reference = create_session(roomy, 2);
  for (const int64_t batch : {1, 8, 9, 3, 100, 8, 1, 64, 1000, 2, 1000}) {
    INFO("batch " << batch);
    for (const char* entry : kEntries) {
      INFO(entry);
      CHECK(results(session, entry, batch) == results(reference, entry, batch));
    }
  }
}

TEST_CASE("what has grown stays: smaller sizes, and the same ones again, allocate nothing") {
  const Program program = open_growing_program();
  CountingAllocator allocator;
  {
    Session session = create_growing(program, &allocator);
    const uint64_t planned = session.info().arena_bytes;
    CHECK(planned == 16 * kPlannedBatch);
    for (const char* entry : kEntries) results(session, entry, 1000);
    const uint64_t grown = session.info().arena_bytes;
    CHECK(grown >= 16 * 1000);
    CHECK(grown <= 16 * 1250 + 64);
    CHECK(allocator.live_bytes < static_cast<int64_t>(grown) + 4096);  // the smaller arena has been given back
    const int64_t calls = allocator.call_count;
    for (const int64_t batch : {1, 8, 999, 500, 1000})
      for (const char* entry : kEntries) results(session, entry, batch);
    CHECK(allocator.call_count == calls);
    CHECK(session.info().arena_bytes == grown);
  }
  CHECK(allocator.live_bytes == 0);
}

TEST_CASE("sizes that creep up make the arena larger a few times only") {
  const Program program = open_growing_program();
  CountingAllocator allocator;
  Session session = create_growing(program, &allocator);
  const int64_t calls = allocator.call_count;
  for (int64_t batch = 1; batch <= 800; ++batch) results(session, "train", batch);
  // A quarter more each time: 9, 11, 14, ... 800 are 20 steps or so.
  CHECK(allocator.call_count - calls <= 24);
}

TEST_CASE("growing in the midst of a training changes no variable") {
  const Program growing = open_growing_program(), roomy = open_roomy_program();
  Session session = create_growing(growing), reference = create_session(roomy, 2);
  for (const int64_t batch : {8, 8, 20, 8, 300, 5}) {
    CHECK(results(session, "train", batch) == results(reference, "train", batch));
    std::vector<float> w(4), wanted(4);
    check_ok(session.get_variable("w", w.data(), 16));
    check_ok(reference.get_variable("w", wanted.data(), 16));
    CHECK(w == wanted);
  }
}

TEST_CASE("an allocator that refuses loses nothing, and may give later") {
  const Program program = open_growing_program();
  CountingAllocator allocator;
  Session session = create_growing(program, &allocator), reference = create_session(program);
  CHECK(results(session, "train", 8) == results(reference, "train", 8));
  const uint64_t arena = session.info().arena_bytes;
  Tensor loss;
  allocator.refuses = true;
  for (int i = 0; i < 3; ++i) {
    const Status refused = session.run("train", {rows(100)}, {&loss});
    CHECK(refused.code() == kFerruleOutOfMemory);
    CHECK_THAT(refused.message(), contains("out of memory: the arena needs 1600 "));
    CHECK_THAT(refused.message(), contains(", for entry 'train' with 'batch' = 100"));
    CHECK(session.info().arena_bytes == arena);
    CHECK(session.info().state_complete == 1);
    CHECK(results(session, "train", 8) == results(reference, "train", 8));
  }
  allocator.refuses = false;
  check_ok(session.run("train", {rows(100)}, {&loss}));
  CHECK(session.info().arena_bytes > arena);
}

TEST_CASE("a limit ends the growth, with just what a call needs where a quarter more is too much") {
  const Program program = open_growing_program();
  Session session = create_growing(program, nullptr, 16 * 100);
  results(session, "train", 100);
  CHECK(session.info().arena_bytes == 16 * 100);
  Tensor loss;
  const Status refused = session.run("train", {rows(101)}, {&loss});
  CHECK(refused.code() == kFerruleOutOfMemory);
  CHECK(std::string(refused.message()) ==
        "out of memory: the arena needs 1664 bytes; allowed are 1600, for entry 'train' with 'batch' = 101");
  results(session, "train", 100);
  check_ok(session.allow_growth(16 * 104));
  results(session, "train", 101);
  CHECK(session.info().arena_bytes == 16 * 104);
}

TEST_CASE("a call that is wrong in another way does not make the session grow") {
  serialize::ProgramDescription description = describe_growing_program();
  for (auto& dim : description.entries[1].dims) dim.multiple_of = 2;  // of train
  // The loop over rows may run 8 times, whatever the size of x.
  for (auto& entry : description.entries)
    if (entry.name == "scan") entry.dims[1].max = kPlannedBatch - 1;
  const Program program = open_program(description);
  Session session = create_growing(program);
  const uint64_t arena = session.info().arena_bytes;
  Tensor out;
  CHECK_THAT(session.run("train", {rows(101)}, {&out}).message(), contains("'batch' is 101; allowed is 1 or more in"));
  CHECK_THAT(session.run("scan", {rows(101)}, {&out}).message(), contains("runs 101 times; allowed is 0 to 8"));
  CHECK(session.info().arena_bytes == arena);
}

TEST_CASE("ferrule_session_output_shapes makes room for the run behind it") {
  const Program program = open_growing_program();
  Session session = create_growing(program);
  const Tensor x = rows(100);
  const FerruleTensor input = TensorView(x).c();
  FerruleTensor output{};
  output.struct_size = sizeof(output);
  check_ok(Status(ferrule_session_output_shapes(session.c(), "train", &input, 1, &output, 1)));
  const uint64_t arena = session.info().arena_bytes;
  CHECK(arena >= 1600);
  results(session, "train", 100);
  CHECK(session.info().arena_bytes == arena);
}

TEST_CASE("sessions that share an arena grow it for one another") {
  const Program program = open_growing_program(), roomy = open_roomy_program();
  CountingAllocator allocator;
  Result<Arena> arena = Arena::create(&allocator.c);
  REQUIRE(arena.ok());
  Session first = create_growing(program, nullptr, 0, &*arena), second = create_growing(program, nullptr, 0, &*arena);
  Session reference = create_session(roomy, 2);
  results(first, "evaluate", 100);
  const uint64_t grown = arena->info().arena_bytes;
  const int64_t calls = allocator.call_count;
  for (const int64_t batch : {100, 8, 50}) {
    CHECK(results(second, "choose", batch) == results(reference, "choose", batch));
    CHECK(results(first, "choose", batch) == results(reference, "choose", batch));
  }
  CHECK(arena->info().arena_bytes == grown);
  CHECK(allocator.call_count == calls);
}

TEST_CASE("growing and a limit of what is in memory exclude each other") {
  const Program program = open_growing_program();
  Result<Swap> swap = Swap::create(temporary_path("growth.swap"));
  REQUIRE(swap.ok());
  Result<Arena> arena = Arena::create(swap->allocator());
  REQUIRE(arena.ok());
  Session growing = create_growing(program, nullptr, 0, &*arena);
  const Status limited = growing.limit_arena(*swap, 1 << 20);
  CHECK(limited.code() == kFerruleFailedPrecondition);
  CHECK_THAT(limited.message(), contains("the arena of a session that grows cannot be limited"));

  Session::Options options;
  options.arena = &*arena;
  Result<Session> paged = Session::create(program, options);
  REQUIRE(paged.ok());
  check_ok(paged->limit_arena(*swap, 1 << 20));
  const Status grows = paged->allow_growth();
  CHECK(grows.code() == kFerruleFailedPrecondition);
  CHECK_THAT(grows.message(), contains("a session whose arena has a limit in memory does not grow"));
}

}  // namespace ferrule
