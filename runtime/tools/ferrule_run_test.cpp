// ferrule-run as its users call it: a process, files, messages and exit codes.
#include <signal.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "runtime/testing/faulty_program.h"
#include "runtime/testing/test_program.h"
#include "runtime/tools/shuffle.h"
#include "runtime/tools/tensor_files.h"

namespace ferrule::tools {
namespace {

using Catch::Matchers::Contains;
using runtime::testing::read_file;
using runtime::testing::temporary_path;

constexpr char kArtifact[] = "runtime/testing/test_program.fer";

struct Finished {
  int code;
  std::string text;  // stdout and stderr
};

Finished call(const std::string& arguments) {
  const std::string command = "runtime/tools/ferrule-run " + arguments + " 2>&1";
  std::FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  Finished result{};
  char block[4096];
  for (size_t count; (count = std::fread(block, 1, sizeof(block), pipe)) > 0;) result.text.append(block, count);
  const int status = pclose(pipe);
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

void refused(const std::string& arguments, int code, std::vector<const char*> parts) {
  const Finished finished = call(arguments);
  INFO(arguments << "\n" << finished.text);
  CHECK(finished.code == code);
  for (const char* part : parts) CHECK_THAT(finished.text, Contains(part));
}

std::string accepted(const std::string& arguments) {
  const Finished finished = call(arguments);
  INFO(arguments << "\n" << finished.text);
  CHECK(finished.code == 0);
  return finished.text;
}

// x[i] = (i % 3 - 1) / 4 in sample i: exact in every order of addition.
Tensor samples(int64_t count) {
  Tensor x(DataTypeOf<float>::value, {count, 4});
  for (int64_t i = 0; i < count; ++i)
    for (int64_t c = 0; c < 4; ++c) x.data<float>()[i * 4 + c] = static_cast<float>(i % 3 - 1) / 4;
  return x;
}

std::string data_file(int64_t count) {
  const std::string path = temporary_path("samples_" + std::to_string(count) + ".safetensors");
  const Tensor x = samples(count);
  REQUIRE(write_safetensors_file(path, {{"x", &x}}).empty());
  return path;
}

std::vector<float> variable(const std::string& checkpoint, const char* name) {
  TensorFile file;
  REQUIRE(file.open(checkpoint).empty());
  const FileTensor* tensor = file.find(name);
  REQUIRE(tensor != nullptr);
  std::vector<float> values(tensor->byte_size / 4);
  std::memcpy(values.data(), tensor->data, tensor->byte_size);
  return values;
}

const std::string kTrain = std::string("train ") + kArtifact + " --entry train --batch 8 ";

TEST_CASE("help, with examples, for the tool and each command") {
  for (const char* arguments : {"--help", "run --help", "train --help", "bench --help", "profile --help", "info --help"}) {
    const std::string text = accepted(arguments);
    CHECK_THAT(text, Contains("usage: ferrule-run"));
  }
  CHECK_THAT(accepted("train --help"), Contains("examples:") && Contains("--checkpoint"));
}

TEST_CASE("wrong command lines name the argument and what is allowed") {
  const std::string run = std::string("run ") + kArtifact;
  refused("", 2, {"usage"});
  refused("fly", 2, {"fly", "run, train, bench, profile, info"});
  refused("run", 2, {"artifact"});
  refused(run, 2, {"--entry"});
  refused(run + " --entry predict --colour red", 2, {"--colour", "--threads"});
  refused(run + " --entry predict --threads 0", 2, {"--threads", "'0'", "1 to 256"});
  refused(run + " --entry predict --threads two", 2, {"--threads", "'two'"});
  refused(run + " --entry predict --threads", 2, {"--threads", "value"});
  refused(run + " --entry predict --resident 65536", 2, {"--resident needs --swap"});
  refused(run + " extra.fer --entry predict", 2, {"extra.fer"});
  refused(run + " --entry predicts", 1, {"predicts", "predict", "train"});
  refused(run + " --entry predict --target x86-64-v9", 1, {"x86-64-v9", "x86-64-v3"});
  refused("run /nowhere/net.fer --entry predict", 1, {"/nowhere/net.fer"});
  refused(run + " --entry predict", 1, {"predict", "'x'"});
  refused(run + " --entry predict --input y=/nowhere.npy", 1, {"'y'", "x"});
  refused(run + " --entry predict --inputs /nowhere.safetensors", 1, {"/nowhere.safetensors"});
  refused(run + " --entry predict --inputs " + data_file(9), 1, {"batch", "9", "8"});
  refused(kTrain + "--epochs 0 --data x", 2, {"--epochs", "'0'"});
  refused(kTrain, 2, {"--data"});
  refused(kTrain + "--evaluate evaluate --data " + data_file(8), 2, {"--test-data"});
  refused(kTrain + "--resume --data " + data_file(8), 2, {"--checkpoint"});
  refused(kTrain + "--data " + kArtifact, 1, {"test_program.fer", "safetensors"});
}

TEST_CASE("a swap file changes no result and leaves nothing behind") {
  const std::string inputs = " --inputs " + data_file(3), swap = temporary_path("net.swap");
  const std::string run = std::string("run ") + kArtifact + " --entry predict --threads 2" + inputs;
  const std::string plain = temporary_path("plain.safetensors"), swapped = temporary_path("swapped.safetensors");
  accepted(run + " --outputs " + plain);
  for (const char* resident : {"", " --resident 1000000"}) {
    accepted(run + " --outputs " + swapped + " --swap " + swap + resident);
    CHECK(read_file(swapped) == read_file(plain));
    CHECK_FALSE(std::ifstream(swap).good());
  }
  accepted(kTrain + "--swap " + swap + " --data " + data_file(8));
  refused(run + " --swap " + swap + " --resident 1", 1, {"1 bytes of its arena", "that is the least"});
  refused(run + " --swap " + plain, 1, {plain.c_str()});
}

TEST_CASE("run reads .npy and safetensors and writes both, the same values") {
  const std::string folder = temporary_path("results"), outputs = temporary_path("out.safetensors");
  const std::string npy = temporary_path("x.npy");
  const Tensor x = samples(3);
  REQUIRE(write_npy_file(npy, x).empty());
  const std::string run = std::string("run ") + kArtifact + " --entry predict --threads 1 ";
  accepted(run + "--input x=" + npy + " --output " + folder);
  CHECK_THAT(accepted(run + "--json --inputs " + data_file(3) + " --outputs " + outputs),
             Contains("\"entry\": \"predict\""));
  TensorFile single, many;
  REQUIRE(single.open(folder + "/y.npy").empty());
  REQUIRE(many.open(outputs).empty());
  const FileTensor& first = single.tensors()[0];
  const FileTensor* second = many.find("y");
  REQUIRE(second != nullptr);
  CHECK(first.shape == std::vector<int64_t>{3, 4});
  CHECK(first.shape == second->shape);
  REQUIRE(first.byte_size == second->byte_size);
  CHECK(std::memcmp(first.data, second->data, first.byte_size) == 0);
  float value;
  std::memcpy(&value, first.data + 7 * sizeof(float), sizeof(value));
  CHECK(value == 2 * 0.0f + 4);  // sample 1, column 3
}

TEST_CASE("training takes every sample once an epoch, the last batch smaller") {
  const std::string checkpoint = temporary_path("trained");
  const std::string text = accepted(kTrain + "--epochs 2 --data " + data_file(19) + " --checkpoint " + checkpoint +
                                    " --evaluate evaluate --test-data " + data_file(10) + " --json --threads 2");
  // The sum over samples 0 .. 18 is one of -1/4, and 10 samples have 3 positive ones.
  CHECK(variable(checkpoint, "w") == std::vector<float>{0.5, 1.5, 2.5, 3.5});
  CHECK_THAT(text, Contains("epoch 1/2") && Contains("epoch 2/2") && Contains("loss") && Contains("\"steps\": 6") &&
                       Contains("\"test_accuracy\": 0.3,") && Contains("\"test_loss\": "));
}

TEST_CASE("an interrupted and resumed training ends where an unbroken one does") {
  const std::string data = data_file(19);
  const std::string whole = temporary_path("whole"), parts = temporary_path("parts");
  accepted(kTrain + "--seed 5 --epochs 3 --data " + data + " --checkpoint " + whole);
  accepted(kTrain + "--seed 5 --epochs 1 --data " + data + " --checkpoint " + parts);
  accepted(kTrain + "--resume --epochs 3 --data " + data + " --checkpoint " + parts);
  CHECK(read_file(whole) == read_file(parts));
  refused(kTrain + "--resume --seed 6 --epochs 4 --data " + data + " --checkpoint " + parts, 1, {"--seed", "6", "5"});
}

TEST_CASE("samples that the dims refuse are left out, and that is said") {
  // A program whose batch is a multiple of 4.
  serialize::ProgramDescription description = runtime::testing::describe_test_program();
  for (serialize::EntryDescription& entry : description.entries)
    if (entry.name == "train") entry.dims = {{"batch", 4, 8, 4}};
  const std::string artifact = temporary_path("multiple_of_4.fer"), checkpoint = temporary_path("left_out");
  runtime::testing::write_file(artifact, runtime::testing::to_artifact(description));
  const std::string text = accepted("train " + artifact + " --entry train --batch 8 --no-shuffle --data " +
                                    data_file(19) + " --checkpoint " + checkpoint);
  CHECK_THAT(text, Contains("the last 3 samples are left out") && Contains("multiple"));
  // Samples 0 .. 15 add up to -1/4 as well.
  CHECK(variable(checkpoint, "w") == std::vector<float>{0.75, 1.75, 2.75, 3.75});
}

TEST_CASE("SIGTERM ends a training with a checkpoint and exit code 130") {
  const std::string checkpoint = temporary_path("interrupted");
  const std::string command = "(runtime/tools/ferrule-run " + kTrain + "--epochs 1000000 --data " + data_file(19) +
                              " --checkpoint " + checkpoint +
                              " >/dev/null 2>&1 & pid=$!; sleep 0.5; kill -TERM $pid; wait $pid)";
  const int status = std::system(command.c_str());
  CHECK(WEXITSTATUS(status) == 130);
  const std::vector<float> w = variable(checkpoint, "w");
  CHECK(w[1] - w[0] == 1);
}

TEST_CASE("--check-memory proves a run, and ends with a sentence where a kernel breaks the plan") {
  const std::string artifact = temporary_path("faulty.fer");
  runtime::testing::write_file(artifact, runtime::testing::to_artifact(runtime::testing::describe_faulty_program()));
  const std::string inputs = " --check-memory --inputs " + data_file(8);
  CHECK_THAT(accepted("run " + artifact + " --entry train --repeat 2" + inputs),
             Contains("memory as planned: 6 kernel calls and copies, 128 bytes of the arena used of 128 planned"));
  CHECK_THAT(accepted("run " + artifact + " --entry train --threads 2 --json" + inputs),
             Contains("\"memory_check\": {\"planned_bytes\": 128, \"used_bytes\": 128, \"instructions\": 3}"));
  const auto caught = [&](const std::string& entry, std::vector<const char*> parts) {
    refused("run " + artifact + " --entry " + entry + inputs, 1, parts);
  };
  caught("into_live", {"--check-memory: entry 'into_live', kernel 'write_beyond' at model.py:12 changed byte 128 of the arena, of buffer 'first'"});
  caught("into_gap", {"changed byte 16 of the arena, which no buffer uses then"});
  caught("past_arena", {"entry 'past_arena', kernel 'write_beyond' at model.py:12 touched memory outside"});
  caught("into_variable", {"entry 'into_variable', kernel 'write_beyond' at model.py:12 touched memory outside"});
  caught("reads_freed", {"entry 'reads_freed': output 'z' depends on memory that holds no value"});
  caught("reads_past", {"entry 'reads_past', kernel 'read_elsewhere' at model.py:12 touched memory outside"});
}

TEST_CASE("info describes the artifact in text and JSON") {
  const std::string info = std::string("info ") + kArtifact;
  CHECK_THAT(accepted(info), Contains("runtime tests") && Contains("[batch, 4]") && Contains("x86-64-v3") &&
                                 Contains("lower bound") && Contains("counter"));
  CHECK_THAT(accepted(info + " --memory --instructions --verify"), Contains("live 0 to 1") && Contains("check_index"));
  CHECK_THAT(accepted(info + " --json"), Contains("\"peak_bytes\": 128") && Contains("\"name\": \"table\""));
  CHECK_THAT(accepted(info + " --check-runtime 1"), Contains("runs on a runtime of format version 1"));
  refused(info + " --check-runtime 0", 1, {"does not run", "lacks: the first frozen format"});
  refused(info + " --check-runtime new", 2, {"--check-runtime", "'new'"});
}

TEST_CASE("bench and profile run an entry on inputs that are made up") {
  const std::string common = std::string(kArtifact) + " --entry predict --threads 1 ";
  CHECK_THAT(accepted("bench " + common + "--size batch=3 --runs 20"),
             Contains("20 runs with 1 threads on x86-64-v3") && Contains("p99") && Contains("runs a second"));
  CHECK_THAT(accepted("bench " + common + "--seconds 1 --json"), Contains("\"p50_seconds\": "));
  CHECK_THAT(accepted("bench " + common + "--runs 1 --json"),
             Contains("\"open_seconds\": ") && Contains("\"first_seconds\": "));
  CHECK_THAT(accepted("profile " + common + "--size batch=3 --runs 4"),
             Contains("GFLOP/s") && Contains("affine  model.py:12") && Contains("one core: "));
  const std::string trace = temporary_path("trace.json");
  CHECK_THAT(accepted("profile " + common + "--size batch=8 --runs 4 --json --trace " + trace),
             Contains("\"calls\": 4") && Contains("\"of_peak\": ") && Contains("\"load_gb_per_second\": "));
  const std::vector<uint8_t> bytes = read_file(trace);
  // 8 rows of 4 columns, a product and a sum each.
  CHECK_THAT(std::string(bytes.begin(), bytes.end()),
             Contains("{\"displayTimeUnit\": \"ns\", \"traceEvents\": [{\"name\": \"affine\"") && Contains("\"flops\": 64"));
  accepted("profile " + common + "--inputs " + data_file(3));
  refused("bench " + common + "--size rows=3", 1, {"--size rows=3", "batch"});
  refused("bench " + common + "--size batch", 1, {"'batch'", "DIM=N"});
  refused("bench " + common + "--size batch=9", 1, {"batch", "9", "8"});
  refused("bench " + std::string(kArtifact), 2, {"--entry"});
  refused("profile " + common + "--runs 0", 2, {"--runs", "'0'"});
}

TEST_CASE("of a file that is no artifact, that is what is said, before anything is asked for") {
  const std::string empty = temporary_path("empty.fer"), foreign = temporary_path("foreign.fer");
  runtime::testing::write_file(empty, {});
  runtime::testing::write_file(foreign, {'P', 'K', 3, 4, 0, 0, 0, 0});
  for (const char* command : {"run ", "bench ", "profile ", "info "}) {
    refused(command + empty, 1, {"empty.fer is not a Ferrule artifact: it is empty"});
    refused(command + foreign, 1, {"foreign.fer is not a Ferrule artifact: it begins with bytes 50 4b 03 04"});
  }
}

TEST_CASE("a size beyond the plan makes the session grow, which uses its memory as planned") {
  const std::string path = temporary_path("growing.fer");
  runtime::testing::write_file(path, runtime::testing::to_artifact(runtime::testing::describe_growing_program()));
  const Tensor x = samples(100);
  const std::string inputs = temporary_path("large_batch.safetensors");
  REQUIRE(write_safetensors_file(inputs, {{"x", &x}}).empty());
  for (const char* entry : {"train", "evaluate", "scan", "positive"}) {
    const std::string run = "run " + path + " --entry " + entry + " --inputs " + inputs;
    CHECK_THAT(accepted(run + " --check-memory --repeat 2"), Contains("memory as planned: "));
  }
  CHECK_THAT(accepted("bench " + path + " --entry train --size batch=200 --runs 3"), Contains("3 runs"));
}

TEST_CASE("a run that checks numerics says which kernel made a value that is not finite") {
  Tensor x = samples(2);
  x.data<float>()[1] = 3e38f;
  const std::string path = temporary_path("large.safetensors");
  REQUIRE(write_safetensors_file(path, {{"x", &x}}).empty());
  const std::string run = std::string("run ") + kArtifact + " --entry predict --inputs " + path;
  accepted(run);
  refused(run + " --check-numerics", 1, {"'affine' at model.py:12", "element 1 of 8", "is inf"});
}

}  // namespace
}  // namespace ferrule::tools
