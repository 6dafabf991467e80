// Short spellings for building graph ops at one place with one location: gradient rules and rewrites read as formulas.
#ifndef FERRULE_IR_GRAPH_GRAPHBUILDER_H_
#define FERRULE_IR_GRAPH_GRAPHBUILDER_H_

#include "ir/graph/Shapes.h"

#include "mlir/IR/Builders.h"

namespace mlir::ferrule {

class GraphBuilder {
public:
  GraphBuilder(OpBuilder &builder, Location location) : builder(builder), location(location) {}

  OpBuilder &getBuilder() { return builder; }
  Location getLocation() const { return location; }

  template <typename OpType, typename... Args> OpType create(Args &&...args) {
    return OpType::create(builder, location, std::forward<Args>(args)...);
  }

  // Elementwise. Operands have one type (masks: one shape).
  Value neg(Value x);
  Value sign(Value x);
  Value exp(Value x);
  Value log(Value x);
  Value sin(Value x);
  Value cos(Value x);
  Value add(Value x, Value y);
  Value sub(Value x, Value y);
  Value mul(Value x, Value y);
  Value div(Value x, Value y);
  Value pow(Value x, Value y);
  Value floorDiv(Value x, Value y);
  Value equal(Value x, Value y);
  Value less(Value x, Value y);
  Value greater(Value x, Value y);
  Value greaterEqual(Value x, Value y);
  Value logicalAnd(Value x, Value y);
  Value where(Value mask, Value x, Value y);
  Value fma(Value a, Value b, Value c);
  Value cast(Value x, Type elementType);

  /// sqrt(1 - x^2), exact also near 1.
  Value coordinateOnCircle(Value x);
  /// a / (x^2 + y^2), where neither square overflows nor vanishes; where x and y are 0 it is a, so 0 if a is one of them.
  Value overSquaredNorm(Value a, Value x, Value y);

  /// A tensor of the type of `model` with every element `value` (converted to its dtype).
  Value like(Value model, double value);
  /// The same for any dtype and shape.
  Value full(Type elementType, ArrayRef<DimExpr> dims, double value);

  // Shape. A reshape, transpose or broadcast that changes nothing returns x.
  Value reshape(Value x, ArrayRef<DimExpr> dims);
  Value transpose(Value x, ArrayRef<int64_t> pattern);
  Value broadcastTo(Value x, ArrayRef<DimExpr> dims);
  Value slice(Value x, ArrayRef<DimExpr> starts, ArrayRef<DimExpr> stops, ArrayRef<int64_t> steps);
  Value concat(ValueRange xs, int64_t axis);

  // Reductions.
  Value reduceSum(Value x, ArrayRef<int64_t> axes, bool keepdims = false);
  Value reduceProd(Value x, ArrayRef<int64_t> axes, bool keepdims = false);

  /// The inverse of a reduction's shape change: `reduced` (with or without the axes kept) repeated along `axes` to the
  /// shape of `model`.
  Value expandReduced(Value reduced, Value model, ArrayRef<int64_t> axes);
  /// `values`, indexed by the axes `axes` of `model` in that order, repeated along all others.
  Value expandAxes(Value values, Value model, ArrayRef<int64_t> axes);
  /// The gradient of a largest or smallest element y of x along axes: split evenly between the elements equal to y.
  Value extremumGradient(Value x, Value y, Value g, ArrayRef<int64_t> axes);

private:
  OpBuilder &builder;
  Location location;
};

/// Creates the op called `name` (`ferrule.add`) with attributes by their plain names, and infers its result types.
/// A null operand stands for an absent optional one (`normalize` without weight). Errors (unknown name, an attribute
/// of the wrong kind, operands that do not fit) go to the location's diagnostics, and nothing is created.
FailureOr<Operation *> createOp(OpBuilder &builder, Location location, StringRef name, ArrayRef<Value> operands,
                                ArrayRef<NamedAttribute> attributes);

} // namespace mlir::ferrule

#endif // FERRULE_IR_GRAPH_GRAPHBUILDER_H_
