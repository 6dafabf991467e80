#include "serialize/dump/dump.h"

#include "catch2/catch.hpp"
#include "serialize/golden/sample_program.h"
#include "serialize/writer/writer.h"

namespace ferrule::serialize {
namespace {

ArtifactContents sample_contents() {
  std::string error;
  const std::vector<uint8_t> bytes = write_program(sample_program(), &error);
  ArtifactContents contents;
  REQUIRE(read_artifact(bytes.data(), bytes.size(), &contents, &error));
  return contents;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("the text names entries, signatures, dims, memory, variables and segments") {
  const std::string text = dump_text(sample_contents(), {});
  INFO(text);
  CHECK(contains(text, "Ferrule artifact, format version 2, "));
  CHECK(contains(text, "double_twice(x: float32[batch]) -> (out.0: float32[batch])\n    batch from 1 to 8\n"));
  CHECK(contains(text, "2 instructions; memory: peak 96 B, lower bound 32 B, sum of all buffers 32 B\n"));
  CHECK(contains(text, "store(x: float32[3, 2]) -> ()\n"));
  CHECK(contains(text, "  code x86-64-v2          46 B\n"));
  CHECK(contains(text, "memory of a session: arena 128 B, and 256 B of scratch a thread\n"));
  CHECK(contains(text, "float32[3, 2]             parameter       128 B, panel, also alias.weight\n"));
  CHECK_FALSE(contains(text, "live 0 to 1"));
}

TEST_CASE("memory and instructions on request") {
  DumpOptions options;
  options.memory = options.instructions = true;
  const std::string text = dump_text(sample_contents(), options);
  INFO(text);
  CHECK(contains(text, "bytes 64 to 96              live 0 to 1      batch * 4 bytes  float32 doubled, activation\n"));
  CHECK(contains(text, "0    double(1 <- 0)  batch flops, batch * 4 bytes read, batch * 4 bytes written  model.py:3\n"));
  CHECK(contains(text, "0    copy(1 <- 0)\n"));
}

TEST_CASE("the JSON holds the same facts and escapes what must be escaped") {
  ArtifactContents contents = sample_contents();
  contents.program.producer = "a \"quote\"\n";
  DumpOptions options;
  options.memory = options.instructions = true;
  const std::string json = dump_json(contents, options);
  INFO(json);
  CHECK(contains(json, R"("producer": "a \"quote\"\u000a")"));
  CHECK(contains(json, R"("inputs": [{"name": "x", "dtype": "float32", "shape": [3, 2]}])"));
  CHECK(contains(json, R"("shape": ["batch"])"));
  CHECK(contains(json, R"("dims": [{"name": "batch", "min": 1, "max": 8, "multiple_of": 1}])"));
  CHECK(contains(json, R"("assigns": ["position"])"));
  CHECK(contains(json, R"("name": "doubled", "storage": "arena", "kind": "activation")"));
  CHECK(contains(json, R"("timeline": [{"op": "double", "location": "model.py:3", "live_bytes": 64}, )"));
  CHECK(contains(json, R"("size": "batch * 4", "planned_bytes": 32, "begin": 0, "end": 1)"));
  CHECK(contains(json, R"("kernel": "double", "operands": [2, 1], "outputs": 1, "flops": "batch", )"
                       R"("read_bytes": "batch * 4", "written_bytes": "batch * 4", "location": "model.py:4")"));
  CHECK(contains(json, R"("targets": ["aarch64", "x86-64", "x86-64-v2"])"));
}

TEST_CASE("control flow shows its blocks in place") {
  ArtifactContents contents = sample_contents();
  DumpOptions options;
  options.memory = options.instructions = true;
  const std::string text = dump_text(contents, options);
  INFO(text);
  CHECK(contains(text, "    step from 0 to 7, of a loop\n    steps from 0 to 8, at most min(batch, 8), known late\n"));
  CHECK(contains(text, "bytes 64 to 68              live 0 to 1      of block 1   4 bytes  float32 once\n"));
  CHECK(contains(text,
                 "    0    bind steps from 1  model.py:4\n"
                 "    1    copy(5 <- 0)\n"
                 "    2    loop step below steps  model.py:4\n"
                 "         body (block 1)\n"
                 "           0    double(7 <- 5)  1 flops, 4 bytes read, 4 bytes written  model.py:3\n"
                 "           1    copy(5 <- 7)\n"
                 "    3    if 2  model.py:4\n"
                 "         then (block 2)\n"
                 "           0    copy(5 <- 0)\n"
                 "         else (block 3)\n"
                 "    4    while 6  model.py:4\n"
                 "         condition (block 4)\n"
                 "           0    copy(6 <- 4)\n"
                 "         body (block 5)\n"
                 "           0    double(5 <- 5)  batch flops, batch * 4 bytes read, batch * 4 bytes written  model.py:3\n"
                 "    5    copy(3 <- 5)\n"));
  const std::string json = dump_json(contents, options);
  INFO(json);
  CHECK(contains(json, R"({"name": "step", "min": 0, "max": 7, "multiple_of": 1, "source": "iteration"})"));
  CHECK(contains(json, R"x("multiple_of": 1, "source": "instruction", "limit": "min(batch, 8)"})x"));
  CHECK(contains(json, R"("begin": 0, "end": 1, "alias_group": 0, "block": 1, "first_time": 3, "last_time": 4, "maker_time": 3})"));
  CHECK(contains(json, R"({"kind": "bind_dim", "operands": [1], "dim": "steps", "location": "model.py:4"})"));
  CHECK(contains(json, R"({"kind": "loop", "operands": [], "count": "steps", "dim": "step", "location": "model.py:4", )"
                       R"("body": [{"kind": "kernel_call", "kernel": "double", "operands": [7, 5], "outputs": 1, )"));
  CHECK(contains(json, R"({"kind": "if", "operands": [2], "location": "model.py:4", "then": [{"kind": "copy", )"));
  CHECK(contains(json, R"("else": []})"));
  CHECK(contains(json, R"("kind": "while", "operands": [6], "location": "model.py:4", "condition": [{"kind": "copy")"));
}

TEST_CASE("blocks that name themselves or one another are shown once") {
  ArtifactContents contents = sample_contents();
  EntryDescription entry = sample_program().entries[2];
  entry.blocks[1].instructions[0] = entry.blocks[0].instructions[3];
  entry.blocks[1].instructions[0].blocks = {0, 99};
  contents.program.entries = {entry};
  DumpOptions options;
  options.instructions = true;
  CHECK(contains(dump_text(contents, options), "else (block 99)\n"));
  CHECK(contains(dump_json(contents, options), R"("then": [], "else": []})"));
}

TEST_CASE("expressions print as formulas, malformed ones without harm") {
  EntryDescription entry;
  entry.dims = {{"batch"}};
  entry.expressions = {{ExpressionKind::kDim, 0, 0, 0},           {ExpressionKind::kConstant, 0, 0, 2},
                       {ExpressionKind::kAdd, 0, 1, 0},           {ExpressionKind::kMultiply, 2, 1, 0},
                       {ExpressionKind::kMinimum, 3, 0, 0},       {ExpressionKind::kFloorDivide, 4, 1, 0},
                       {ExpressionKind::kModulo, 9, 1, 0},        {ExpressionKind::kDim, 0, 0, -5},
                       {static_cast<ExpressionKind>(77), 0, 0, 0}};
  CHECK(expression_texts(entry) ==
        std::vector<std::string>({"batch", "2", "batch + 2", "(batch + 2) * 2", "min((batch + 2) * 2, batch)",
                                  "(min((batch + 2) * 2, batch)) // 2", "? % 2", "?", "?"}));
  // Each node doubles the one before.
  entry.expressions.resize(1);
  for (uint32_t i = 0; i < 60; ++i) entry.expressions.push_back({ExpressionKind::kAdd, i, i, 0});
  CHECK(expression_texts(entry).back().size() <= 200);
}

TEST_CASE("dtype names") {
  CHECK(dtype_name({2, 32, 1}) == "float32");
  CHECK(dtype_name({4, 16, 1}) == "bfloat16");
  CHECK(dtype_name({0, 4, 1}) == "int4");
  CHECK(dtype_name({1, 8, 1}) == "uint8");
  CHECK(dtype_name({6, 8, 1}) == "bool");
  CHECK(dtype_name({9, 8, 2}) == "9:8x2");
}

TEST_CASE("the key of encrypted weights is named, and the runtime that it takes") {
  ArtifactContents contents = sample_contents();
  CHECK_FALSE(contains(dump_text(contents, {}), "encrypted"));
  CHECK_FALSE(contains(dump_json(contents, {}), "weights_key_name"));
  contents.program.weights_key_name = "product";
  contents.header.minimum_reader_version = 2;
  CHECK(contains(dump_text(contents, {}), "weights encrypted with the key 'product'\nentries\n"));
  CHECK(contains(dump_json(contents, {}), R"("weights_key_name": "product")"));
  bool runs = true;
  CHECK(contains(check_runtime(contents, 1, &runs), "lacks: encrypted weights (version 2);"));
  CHECK_FALSE(runs);
}

TEST_CASE("whether a runtime of some version runs an artifact") {
  ArtifactContents contents = sample_contents();
  bool runs = false;
  CHECK(check_runtime(contents, 1, &runs) ==
        "the artifact (format version 2, for readers from version 1) runs on a runtime of format version 1");
  CHECK(runs);
  check_runtime(contents, 2, &runs);
  CHECK(runs);
  CHECK(check_runtime(contents, 0, &runs) ==
        "the artifact (format version 2, for readers from version 1) does not run on a runtime of format version 0, which "
        "lacks: the first frozen format (version 1); take a newer runtime, or compile the model with the Ferrule that the "
        "runtime belongs to");
  CHECK_FALSE(runs);
  contents.header.minimum_reader_version = 3;  // of a writer that this tool does not know
  CHECK(contains(check_runtime(contents, 2, &runs), "lacks: version 3"));
  CHECK_FALSE(runs);
}

}  // namespace ferrule::serialize
