//===- Tensor.h - What a user's tensor object refers to -------------------===//
//
// A tensor is concrete (its elements are in host memory), pending (its op is
// recorded in dynamic mode and has not run), failed (what should have computed
// it could not be compiled or run), or traced (it stands for a value of an entry
// under construction and has no elements).
//
//===----------------------------------------------------------------------===//
#ifndef FERRULE_FRONTEND_CORE_TENSOR_H
#define FERRULE_FRONTEND_CORE_TENSOR_H

#include "frontend/core/DataType.h"
#include "frontend/core/Error.h"
#include "frontend/core/HostBuffer.h"
#include "frontend/core/Shape.h"
#include "frontend/core/SourceLocation.h"

#include <memory>

namespace ferrule::frontend {

class OpStream;

class Tensor {
public:
  /// A concrete tensor over row-major `buffer`, whose size is that of `shape`.
  Tensor(DataType dtype, Shape shape, std::shared_ptr<HostBuffer> buffer, SourceLocation location = {})
      : dtype(dtype), shape(std::move(shape)), buffer(std::move(buffer)), location(std::move(location)) {}

  /// A value of stream number `streamId`; `value` is mlir::Value's opaque
  /// pointer and is followed only while that stream exists.
  Tensor(DataType dtype, Shape shape, uint64_t streamId, bool isTraced, const void *value, SourceLocation location)
      : dtype(dtype), shape(std::move(shape)), streamId(streamId), traced(isTraced), value(value),
        location(std::move(location)) {}

  DataType getType() const { return dtype; }
  const Shape &getShape() const { return shape; }
  const SourceLocation &getLocation() const { return location; }

  bool isConcrete() const { return buffer != nullptr; }
  bool isTraced() const { return traced; }
  bool isPending() const { return !buffer && !traced && !failure; }
  bool hasFailed() const { return failure != nullptr; }

  /// Row-major elements; null unless concrete.
  const std::shared_ptr<HostBuffer> &getBuffer() const { return buffer; }

  /// Why there will be no elements; null unless failed.
  const std::shared_ptr<const ErrorText> &getFailure() const { return failure; }

  uint64_t getStreamId() const { return streamId; }
  const void *getOpaqueValue() const { return value; }

  /// Called by the recorder when the op has run. The value stays usable in its
  /// stream, so that a later gradient can still go through it.
  void setBuffer(std::shared_ptr<HostBuffer> elements) { buffer = std::move(elements); }

  /// Called by the recorder instead: whoever looks at the tensor gets this error.
  void setFailure(std::shared_ptr<const ErrorText> reason) { failure = std::move(reason); }

private:
  DataType dtype;
  Shape shape;
  std::shared_ptr<HostBuffer> buffer;
  std::shared_ptr<const ErrorText> failure;
  uint64_t streamId = 0;
  bool traced = false;
  const void *value = nullptr;
  SourceLocation location;
};

using TensorRef = std::shared_ptr<Tensor>;

} // namespace ferrule::frontend

#endif // FERRULE_FRONTEND_CORE_TENSOR_H
