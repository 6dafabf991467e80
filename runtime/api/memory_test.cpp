// Memory at run time: what a session takes and when, what it gives back, and arenas that sessions share.
#include <stdlib.h>

#include <atomic>
#include <memory>
#include <set>

#include "runtime/api/session_test_support.h"

// Counts every allocation of the process by the C library.
extern "C" void* __libc_malloc(size_t);
extern "C" void* __libc_memalign(size_t, size_t);
static std::atomic<int64_t> g_allocations{0};
extern "C" void* malloc(size_t size) {
  g_allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_malloc(size);
}
extern "C" int posix_memalign(void** out_memory, size_t alignment, size_t size) {
  g_allocations.fetch_add(1, std::memory_order_relaxed);
  *out_memory = __libc_memalign(alignment, size);
  return *out_memory == nullptr ? 12 : 0;  // ENOMEM
}

namespace ferrule {
namespace {

using namespace runtime::testing;

// Hands out memory, but for call number `refused_call`, and knows what is out.
struct CountingAllocator {
  int64_t refused_call = -1;
  int64_t call_count = 0, live_bytes = 0, peak_bytes = 0;
  FerruleAllocator c{sizeof(FerruleAllocator), this, allocate, release};

  static void* allocate(void* context, uint64_t byte_size, uint64_t alignment) {
    auto& self = *static_cast<CountingAllocator*>(context);
    if (self.call_count++ == self.refused_call) return nullptr;
    self.live_bytes += static_cast<int64_t>(byte_size);
    if (self.live_bytes > self.peak_bytes) self.peak_bytes = self.live_bytes;
    return __libc_memalign(alignment < 16 ? 16 : alignment, byte_size);
  }
  static void release(void* context, void* memory, uint64_t byte_size) {
    static_cast<CountingAllocator*>(context)->live_bytes -= static_cast<int64_t>(byte_size);
    free(memory);
  }
};

Result<Session> create_with(const Program& program, const CountingAllocator* allocator, const Arena* arena = nullptr,
                            const FerruleThreadPool* pool = nullptr) {
  Session::Options options;
  options.thread_count = 2;
  options.allocator = allocator == nullptr ? nullptr : &allocator->c;
  options.arena = arena;
  options.thread_pool = pool;
  return Session::create(program, options);
}

// The test program with an arena of so many bytes.
Program program_with_arena(uint64_t byte_size) {
  serialize::ProgramDescription description = describe_test_program();
  description.arenas[0].byte_size = byte_size;
  const std::vector<uint8_t> bytes = to_artifact(description);
  Result<Program> program = Program::open_bytes(bytes.data(), bytes.size());
  REQUIRE(program.ok());
  return std::move(*program);
}

// Runs an entry into views of the session's memory.
void run_into_views(const Session& session, const char* entry, const Tensor& x, uint32_t output_count) {
  const FerruleTensor input = TensorView(x).c();
  FerruleTensor outputs[2] = {};
  for (FerruleTensor& output : outputs) output.struct_size = sizeof(output);
  check_ok(Status(ferrule_session_run(session.c(), entry, &input, 1, outputs, output_count)));
}

}  // namespace

TEST_CASE("a session takes its memory when it is created, none while it runs, and gives all of it back") {
  const Program program = open_test_program();
  CountingAllocator allocator;
  {
    Result<Session> session = create_with(program, &allocator);
    REQUIRE(session.ok());
    const FerruleSessionInfo info = session->info();
    CHECK(allocator.live_bytes >=
          static_cast<int64_t>(info.arena_bytes + info.scratch_bytes + info.variable_bytes));
    CHECK(info.arena_bytes == program.info().arena_bytes);
    const Tensor x = rows(8);
    const FerruleTensor input = TensorView(x).c();
    float loss;
    FerruleTensor output{};
    output.struct_size = sizeof(output);
    const int64_t calls = allocator.call_count, mallocs = g_allocations.load();
    for (int i = 0; i < 100; ++i) {
      output.data = &loss;
      output.byte_size = sizeof(loss);
      FerruleStatus* status = ferrule_session_run(session->c(), "train", &input, 1, &output, 1);
      if (status != nullptr) FAIL(ferrule_status_message(status));
    }
    CHECK(allocator.call_count == calls);
    CHECK(g_allocations.load() == mallocs);
  }
  CHECK(allocator.live_bytes == 0);
}

TEST_CASE("1,000 runs over 56 shapes hold at what the largest takes") {
  const Program program = open_test_program();
  const struct {
    const char* name;
    uint32_t outputs;
  } entries[] = {{"predict", 1}, {"train", 1}, {"evaluate", 2}, {"halve", 1}, {"threads", 1}, {"scan", 1}, {"positive", 2}};
  // What the views of all entries at the largest batch take, which no other shape exceeds.
  CountingAllocator largest;
  Result<Session> one = create_with(program, &largest);
  REQUIRE(one.ok());
  for (const auto& entry : entries) run_into_views(*one, entry.name, rows(8), entry.outputs);

  CountingAllocator allocator;
  Result<Session> session = create_with(program, &allocator);
  REQUIRE(session.ok());
  std::set<std::pair<const char*, int64_t>> shapes;
  for (int i = 0; i < 1000; ++i) {
    const auto& entry = entries[i * 3 % 7];
    const int64_t batch = 1 + i * 5 % 8;
    shapes.emplace(entry.name, batch);
    run_into_views(*session, entry.name, rows(batch, static_cast<float>(-batch)), entry.outputs);
    CHECK(allocator.live_bytes <= largest.live_bytes);
  }
  CHECK(shapes.size() == 56);
  CHECK(allocator.live_bytes == largest.live_bytes);
  const int64_t calls = allocator.call_count;
  for (int64_t batch = 1; batch <= 8; ++batch) run_into_views(*session, "predict", rows(batch), 1);
  CHECK(allocator.call_count == calls);
}

TEST_CASE("creation fails cleanly at each allocation, of its own memory and of a shared arena's") {
  const Program program = open_test_program();
  for (const bool shared : {false, true}) {
    bool created = false;
    int64_t refused = 0;
    for (; !created; ++refused) {
      REQUIRE(refused < 100);
      CountingAllocator allocator;
      allocator.refused_call = refused;
      {
        Result<Arena> arena = Arena::create(shared ? &allocator.c : nullptr);
        if (!arena) {
          CHECK(arena.status().code() == kFerruleOutOfMemory);
          continue;
        }
        Result<Session> session = create_with(program, shared ? nullptr : &allocator, shared ? &*arena : nullptr);
        created = session.ok();
        if (!created) CHECK(session.status().code() == kFerruleOutOfMemory);
      }
      CHECK(allocator.live_bytes == 0);
    }
    CHECK(refused > (shared ? 3 : 10));
  }
}

TEST_CASE("sessions of several programs run in turn in one arena, as large as the largest needs") {
  const Program small = program_with_arena(128), large = program_with_arena(1 << 20);
  CountingAllocator allocator;
  Result<Arena> arena = Arena::create(&allocator.c);
  REQUIRE(arena.ok());
  CHECK(arena->info().arena_bytes == 0);
  Result<Session> first = create_with(small, nullptr, &*arena);
  REQUIRE(first.ok());
  CHECK(arena->info().arena_bytes == 128);
  Result<Session> second = create_with(large, nullptr, &*arena), third = create_with(small, nullptr, &*arena);
  REQUIRE(second.ok());
  REQUIRE(third.ok());
  CHECK(arena->info().arena_bytes == 1 << 20);
  CHECK(arena->info().scratch_bytes == first->info().scratch_bytes);
  CHECK(first->info().arena_bytes == 1 << 20);
  CHECK(allocator.live_bytes < (1 << 20) + 4096);

  const Session alone = create_session(small);
  for (Session* session : {&*first, &*second, &*third, &*first}) {
    Tensor loss, correct;
    check_ok(session->run("evaluate", {rows(3)}, {&loss, &correct}));
    CHECK(floats(loss) == std::vector<float>{2 * 66 + 3 * 10});
  }
  // Training in one leaves the others' variables alone.
  Tensor loss;
  check_ok(first->run("train", {rows(2)}, {&loss}));
  std::vector<float> w(4);
  check_ok(third->get_variable("w", w.data(), 16));
  CHECK(w == std::vector<float>{1, 2, 3, 4});
}

TEST_CASE("the memory of an arena lives as long as the handle or a session, and then returns") {
  const Program program = open_test_program();
  CountingAllocator allocator;
  {
    auto arena = std::make_unique<Result<Arena>>(Arena::create(&allocator.c));
    Result<Session> session = create_with(program, nullptr, &**arena);
    REQUIRE(session.ok());
    arena.reset();
    Tensor y;
    check_ok(session->run("predict", {rows(2)}, {&y}));
    CHECK(allocator.live_bytes > 0);
  }
  CHECK(allocator.live_bytes == 0);
}

TEST_CASE("a second run in an arena that is in use is refused, the first goes on") {
  const Program program = open_test_program(), large = program_with_arena(1 << 20);
  Result<Arena> arena = Arena::create();
  REQUIRE(arena.ok());
  Result<Session> other = create_with(program, nullptr, &*arena);
  REQUIRE(other.ok());
  // The pool of the first session lets others have their try in the midst of its run.
  struct Attempts {
    Session* other;
    const Program* large;
    const Arena* arena;
    std::vector<std::pair<FerruleStatusCode, std::string>> refused;
  } attempts{&*other, &large, &*arena, {}};
  FerruleThreadPool pool{};
  pool.struct_size = sizeof(pool);
  pool.context = &attempts;
  pool.thread_count = 2;
  pool.parallel_for = [](void* context, uint32_t count, void (*body)(void*, uint32_t), void* body_context) {
    auto& tried = *static_cast<Attempts*>(context);
    Tensor y;
    const Status run = tried.other->run("predict", {rows(2)}, {&y});
    const Result<Session> created = create_with(*tried.large, nullptr, tried.arena);
    tried.refused = {{run.code(), run.message()}, {created.status().code(), created.status().message()}};
    for (uint32_t i = 0; i < count; ++i) body(body_context, i);
  };
  Result<Session> first = create_with(program, nullptr, &*arena, &pool);
  REQUIRE(first.ok());
  Tensor y;
  check_ok(first->run("predict", {rows(2)}, {&y}));
  CHECK(floats(y)[7] == 2 * 7 + 4);
  REQUIRE(attempts.refused.size() == 2);
  for (const auto& [code, sentence] : attempts.refused) CHECK(code == kFerruleFailedPrecondition);
  CHECK_THAT(attempts.refused[0].second,
             contains("entry 'predict' does not run: another session is running in the arena that they share"));
  CHECK_THAT(attempts.refused[1].second, contains("the arena is not made larger: another session is running"));
  // Afterwards both do.
  check_ok(other->run("predict", {rows(2)}, {&y}));
  CHECK(create_with(large, nullptr, &*arena).ok());
}

TEST_CASE("an arena that cannot grow stays as it is") {
  const Program small = program_with_arena(128), large = program_with_arena(1 << 20);
  CountingAllocator allocator;
  Result<Arena> arena = Arena::create(&allocator.c);
  REQUIRE(arena.ok());
  Result<Session> session = create_with(small, nullptr, &*arena);
  REQUIRE(session.ok());
  allocator.refused_call = allocator.call_count;
  const Result<Session> refused = create_with(large, nullptr, &*arena);
  CHECK(refused.status().code() == kFerruleOutOfMemory);
  CHECK_THAT(refused.status().message(), contains("the arena needs"));
  CHECK(arena->info().arena_bytes == 128);
  Tensor loss;
  check_ok(session->run("train", {rows(2)}, {&loss}));
  FerruleAllocator broken{};
  broken.struct_size = sizeof(broken);
  CHECK_THAT(Arena::create(&broken).status().message(), contains("lacks `allocate`"));
}

}  // namespace ferrule
