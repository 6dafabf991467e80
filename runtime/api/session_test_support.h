// What the tests of sessions share.
#ifndef FERRULE_RUNTIME_API_SESSION_TEST_SUPPORT_H_
#define FERRULE_RUNTIME_API_SESSION_TEST_SUPPORT_H_

#include <string>
#include <utility>
#include <vector>

#include "catch2/catch.hpp"
#include "runtime/api/ferrule.hpp"
#include "runtime/testing/test_program.h"

namespace ferrule::runtime::testing {

using Contains = Catch::Matchers::StdString::ContainsMatcher;

inline Contains contains(const std::string& text) { return Catch::Matchers::Contains(text); }

inline Program open_test_program() {
  const std::vector<uint8_t> bytes = test_artifact();
  Result<Program> program = Program::open_bytes(bytes.data(), bytes.size());
  INFO(program.status().message());
  REQUIRE(program.ok());
  return std::move(*program);
}

inline Session create_session(const Program& program, uint32_t threads = 1, const Session* share = nullptr) {
  Session::Options options;
  options.thread_count = threads;
  options.share = share;
  Result<Session> session = Session::create(program, options);
  INFO(session.status().message());
  REQUIRE(session.ok());
  return std::move(*session);
}

// x[r][c] = first + r * 4 + c.
inline Tensor rows(int64_t batch, float first = 0) {
  Tensor tensor(DataTypeOf<float>::value, {batch, 4});
  for (int64_t i = 0; i < batch * 4; ++i) tensor.data<float>()[i] = first + static_cast<float>(i);
  return tensor;
}

inline Tensor indices(const std::vector<int32_t>& values) {
  return Tensor::copy_of<int32_t>({static_cast<int64_t>(values.size())}, values.data());
}

inline std::vector<float> floats(const Tensor& tensor) {
  REQUIRE(tensor.is<float>());
  return {tensor.data<float>(), tensor.data<float>() + tensor.element_count()};
}

inline void check_ok(const Status& status) {
  INFO(status.message());
  CHECK(status.ok());
}

}  // namespace ferrule::runtime::testing

#endif  // FERRULE_RUNTIME_API_SESSION_TEST_SUPPORT_H_
