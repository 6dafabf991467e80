// One wrong program a rule about blocks and about dims that get a value while running.
#include <algorithm>
#include <functional>
#include <random>

#include "catch2/catch.hpp"
#include "runtime/program/refusal.h"

namespace ferrule::runtime {
namespace {

using serialize::BufferDescription;
using serialize::DimSource;
using serialize::EntryDescription;
using serialize::ExpressionKind;
using serialize::InstructionDescription;
using serialize::ProgramDescription;
using serialize::sample_program;
using serialize::Storage;
using Kind = InstructionDescription::Kind;
using Spoil = std::function<void(EntryDescription&)>;

// The entry double_some, with an arena that has room for one buffer more at byte 128. Instructions of its block 0:
// bind steps, copy, loop (block 1), if (blocks 2 and 3), while (blocks 4 and 5), copy.
std::string entry_refusal(const Spoil& spoil) {
  return refusal([&](ProgramDescription& program) {
    program.arenas[0].byte_size = 256;
    spoil(program.entries[2]);
  });
}

std::string opening_error(const Spoil& change) {
  ProgramDescription description = sample_program();
  description.arenas[0].byte_size = 256;
  change(description.entries[2]);
  std::string error;
  const ProgramPointer program = open_description(description, &error);
  CHECK((program == nullptr) == !error.empty());
  return error;
}

InstructionDescription& instruction(EntryDescription& entry, uint32_t block, uint32_t position) {
  return entry.blocks[block].instructions[position];
}

InstructionDescription copy(uint32_t target, uint32_t source) {
  InstructionDescription copy;
  copy.kind = Kind::kCopy;
  copy.operands = {{target, 1}, {source, 1}};
  copy.byte_size = 3;
  return copy;
}

InstructionDescription branch(uint32_t then_block, uint32_t else_block) {
  InstructionDescription branch;
  branch.kind = Kind::kIf;
  branch.operands = {{2, 1}};
  branch.blocks = {then_block, else_block};
  return branch;
}

constexpr auto contains = [](const std::string& text) { return Catch::Matchers::Contains(text); };

}  // namespace

TEST_CASE("each block belongs to one instruction, in the order of the walk") {
  const std::string walk = "entry 'double_some': the walk through its blocks meets block ";
  CHECK(entry_refusal([](auto& e) { instruction(e, 0, 3).blocks = {2, 2}; }) == walk + "2; expected is 3 of 6");
  CHECK(entry_refusal([](auto& e) { instruction(e, 0, 3).blocks = {3, 2}; }) == walk + "3; expected is 2 of 6");
  CHECK(entry_refusal([](auto& e) { instruction(e, 0, 4).blocks = {4, 0}; }) == walk + "0; expected is 5 of 6");
  CHECK(entry_refusal([](auto& e) { instruction(e, 0, 4).blocks = {4, 99}; }) == walk + "99; expected is 5 of 6");
  CHECK(entry_refusal([](auto& e) { instruction(e, 0, 2).blocks = {2}; }) == walk + "2; expected is 1 of 6");
  CHECK(entry_refusal([](auto& e) { e.blocks.pop_back(); }) == walk + "5; expected is 5 of 5");
  CHECK(entry_refusal([](auto& e) { e.blocks.emplace_back(); }) ==
        "entry 'double_some': block 6 belongs to no instruction");
  CHECK(entry_refusal([](auto& e) { e.blocks.clear(); }) == "entry 'double_some': there are 0 blocks");
}

TEST_CASE("blocks lie 64 deep at most") {
  const auto nest = [](uint32_t depth) {
    return [depth](EntryDescription& e) {
      // Block 5 is the last: below it, `depth - 1` branches in branches, their other blocks behind them.
      uint32_t block = 5;
      e.blocks[5].instructions.clear();
      for (uint32_t i = 1; i < depth; ++i) {
        e.blocks[block].instructions.push_back(branch(block + 1, 6 + 2 * (depth - 1) - 1 - (i - 1)));
        e.blocks.emplace_back();
        ++block;
      }
      e.blocks.resize(6 + 2 * (depth - 1));
    };
  };
  CHECK(opening_error(nest(3)) == "");
  CHECK(opening_error(nest(64)) == "");
  CHECK_THAT(opening_error(nest(65)), contains("entry 'double_some': block 69 lies too deep"));
}

TEST_CASE("each dim has one source") {
  CHECK_THAT(entry_refusal([](auto& e) { e.dims[1].source = static_cast<DimSource>(3); }),
             contains("the source of a dim at position 1 is 3; it must be below 3"));
  CHECK(entry_refusal([](auto& e) { e.dims[1].min = 1; }) ==
        "entry 'double_some': dim 'step' counts a loop, but not from 0 in steps of 1");
  CHECK(entry_refusal([](auto& e) { e.dims[1].multiple_of = 2; }) ==
        "entry 'double_some': dim 'step' counts a loop, but not from 0 in steps of 1");
  CHECK(entry_refusal([](auto& e) { e.dims[1].limit = 2; }) ==
        "entry 'double_some': dim 'step' has a limit, but no instruction reads it");
  CHECK(entry_refusal([](auto& e) { e.dims.push_back({"late"}); }) ==
        "entry 'double_some': dim 'late' is an input's, but stands behind one that is not");
  CHECK(entry_refusal([](auto& e) {
          e.dims.push_back({"more", 0, 7, 1, DimSource::kIteration});
        }) == "entry 'double_some': no instruction binds the dim 'more'");
  CHECK(entry_refusal([](auto& e) { e.blocks[5].instructions.push_back(instruction(e, 0, 0)); }) ==
        "entry 'double_some': two instructions bind the dim 'steps'");
  CHECK(entry_refusal([](auto& e) { instruction(e, 0, 2).dim = 2; }) ==
        "entry 'double_some': the dim 'steps' is bound by an instruction that is not its source");
  CHECK(entry_refusal([](auto& e) { instruction(e, 0, 2).dim = 0; }) ==
        "entry 'double_some': the dim 'batch' is bound by an instruction that is not its source");
  CHECK(entry_refusal([](auto& e) { instruction(e, 0, 0).dim = 1; }) ==
        "entry 'double_some': the dim 'step' is bound by an instruction that is not its source");
  CHECK(entry_refusal([](auto& e) { instruction(e, 0, 2).dim = 3; }) ==
        "entry 'double_some': an instruction gives a value to dim 3, which does not exist");
}

TEST_CASE("a limit is known where its dim is bound, and stands before what is evaluated with it") {
  CHECK_THAT(entry_refusal([](auto& e) { e.dims[2].limit = 11; }), contains("the limit of a dim at position 2 is 11"));
  CHECK(entry_refusal([](auto& e) { e.dims[2].limit = 8; }) ==
        "entry 'double_some': the limit of the dim 'steps' has no value where the dim is bound");
  CHECK(entry_refusal([](auto& e) {
          e.expressions.push_back({ExpressionKind::kConstant, 0, 0, 8});
          e.dims[2].limit = 11;
        }) == "entry 'double_some': the limit of the dim 'steps' stands behind an expression of the dim");
}

TEST_CASE("an expression is used only where its dims have values") {
  // Expression 7 is the dim that instruction 0 reads, 10 an offset over the dim of the loop.
  CHECK(entry_refusal([](auto& e) { instruction(e, 0, 5).operands[0].offset = 10; }) ==
        "entry 'double_some': the offset of an operand at position 5 is expression 10, whose dims have no value there");
  CHECK(entry_refusal([](auto& e) { instruction(e, 5, 0).tiles = 9; }) ==
        "entry 'double_some': the tile count of a call at position 0 of block 5 is expression 9, whose dims have no "
        "value there");
  CHECK_THAT(entry_refusal([](auto& e) { instruction(e, 5, 0).dims = {9}; }),
             contains("a dim of a call at position 0"));
  CHECK_THAT(entry_refusal([](auto& e) { instruction(e, 4, 0).byte_size = 9; }),
             contains("the size of a copy at position 0 of block 4"));
  CHECK_THAT(entry_refusal([](auto& e) { instruction(e, 0, 2).count = 9; }),
             contains("the count of a loop at position 2"));
  CHECK_THAT(entry_refusal([](auto& e) { std::swap(instruction(e, 0, 0), instruction(e, 0, 2)); }),
             contains("the count of a loop at position 0 is expression 7"));
  CHECK_THAT(entry_refusal([](auto& e) { e.inputs[0].shape = {7}; }),
             contains("a dim of an input at position 0 is expression 7"));
  CHECK_THAT(entry_refusal([](auto& e) { e.outputs[0].shape = {9}; }),
             contains("a dim of an output at position 0 is expression 9"));
  // A dim of the while's body and the loop's: at no time has both.
  const auto bind_below = [](EntryDescription& e) {
    e.dims.push_back({"late", 0, 8, 1, DimSource::kInstruction, 0});
    e.expressions.push_back({ExpressionKind::kDim, 0, 0, 3});
    e.expressions.push_back({ExpressionKind::kAdd, 9, 11, 0});
    e.blocks[5].instructions.push_back(instruction(e, 0, 0));
    e.blocks[5].instructions.back().dim = 3;
  };
  CHECK(opening_error(bind_below) == "");
  CHECK_THAT(entry_refusal([&](auto& e) {
               bind_below(e);
               e.equalities = {{9, 11, 0}};
             }),
             contains("the right side of an equality at position 0 is expression 11"));
  CHECK_THAT(entry_refusal([&](auto& e) {
               bind_below(e);
               e.buffers[7].size = 12;
             }),
             contains("the size of a buffer at position 7 is expression 12"));
  CHECK_THAT(entry_refusal([&](auto& e) {
               bind_below(e);
               e.outputs[0].shape = {11};
             }),
             contains("a dim of an output"));
  CHECK(opening_error([](auto& e) { e.equalities = {{9, 7, 0}}; }) == "");
}

TEST_CASE("the fields of control flow") {
  for (const uint32_t position : {0u, 3u, 4u}) {  // bind, if, while
    CHECK_THAT(entry_refusal([=](auto& e) { instruction(e, 0, position).operands[0].buffer = 8; }),
               contains("the buffer of an operand at position " + std::to_string(position) + " is 8"));
    CHECK_THAT(entry_refusal([=](auto& e) { instruction(e, 0, position).operands[0].offset = 11; }),
               contains("the offset of an operand at position " + std::to_string(position) + " is 11"));
  }
  for (const uint32_t position : {0u, 2u, 3u, 4u}) {
    CHECK_THAT(entry_refusal([=](auto& e) { instruction(e, 0, position).location = 3; }),
               contains("the location at position " + std::to_string(position) + " is 2"));
  }
  CHECK_THAT(entry_refusal([](auto& e) { instruction(e, 0, 2).count = 11; }), contains("the count of a loop"));
  CHECK_THAT(entry_refusal([](auto& e) { instruction(e, 1, 0).kernel = 1; }),
             contains("the kernel of a call at position 0 of block 1 is 1; it must be below 1"));
  CHECK_THAT(entry_refusal([](auto& e) { e.buffers[7].block = 6; }),
             contains("the block of a buffer at position 7 is 6"));
  CHECK_THAT(entry_refusal([](auto& e) { e.buffers[7].end = 2; }), contains("the end of a buffer at position 7 is 2"));
}

TEST_CASE("a buffer is used in its block and below, within its live interval") {
  CHECK(entry_refusal([](auto& e) { instruction(e, 0, 5).operands[1].buffer = 7; }) ==
        "entry 'double_some': instruction 5 uses buffer 7 (live from 0 to 1 of block 1) outside its block");
  CHECK(entry_refusal([](auto& e) { e.buffers[5].end = 2; }) ==
        "entry 'double_some': instruction 0 of block 2 uses buffer 5 (live from 1 to 2) outside its live interval");
  CHECK(entry_refusal([](auto& e) { e.buffers[7].end = 0; }) ==
        "entry 'double_some': instruction 1 of block 1 uses buffer 7 (live from 0 to 0 of block 1) outside its live "
        "interval");
  CHECK(entry_refusal([](auto& e) { instruction(e, 2, 0).operands[0].buffer = 0; }) ==
        "entry 'double_some': instruction 0 of block 2 writes buffer 0, which is an input");
}

TEST_CASE("what is read was written before on every path") {
  // Buffer 8, which the last instruction reads.
  const auto write_in = [](std::vector<uint32_t> blocks) {
    return opening_error([&](EntryDescription& e) {
      e.buffers.push_back({Storage::kArena, 0, 128, 3, 32, 0, 5, 0, "x again"});
      instruction(e, 0, 5).operands[1].buffer = 8;
      for (const uint32_t block : blocks) e.blocks[block].instructions.push_back(copy(8, 0));
    });
  };
  const std::string unwritten = "instruction 5 uses buffer 8 (live from 0 to 5) before anything was written to it";
  CHECK_THAT(write_in({}), contains(unwritten));
  CHECK_THAT(write_in({1}), contains(unwritten));  // the loop may run no times
  CHECK_THAT(write_in({2}), contains(unwritten));  // one branch of two
  CHECK_THAT(write_in({3}), contains(unwritten));
  CHECK_THAT(write_in({5}), contains(unwritten));  // so may the while's body
  CHECK_THAT(write_in({1, 2, 5}), contains(unwritten));
  CHECK(write_in({2, 3}) == "");
  CHECK(write_in({1, 2, 3, 5}) == "");
  CHECK(write_in({4}) == "");  // the condition is always found out
  // Part by part a loop leaves nothing out, however many steps it takes; as a whole it may never write.
  const auto write_parts = [&](uint32_t offset, bool in_branch) {
    return opening_error([&](EntryDescription& e) {
      e.buffers.push_back({Storage::kArena, 0, 128, 3, 32, 0, 5, 0, "x again"});
      instruction(e, 0, 5).operands[1].buffer = 8;
      InstructionDescription part = copy(8, 7);
      part.operands[0].offset = offset;
      part.byte_size = 2;
      e.blocks[1].instructions.push_back(part);
      e.buffers[7].end = 2;
      if (!in_branch) return;
      instruction(e, 0, 3).blocks = {4, 5};
      instruction(e, 0, 4).blocks = {6, 7};
      e.blocks.insert(e.blocks.begin() + 2, 2, {{part}});
      instruction(e, 1, 2) = branch(2, 3);
    });
  };
  CHECK(write_parts(10, false) == "");
  CHECK(write_parts(10, true) == "");
  CHECK_THAT(write_parts(1, false), contains("before anything was written"));
  CHECK_THAT(write_parts(1, true), contains("before anything was written"));
  CHECK_THAT(entry_refusal([](auto& e) { e.blocks[4].instructions.clear(); }),
             contains("instruction 4 uses buffer 6 (live from 4 to 4) before anything was written to it"));
  // A branch below a branch: both inner ones and the other outer one.
  const auto write_below = [](bool in_inner_else, bool in_else) {
    return opening_error([&](EntryDescription& e) {
      e.buffers.push_back({Storage::kArena, 0, 128, 3, 32, 0, 5, 0, "x again"});
      instruction(e, 0, 5).operands[1].buffer = 8;
      instruction(e, 0, 3).blocks = {2, 5};
      instruction(e, 0, 4).blocks = {6, 7};
      e.blocks.insert(e.blocks.begin() + 3, 2, {});
      e.blocks[2].instructions.push_back(branch(3, 4));
      e.blocks[3].instructions.push_back(copy(8, 0));
      if (in_inner_else) e.blocks[4].instructions.push_back(copy(8, 0));
      if (in_else) e.blocks[5].instructions.push_back(copy(8, 0));
    });
  };
  CHECK(write_below(true, true) == "");
  CHECK_THAT(write_below(false, true), contains(unwritten));
  CHECK_THAT(write_below(true, false), contains(unwritten));
}

TEST_CASE("buffers of two blocks that are live together share no byte") {
  const std::string share = "share memory while both are live";
  CHECK(
      entry_refusal([](auto& e) { e.buffers[7].offset = 0; }) ==
      "entry 'double_some': buffers 5 (bytes 0 to 32, live 1 to 5) and 7 (bytes 0 to 4, live 0 to 1 of block 1) share "
      "memory while both are live");
  // Buffer 6 takes the bytes of 7 after the loop; not during it.
  CHECK_THAT(entry_refusal([](auto& e) { e.buffers[6].begin = 2; }), contains(share));
  CHECK(opening_error([](auto& e) { e.buffers[6].begin = 3; }) == "");
  // An alias group is one block's.
  CHECK_THAT(entry_refusal([](auto& e) {
               e.buffers[7].offset = 0;
               e.buffers[5].alias_group = e.buffers[7].alias_group = 1;
             }),
             contains(share));
  // The blocks of one instruction share bytes, also under one name of a group.
  CHECK(opening_error([](auto& e) {
          e.buffers.push_back({Storage::kArena, 0, 128, 3, 32, 0, 0, 0, "a", 4});
          e.buffers.push_back({Storage::kArena, 0, 128, 3, 32, 0, 0, 0, "b", 5});
        }) == "");
}

TEST_CASE("the judge of plans agrees with comparing every pair in the innermost common block") {
  struct Place {
    uint32_t block, position;
  };
  std::mt19937 random(5);
  int sound = 0, unsound = 0;
  for (int round = 0; round < 1500; ++round) {
    ProgramDescription description = sample_program();
    EntryDescription& entry = description.entries[2];
    description.arenas[0].byte_size = 64 * 40;
    for (const uint32_t used : {5u, 6u, 7u}) entry.buffers[used].planned_size = 0;
    entry.buffers[5].end = 2;
    entry.buffers[6].begin = entry.buffers[6].end = 0;
    // A random tree of branches below the if: owner[b] is where block b lies.
    std::vector<Place> owner = {{0, 0}, {0, 2}};
    entry.blocks.resize(2);
    entry.blocks[0].instructions.resize(3);
    const std::function<void(uint32_t, int)> grow = [&](uint32_t block, int depth) {
      const uint32_t count = 1 + random() % 4;
      for (uint32_t i = 0; i < count; ++i) {
        if (depth == 3 || random() % 3 != 0) {
          entry.blocks[block].instructions.push_back(copy(3, 0));
          continue;
        }
        const uint32_t position = static_cast<uint32_t>(entry.blocks[block].instructions.size());
        uint32_t below[2];
        entry.blocks[block].instructions.push_back(branch(0, 0));
        for (uint32_t& number : below) {
          number = static_cast<uint32_t>(entry.blocks.size());
          entry.blocks.emplace_back();
          owner.push_back({block, position});
          grow(number, depth + 1);
        }
        entry.blocks[block].instructions[position].blocks = {below[0], below[1]};
      }
    };
    grow(0, 0);
    for (uint32_t i = 2 + random() % 9; i > 0; --i) {
      const uint32_t block = static_cast<uint32_t>(random() % entry.blocks.size());
      const uint32_t last = static_cast<uint32_t>(entry.blocks[block].instructions.size()) - 1;
      const uint32_t begin = static_cast<uint32_t>(random() % (last + 1));
      const uint32_t end = std::min<uint32_t>(last, begin + random() % 3);
      entry.buffers.push_back({Storage::kArena, 0, 64 * (random() % 12), 3, 1 + random() % 200, begin, end,
                               static_cast<uint32_t>(random() % 3), "", block});
    }
    // The blocks from `block` up to 0.
    const auto chain = [&](uint32_t block) {
      std::vector<uint32_t> blocks = {block};
      while (block != 0) blocks.push_back(block = owner[block].block);
      return blocks;
    };
    // The interval of a buffer as `common`, its block or one above, sees it.
    const auto seen_from = [&](const BufferDescription& buffer, uint32_t common) {
      uint32_t block = buffer.block;
      std::pair<uint32_t, uint32_t> interval = {buffer.begin, buffer.end};
      for (; block != common; block = owner[block].block) interval = {owner[block].position, owner[block].position};
      return interval;
    };
    bool overlaps = false;
    for (size_t i = 8; i < entry.buffers.size(); ++i) {
      for (size_t j = 8; j < i; ++j) {
        const BufferDescription &a = entry.buffers[i], &b = entry.buffers[j];
        const std::vector<uint32_t> above_a = chain(a.block), above_b = chain(b.block);
        const uint32_t common = *std::find_first_of(above_a.begin(), above_a.end(), above_b.begin(), above_b.end());
        const auto first = seen_from(a, common), second = seen_from(b, common);
        // Blocks of one instruction: the same place, but never at the same time.
        const bool siblings = a.block != common && b.block != common && first == second;
        const bool together = first.first <= second.second && second.first <= first.second && !siblings;
        const bool bytes = a.offset < b.offset + b.planned_size && b.offset < a.offset + a.planned_size;
        const bool group = a.alias_group != 0 && a.alias_group == b.alias_group && a.block == b.block;
        overlaps = overlaps || (together && bytes && !group);
      }
    }
    std::string error;
    const bool opened = open_description(description, &error) != nullptr;
    INFO("round " << round << ": " << error);
    REQUIRE(opened == !overlaps);
    if (!opened) REQUIRE(error.find("share memory while both are live") != std::string::npos);
    ++(opened ? sound : unsound);
  }
  CHECK(sound > 200);
  CHECK(unsound > 200);
}

}  // namespace ferrule::runtime
