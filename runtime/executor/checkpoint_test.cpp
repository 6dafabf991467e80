// Checkpoints through the C++ wrapper: round trips, other models, and saves that are cut short.
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "runtime/api/ferrule.hpp"
#include "runtime/testing/test_program.h"

namespace ferrule {
namespace {

using namespace runtime::testing;
using Catch::Matchers::Contains;

Program open(const serialize::ProgramDescription& description) {
  const std::vector<uint8_t> bytes = to_artifact(description);
  Result<Program> program = Program::open_bytes(bytes.data(), bytes.size());
  INFO(program.status().message());
  REQUIRE(program.ok());
  return std::move(*program);
}

Session create(const Program& program) {
  Session::Options options;
  options.thread_count = 1;
  Result<Session> session = Session::create(program, options);
  REQUIRE(session.ok());
  return std::move(*session);
}

std::vector<float> get(const Session& session, const char* name, size_t count) {
  std::vector<float> values(count);
  REQUIRE(session.get_variable(name, values.data(), count * sizeof(float)).ok());
  return values;
}

void set_w(Session& session, float value) {
  const std::vector<float> values(4, value);
  REQUIRE(session.set_variable("w", values.data(), 16).ok());
}

TEST_CASE("a checkpoint brings back every variable, packed or not, and the position") {
  const Program program = open(describe_test_program());
  Session session = create(program), other = create(program);
  set_w(session, 9);
  const std::vector<float> table{6, 5, 4, 3, 2, 1};
  REQUIRE(session.set_variable("table", table.data(), 24).ok());
  const std::string path = temporary_path("round_trip");
  FerruleTrainingPosition position{};
  position.seed = 3;
  position.epoch = 4;
  position.sample = 128;
  position.step = 1ull << 60;
  REQUIRE(session.save_checkpoint(path, position).ok());

  FerruleTrainingPosition loaded{};
  const Status status = other.load_checkpoint(path, &loaded);
  INFO(status.message());
  REQUIRE(status.ok());
  CHECK(get(other, "w", 4) == std::vector<float>(4, 9));
  CHECK(get(other, "table", 6) == table);
  CHECK(loaded.seed == 3);
  CHECK(loaded.epoch == 4);
  CHECK(loaded.sample == 128);
  CHECK(loaded.step == 1ull << 60);
  struct stat info;
  CHECK(stat((path + ".partial").c_str(), &info) != 0);
}

TEST_CASE("a checkpoint fits another compile of the model: another layout, a name that became an alias") {
  const Program program = open(describe_test_program());
  Session session = create(program);
  const std::string path = temporary_path("other_compile");
  REQUIRE(session.save_checkpoint(path).ok());

  serialize::ProgramDescription description = describe_test_program();
  description.variables[1].layout = 0;
  description.variables[1].initial_value.assign(24, 0);
  description.variables[0].name = "weight";
  description.variables[0].aliases = {"w"};
  const Program recompiled = open(description);
  Session other = create(recompiled);
  const Status status = other.load_checkpoint(path);
  INFO(status.message());
  REQUIRE(status.ok());
  CHECK(get(other, "table", 6) == std::vector<float>{10, 11, 12, 13, 14, 15});
  CHECK(get(other, "weight", 4) == std::vector<float>{1, 2, 3, 4});
}

TEST_CASE("a delta holds what differs from the initial values, and brings exactly that state back") {
  const Program program = open(describe_test_program());
  Session session = create(program), other = create(program);
  const std::string path = temporary_path("delta"), whole = temporary_path("whole");
  REQUIRE(session.save_delta(path).ok());
  CHECK(session.load_variables(path).ok());  // a file without tensors
  set_w(session, 9);
  FerruleTrainingPosition position{};
  position.step = 17;
  REQUIRE(session.save_delta(path, position).ok());
  REQUIRE(session.save_checkpoint(whole, position).ok());
  CHECK(read_file(path).size() < read_file(whole).size());
  const std::vector<uint8_t> bytes = read_file(path);
  const std::string text(bytes.begin(), bytes.end());
  CHECK_THAT(text, Contains("\"w\"") && !Contains("\"table\"") && !Contains("\"counter\""));

  // What the delta lacks goes back to its initial values.
  const std::vector<float> table{6, 5, 4, 3, 2, 1};
  REQUIRE(other.set_variable("table", table.data(), 24).ok());
  FerruleTrainingPosition loaded{};
  const Status status = other.load_checkpoint(path, &loaded);
  INFO(status.message());
  REQUIRE(status.ok());
  CHECK(loaded.step == 17);
  CHECK(get(other, "w", 4) == std::vector<float>(4, 9));
  CHECK(get(other, "table", 6) == std::vector<float>{10, 11, 12, 13, 14, 15});

  serialize::ProgramDescription description = describe_test_program();
  description.variables[0].initial_value[0] ^= 1;
  const Program with_other_weights = open(description);
  Session third = create(with_other_weights);
  const Status refused = third.load_checkpoint(path);
  CHECK(refused.code() == kFerruleInvalidArtifact);
  CHECK_THAT(refused.message(), Contains("hash") && Contains(path));
  CHECK(third.load_checkpoint(whole).ok());
}

TEST_CASE("variables are saved and loaded by name, all that a file holds or none") {
  const Program program = open(describe_test_program());
  Session session = create(program), other = create(program);
  set_w(session, 3);
  const std::string path = temporary_path("some_variables");
  REQUIRE(session.save_variables(path, {"weights", "w"}).ok());  // an alias of `table`, and a name
  REQUIRE(session.save_variables(temporary_path("no_variables"), {}).ok());
  Result<uint32_t> count = other.load_variables(path);
  INFO(count.status().message());
  REQUIRE(count.ok());
  CHECK(*count == 2);
  CHECK(get(other, "w", 4) == std::vector<float>(4, 3));
  CHECK(*other.load_variables(temporary_path("no_variables")) == 0);

  CHECK(session.save_variables(path, {"bias"}).code() == kFerruleNotFound);
  CHECK_THAT(session.save_variables(path, {"table", "weights"}).message(),
             Contains("twice") && Contains("'table'") && Contains("'weights'"));

  serialize::ProgramDescription description = describe_test_program();
  description.variables[0].name = "bias";
  const Program renamed = open(description);
  Session third = create(renamed);
  REQUIRE(session.save_variables(path, {"table", "w"}).ok());
  const Result<uint32_t> refused = third.load_variables(path);
  CHECK(refused.status().code() == kFerruleNotFound);
  CHECK_THAT(refused.status().message(), Contains("'w'") && Contains(path) && Contains("bias"));
  CHECK(get(third, "table", 6) == std::vector<float>{10, 11, 12, 13, 14, 15});
}

TEST_CASE("a checkpoint of another model is refused, names listed, and changes nothing") {
  const Program program = open(describe_test_program());
  Session session = create(program);
  const std::string path = temporary_path("other_model");
  REQUIRE(session.save_checkpoint(path).ok());

  serialize::ProgramDescription description = describe_test_program();
  description.variables[0].name = "bias";
  description.variables[2].name = "clock";
  const Program renamed = open(description);
  Session other = create(renamed);
  const Status status = other.load_checkpoint(path);
  CHECK(status.code() == kFerruleInvalidArtifact);
  CHECK_THAT(status.message(), Contains("2 missing: bias, clock") && Contains("2 unexpected: ") && Contains("w") &&
                                   Contains("counter") && Contains(path));
  CHECK(get(other, "bias", 4) == std::vector<float>{1, 2, 3, 4});

  description = describe_test_program();
  description.variables[2].shape = {2};
  description.variables[2].initial_value.resize(8);
  const Program reshaped = open(description);
  Session third = create(reshaped);
  CHECK_THAT(third.load_checkpoint(path).message(),
             Contains("counter") && Contains("int32 []") && Contains("int32 [2]"));
}

TEST_CASE("missing, foreign and truncated checkpoints") {
  const Program program = open(describe_test_program());
  Session session = create(program);
  CHECK(session.load_checkpoint("/nowhere/checkpoint").code() == kFerruleNotFound);
  CHECK(session.save_checkpoint("/nowhere/checkpoint").code() == kFerruleIoError);
  CHECK(session.load_checkpoint("/tmp").code() == kFerruleIoError);
  const std::string path = temporary_path("truncated");
  REQUIRE(session.save_checkpoint(path).ok());
  std::vector<uint8_t> bytes = read_file(path);
  bytes.pop_back();
  write_file(path, bytes);
  CHECK(session.load_checkpoint(path).code() == kFerruleInvalidArtifact);
  write_file(path, {});
  CHECK(session.load_checkpoint(path).code() == kFerruleInvalidArtifact);
  CHECK(session.info().state_complete == 1);
}

// Saves in a child process that may write `limit` bytes to a file: past it, the write fails (as on a full disk) or,
// with `kill`, the child dies in the middle of the write. Returns the child's wait status.
int save_with_limit(const Session& session, const std::string& path, rlim_t limit, bool kill) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, kill ? SIG_DFL : SIG_IGN);
    const rlimit no_core{0, 0}, file_size{limit, limit};
    setrlimit(RLIMIT_CORE, &no_core);
    setrlimit(RLIMIT_FSIZE, &file_size);
    _exit(session.save_checkpoint(path).ok() ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

TEST_CASE("a full disk or a kill at any byte of a save leaves the old checkpoint, and a later save works") {
  const Program program = open(describe_test_program());
  Session session = create(program);
  const std::string path = temporary_path("cut");
  set_w(session, 1);
  REQUIRE(session.save_checkpoint(path).ok());
  const std::vector<uint8_t> old = read_file(path);
  set_w(session, 2);
  for (const bool kill : {false, true}) {
    for (rlim_t limit = 0; limit < old.size(); ++limit) {
      const int status = save_with_limit(session, path, limit, kill);
      if (kill)
        REQUIRE((WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ));
      else
        REQUIRE((WIFEXITED(status) && WEXITSTATUS(status) == 1));
      REQUIRE(read_file(path) == old);
    }
  }
  REQUIRE(session.save_checkpoint(path).ok());
  Session other = create(program);
  REQUIRE(other.load_checkpoint(path).ok());
  CHECK(get(other, "w", 4) == std::vector<float>(4, 2));
}

TEST_CASE("a full disk is named, with the file that survives") {
  const Program program = open(describe_test_program());
  Session session = create(program);
  const std::string path = temporary_path("full");
  signal(SIGXFSZ, SIG_IGN);
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = before;
  small.rlim_cur = 100;
  setrlimit(RLIMIT_FSIZE, &small);
  const Status status = session.save_checkpoint(path);
  setrlimit(RLIMIT_FSIZE, &before);
  CHECK(status.code() == kFerruleIoError);
  CHECK_THAT(status.message(), Contains(path) && Contains("unchanged"));
  struct stat info;
  CHECK(stat((path + ".partial").c_str(), &info) != 0);
}

TEST_CASE("two writers of one checkpoint: the second is refused") {
  const Program program = open(describe_test_program());
  Session session = create(program);
  const std::string path = temporary_path("contested");
  const int other = ::open((path + ".partial").c_str(), O_WRONLY | O_CREAT, 0666);
  REQUIRE(flock(other, LOCK_EX) == 0);
  CHECK_THAT(session.save_checkpoint(path).message(), Contains("another process"));
  close(other);
  CHECK(session.save_checkpoint(path).ok());
}

}  // namespace
}  // namespace ferrule
