//===- EntryEmitter_test.cpp - Blocks and dims as schema data -------------===//

#include "codegen/emit/EntryEmitter.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include "catch2/catch.hpp"

using namespace mlir;
using namespace mlir::ferrule;
using namespace ::ferrule::serialize;
using Kind = InstructionDescription::Kind;

namespace {

// y = x[:count], where `count` is read from n; each step of a loop writes one element, a branch and a while follow.
constexpr const char *text = R"mlir(
ferrule_plan.arena @arena size 128 align 64
ferrule_plan.entry @main("x" : tensor<?xf32, #ferrule.dims<[batch]>>, "n" : tensor<i64>, "p" : tensor<i1>)
    -> ("y" : tensor<?xf32, #ferrule.dims<[count]>>)
    dims [#ferrule_plan.dim<"batch", min = 1, max = 8, multiple_of = 1>] peak 128 lower_bound 128 naive 128 {
  %x = ferrule_plan.buffer input 0 size <[batch * 4]> planned 32 live 1 to 3 "x"
  %n = ferrule_plan.buffer input 1 size <[8]> planned 8 live 0 to 0 "n"
  %p = ferrule_plan.buffer input 2 size <[1]> planned 1 live 2 to 3 "p"
  %y = ferrule_plan.buffer output 0 size <[count * 4]> planned 32 live 1 to 3 "y"
  %q = ferrule_plan.buffer arena @arena offset 0 size <[1]> planned 1 live 3 to 3 "q"
  ferrule_plan.bind_dim <"count", min = 0, max = 8, multiple_of = 1> at_most <[batch]> from %n
  ferrule_plan.loop count <[count]> dim "step" {
    %t = ferrule_plan.buffer arena @arena offset 64 size <[4]> planned 4 live 0 to 1 "t"
    %from = ferrule_plan.view %x offset <[step * 4]> size <[4]>
    %to = ferrule_plan.view %y offset <[step * 4]> size <[4]>
    ferrule_plan.copy %t from %from size <[4]>
    ferrule_plan.copy %to from %t size <[4]>
  }
  ferrule_plan.if %p {
    ferrule_plan.loop count <[3]> dim "again" {
    }
  } else {
    ferrule_plan.copy %y from %x size <[count * 4]>
  }
  ferrule_plan.while %q condition {
    ferrule_plan.copy %q from %p size <[1]>
  } body {
  }
}
)mlir";

struct Emitted {
  Emitted() {
    context.loadDialect<FerruleDialect, plan::FerrulePlanDialect>();
    module = parseSourceString<ModuleOp>(text, &context);
    REQUIRE(module);
    PlanNumbers numbers;
    numbers.arenas["arena"] = 0;
    std::vector<std::string> locations;
    LocationTable table(locations);
    FailureOr<EntryDescription> result = emitEntry(*module->getOps<plan::EntryOp>().begin(), numbers, table);
    REQUIRE(succeeded(result));
    entry = std::move(*result);
  }

  /// The text of an expression: its operands in parentheses.
  std::string show(uint32_t index) const {
    const ExpressionDescription &node = entry.expressions[index];
    if (node.kind == ExpressionKind::kConstant)
      return std::to_string(node.value);
    if (node.kind == ExpressionKind::kDim)
      return entry.dims[node.value].name;
    return "(" + show(node.left) + (node.kind == ExpressionKind::kMultiply ? " * " : " ? ") + show(node.right) + ")";
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  EntryDescription entry;
};

} // namespace

TEST_CASE("dims of loops and bound dims stand behind those of the inputs, in the order of the walk") {
  Emitted e;
  REQUIRE(e.entry.dims.size() == 4);
  CHECK(e.entry.dims[0].name == "batch");
  CHECK(e.entry.dims[0].source == DimSource::kInput);
  CHECK(e.entry.dims[1].name == "count");
  CHECK(e.entry.dims[1].source == DimSource::kInstruction);
  CHECK(e.entry.dims[1].max == 8);
  CHECK(e.show(e.entry.dims[1].limit) == "batch");
  CHECK(e.entry.dims[2].name == "step");
  CHECK(e.entry.dims[2].source == DimSource::kIteration);
  CHECK(e.entry.dims[2].min == 0);
  CHECK(e.entry.dims[2].max == INT64_MAX);
  CHECK(e.entry.dims[3].name == "again");
  CHECK(e.entry.dims[3].max == 2);
  CHECK(e.show(e.entry.outputs[0].shape[0]) == "count");
  // The limit is evaluated before everything that uses the dim.
  for (uint32_t i = 0; i < e.entry.expressions.size(); ++i)
    if (e.entry.expressions[i].kind == ExpressionKind::kDim && e.entry.expressions[i].value == 1)
      CHECK(e.entry.dims[1].limit < i);
}

TEST_CASE("blocks are numbered as the walk meets them, and hold their buffers") {
  Emitted e;
  REQUIRE(e.entry.blocks.size() == 7);
  const std::vector<InstructionDescription> &body = e.entry.blocks[0].instructions;
  REQUIRE(body.size() == 4);
  CHECK(body[0].kind == Kind::kBindDim);
  CHECK(body[0].dim == 1);
  CHECK(body[0].operands[0].buffer == 1);
  CHECK(body[1].kind == Kind::kLoop);
  CHECK(e.show(body[1].count) == "count");
  CHECK(body[1].dim == 2);
  CHECK(body[1].blocks == std::vector<uint32_t>{1});
  CHECK(body[2].kind == Kind::kIf);
  CHECK(body[2].operands[0].buffer == 2);
  CHECK(body[2].blocks == std::vector<uint32_t>{2, 4}); // 3 is the loop below the first
  CHECK(e.entry.blocks[2].instructions[0].blocks == std::vector<uint32_t>{3});
  CHECK(body[3].kind == Kind::kWhile);
  CHECK(body[3].blocks == std::vector<uint32_t>{5, 6});
  CHECK(e.entry.blocks[5].instructions.size() == 1);
  CHECK(e.entry.blocks[6].instructions.empty());
  REQUIRE(e.entry.buffers.size() == 6);
  CHECK(e.entry.buffers[4].debug_name == "q");
  CHECK(e.entry.buffers[4].block == 0);
  CHECK(e.entry.buffers[5].debug_name == "t");
  CHECK(e.entry.buffers[5].block == 1);
}

TEST_CASE("a view is its buffer and an offset") {
  Emitted e;
  const std::vector<InstructionDescription> &step = e.entry.blocks[1].instructions;
  CHECK(step[0].operands[0].buffer == 5);
  CHECK(e.show(step[0].operands[0].offset) == "0");
  CHECK(step[0].operands[1].buffer == 0);
  CHECK(e.show(step[0].operands[1].offset) == "(step * 4)");
  CHECK(step[1].operands[0].buffer == 3);
  CHECK(e.show(step[1].operands[0].offset) == "(step * 4)");
  CHECK(e.show(e.entry.blocks[4].instructions[0].byte_size) == "(count * 4)");
}
