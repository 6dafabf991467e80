//===- TestSupport.h - Short forms for the core's tests -------------------===//
#ifndef FERRULE_FRONTEND_CORE_TESTSUPPORT_H
#define FERRULE_FRONTEND_CORE_TESTSUPPORT_H

#include "frontend/core/Error.h"
#include "frontend/core/Frontend.h"

#include "llvm/Support/raw_ostream.h"

#include "catch2/catch.hpp"

#include <cstring>

namespace ferrule::frontend {

/// A front end whose compiler keeps the text of what it is given and refuses
/// it: enough to see what a flush would run.
struct RecordingFrontend {
  std::vector<std::string> modules;
  Frontend frontend{[this](mlir::ModuleOp module) -> llvm::Expected<std::vector<uint8_t>> {
    std::string text;
    llvm::raw_string_ostream os(text);
    module.print(os);
    modules.push_back(text);
    return makeError(ErrorKind::Unsupported, "not compiled in this test");
  }};
};

template <typename T> TensorRef makeTensor(DataType type, llvm::ArrayRef<int64_t> sizes, std::vector<T> elements) {
  auto buffer = HostBuffer::allocate(elements.size() * sizeof(T));
  std::memcpy(buffer->data(), elements.data(), elements.size() * sizeof(T));
  return std::make_shared<Tensor>(type, toShape(sizes), buffer);
}

inline TensorRef zeros(DataType type, llvm::ArrayRef<int64_t> sizes) {
  std::vector<char> bytes(*countElements(sizes) * getByteSize(type), 0);
  return makeTensor<char>(type, sizes, bytes);
}

inline OpCall makeCall(std::string op, llvm::ArrayRef<Operand> operands, llvm::ArrayRef<OpAttribute> attributes = {}) {
  OpCall call;
  call.op = std::move(op);
  call.operands.assign(operands.begin(), operands.end());
  call.attributes.assign(attributes.begin(), attributes.end());
  call.location = {"net.py", 12};
  call.modulePath = "net.conv1";
  return call;
}

inline TensorRef apply(Frontend &frontend, std::string op, llvm::ArrayRef<Operand> operands,
                       llvm::ArrayRef<OpAttribute> attributes = {}) {
  llvm::Expected<TensorRefs> results = frontend.apply(makeCall(std::move(op), operands, attributes));
  if (!results)
    FAIL(takeErrorText(results.takeError()).message);
  return results->front();
}

inline ErrorText applyError(Frontend &frontend, std::string op, llvm::ArrayRef<Operand> operands,
                            llvm::ArrayRef<OpAttribute> attributes = {}) {
  llvm::Expected<TensorRefs> results = frontend.apply(makeCall(std::move(op), operands, attributes));
  REQUIRE_FALSE(bool(results));
  return takeErrorText(results.takeError());
}

} // namespace ferrule::frontend

#endif // FERRULE_FRONTEND_CORE_TESTSUPPORT_H
