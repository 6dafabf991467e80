// Sliced and stripped artifacts run as the whole one does.
#include <cstring>

#include "runtime/api/session_test_support.h"
#include "serialize/slice/slice.h"

namespace ferrule::runtime::testing {
namespace {

std::vector<uint8_t> slice(const std::vector<uint8_t>& artifact, const serialize::SliceOptions& options) {
  std::vector<uint8_t> sliced;
  std::string error;
  const bool done = serialize::slice_artifact(artifact.data(), artifact.size(), options, &sliced, &error);
  INFO(error);
  REQUIRE(done);
  return sliced;
}

std::string refusal(const std::vector<uint8_t>& artifact, const serialize::SliceOptions& options) {
  std::vector<uint8_t> sliced;
  std::string error;
  CHECK_FALSE(serialize::slice_artifact(artifact.data(), artifact.size(), options, &sliced, &error));
  return error;
}

Program open(const std::vector<uint8_t>& artifact) {
  Program::Options options;
  options.verify = kFerruleVerifyAll;
  Result<Program> program = Program::open_bytes(artifact.data(), artifact.size(), options);
  INFO(program.status().message());
  REQUIRE(program.ok());
  return std::move(*program);
}

std::vector<float> predict(const std::vector<uint8_t>& artifact) {
  const Program program = open(artifact);
  Session session = create_session(program);
  Tensor y;
  check_ok(session.run("predict", {rows(2)}, {&y}));
  return floats(y);
}

// The second target's name is of no machine: only bytes that slicing can drop.
std::vector<uint8_t> two_targets() {
  serialize::ProgramDescription program = describe_test_program();
  serialize::TargetDescription other = program.targets[0];
  other.name = "elsewhere";
  other.features = {"no-such-feature"};
  program.targets.push_back(other);
  for (serialize::KernelDescription& kernel : program.kernels) kernel.offsets.push_back(kernel.offsets[0]);
  return to_artifact(program);
}

}  // namespace

TEST_CASE("a target is cut out: fewer bytes, the same root hash, the same results") {
  const std::vector<uint8_t> whole = two_targets();
  const std::vector<uint8_t> sliced = slice(whole, {{"x86-64-v3"}, {}, true});
  CHECK(sliced.size() <= whole.size());
  CHECK(std::memcmp(open(whole).info().root_sha256, open(sliced).info().root_sha256, 32) == 0);
  CHECK(predict(sliced) == predict(whole));
  // The target that is gone is named when it is asked for.
  Session::Options options;
  options.target = "elsewhere";
  CHECK_FALSE(Session::create(open(sliced), options).ok());
  CHECK(slice(sliced, {{"x86-64-v3"}, {}, true}) == sliced);
}

TEST_CASE("debug is stripped: the same root hash and results, and errors without a line") {
  const std::vector<uint8_t> whole = test_artifact();
  const std::vector<uint8_t> stripped = slice(whole, {{}, {}, false});
  CHECK(std::memcmp(open(whole).info().root_sha256, open(stripped).info().root_sha256, 32) == 0);
  CHECK(predict(stripped) == predict(whole));
  const Program with = open(whole), without = open(stripped);
  Session named = create_session(with), unnamed = create_session(without);
  Tensor checked;
  const Status status = named.run("check", {indices({99})}, {&checked});
  CHECK_THAT(status.message(), contains("model.py:12"));
  const Status plain = unnamed.run("check", {indices({99})}, {&checked});
  CHECK_THAT(plain.message(), contains("99") && !contains("model.py:12"));
}

TEST_CASE("the training part is cut out with everything that only it used") {
  const std::vector<uint8_t> whole = test_artifact();
  const std::vector<uint8_t> sliced = slice(whole, {{}, {"predict"}, true});
  CHECK(sliced.size() < whole.size());
  const Program program = open(sliced);
  CHECK(program.info().entry_count == 1);
  CHECK(program.info().variable_count == 1);  // w; table and counter are of other entries
  CHECK(predict(sliced) == predict(whole));
  Session session = create_session(program);
  Tensor loss;
  CHECK_THAT(session.run("train", {rows(2)}, {&loss}).message(), contains("train") && contains("predict"));
  // Each entry alone, and stripped on top.
  for (uint32_t e = 0; e < open(whole).info().entry_count; ++e) {
    const std::string name = open(whole).entry(e).name;
    CHECK(open(slice(whole, {{}, {name}, false})).info().entry_count == 1);
  }
}

TEST_CASE("unknown names and unsuited artifacts are refused, and the sentence says why") {
  const std::vector<uint8_t> whole = two_targets();
  CHECK(refusal(whole, {{"aarch64"}, {}, true}) ==
        "there is no target 'aarch64'; there are: x86-64-v3, elsewhere");
  CHECK_THAT(refusal(whole, {{}, {"teach"}, true}), contains("no entry 'teach'") && contains("predict, train"));
  const std::vector<uint8_t> sliced = slice(whole, {{"x86-64-v3"}, {}, true});
  CHECK_THAT(refusal(sliced, {{}, {"predict"}, true}), contains("do it first, drop targets afterwards"));
  std::vector<uint8_t> edited = whole;
  edited.back() ^= 1;
  CHECK_THAT(refusal(edited, {}), contains("hash"));
}

}  // namespace ferrule::runtime::testing
