#include <string>
#include <utility>

#include "catch2/catch.hpp"
#include "runtime/base/allocator.h"
#include "runtime/base/arithmetic.h"
#include "runtime/base/status.h"

namespace ferrule::runtime {

TEST_CASE("a status carries a code and a sentence, cut when it is too long") {
  CHECK(Status().ok());
  CHECK(std::string(Status().message()) == "");
  Status status = Status::error(StatusCode::kNotFound, "no entry '%s' (%d)", "main", 3);
  CHECK(status.code() == StatusCode::kNotFound);
  CHECK(std::string(status.message()) == "no entry 'main' (3)");
  status.append("; %s", "it has: predict");
  CHECK(std::string(status.message()) == "no entry 'main' (3); it has: predict");
  for (int i = 0; i < 100; ++i) status.append(" and much more than fits");
  CHECK(std::string(status.message()).size() == kStatusMessageBytes - 1);
  CHECK(std::string(status.message()).substr(kStatusMessageBytes - 4) == "...");
  Status ok;
  ok.append("nothing");
  CHECK(std::string(ok.message()) == "");
}

TEST_CASE("arithmetic on untrusted sizes says when it would wrap") {
  uint64_t result = 0;
  CHECK(checked_add<uint64_t>(1, 2, &result));
  CHECK(result == 3);
  CHECK_FALSE(checked_add<uint64_t>(UINT64_MAX, 1, &result));
  int64_t product = 0;
  CHECK_FALSE(checked_multiply<int64_t>(INT64_MAX / 2, 3, &product));
  CHECK(range_fits(4, 4, 8));
  CHECK_FALSE(range_fits(5, 4, 8));
  CHECK_FALSE(range_fits(UINT64_MAX, 2, 8));
  CHECK(checked_align(65, 64, &result));
  CHECK(result == 128);
  CHECK_FALSE(checked_align(UINT64_MAX - 3, 64, &result));
}

TEST_CASE("floor division and modulo are Python's") {
  struct Case {
    int64_t a, b, quotient, remainder;
  };
  for (const Case& c : {Case{7, 2, 3, 1}, Case{-7, 2, -4, 1}, Case{7, -2, -4, -1}, Case{-7, -2, 3, -1},
                        Case{-6, 2, -3, 0}, Case{0, 5, 0, 0}, Case{INT64_MIN, 2, INT64_MIN / 2, 0}}) {
    int64_t quotient = 0, remainder = 0;
    REQUIRE(checked_floor_divide(c.a, c.b, &quotient));
    REQUIRE(checked_floor_modulo(c.a, c.b, &remainder));
    CHECK(quotient == c.quotient);
    CHECK(remainder == c.remainder);
  }
  int64_t result = 1;
  CHECK_FALSE(checked_floor_divide(1, 0, &result));
  CHECK_FALSE(checked_floor_modulo(1, 0, &result));
  CHECK_FALSE(checked_floor_divide(INT64_MIN, -1, &result));
  CHECK(checked_floor_modulo(INT64_MIN, -1, &result));
  CHECK(result == 0);
}

namespace {

struct Counter {
  int live = 0;
};

const Allocator counting(Counter* counter) {
  return {[](void* context, size_t byte_size, size_t alignment) -> void* {
            ++static_cast<Counter*>(context)->live;
            return system_allocator().allocate(nullptr, byte_size, alignment);
          },
          [](void* context, void* pointer, size_t byte_size) {
            --static_cast<Counter*>(context)->live;
            system_allocator().deallocate(nullptr, pointer, byte_size);
          },
          counter};
}

}  // namespace

TEST_CASE("large memory begins at a huge page, small memory where it has to") {
  const Allocator& allocator = system_allocator();
  for (const auto& [bytes, alignment] :
       {std::pair(size_t{9} << 20, size_t{2} << 20), std::pair(size_t{1} << 20, size_t{64})}) {
    auto* memory = static_cast<unsigned char*>(allocator.allocate(allocator.context, bytes, 64));
    REQUIRE(memory != nullptr);
    CHECK(reinterpret_cast<uintptr_t>(memory) % alignment == 0);
    memory[0] = memory[bytes - 1] = 1;
    allocator.deallocate(allocator.context, memory, bytes);
  }
}

TEST_CASE("an array gives back what it took, and moves") {
  Counter counter;
  const Allocator allocator = counting(&counter);
  {
    Array<int32_t> first;
    REQUIRE(first.allocate_zeroed(allocator, 5, "numbers", 64).ok());
    CHECK(reinterpret_cast<uintptr_t>(first.data()) % 64 == 0);
    CHECK(first[4] == 0);
    Array<int32_t> second = std::move(first);
    CHECK(second.size() == 5);
    CHECK(first.size() == 0);
    CHECK(counter.live == 1);
    REQUIRE(second.allocate(allocator, 0, "nothing").ok());
    CHECK(counter.live == 0);
  }
  Array<int64_t> huge;
  const Status status = huge.allocate(allocator, SIZE_MAX / 4, "huge");
  CHECK(status.code() == StatusCode::kOutOfMemory);
  CHECK(counter.live == 0);
}

}  // namespace ferrule::runtime
