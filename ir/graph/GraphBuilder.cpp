#include "ir/graph/GraphBuilder.h"

#include "ir/graph/FerruleOps.h"
#include "ir/graph/Inference.h"

namespace mlir::ferrule {

Value GraphBuilder::neg(Value x) { return create<NegOp>(x); }
Value GraphBuilder::sign(Value x) { return create<SignOp>(x); }
Value GraphBuilder::exp(Value x) { return create<ExpOp>(x); }
Value GraphBuilder::log(Value x) { return create<LogOp>(x); }
Value GraphBuilder::sin(Value x) { return create<SinOp>(x); }
Value GraphBuilder::cos(Value x) { return create<CosOp>(x); }
Value GraphBuilder::add(Value x, Value y) { return create<AddOp>(x, y); }
Value GraphBuilder::sub(Value x, Value y) { return create<SubOp>(x, y); }
Value GraphBuilder::mul(Value x, Value y) { return create<MulOp>(x, y); }
Value GraphBuilder::div(Value x, Value y) { return create<DivOp>(x, y); }
Value GraphBuilder::pow(Value x, Value y) { return create<PowOp>(x, y); }
Value GraphBuilder::floorDiv(Value x, Value y) { return create<FloorDivOp>(x, y); }
Value GraphBuilder::equal(Value x, Value y) { return create<EqualOp>(x, y); }
Value GraphBuilder::less(Value x, Value y) { return create<LessOp>(x, y); }
Value GraphBuilder::greater(Value x, Value y) { return create<GreaterOp>(x, y); }
Value GraphBuilder::greaterEqual(Value x, Value y) { return create<GreaterEqualOp>(x, y); }
Value GraphBuilder::logicalAnd(Value x, Value y) { return create<LogicalAndOp>(x, y); }
Value GraphBuilder::where(Value mask, Value x, Value y) { return create<WhereOp>(mask, x, y); }
Value GraphBuilder::fma(Value a, Value b, Value c) { return create<FmaOp>(a, b, c); }

Value GraphBuilder::coordinateOnCircle(Value x) {
  Value one = like(x, 1.0);
  return create<SqrtOp>(mul(sub(one, x), add(one, x)));
}

Value GraphBuilder::overSquaredNorm(Value a, Value x, Value y) {
  Value norm = create<HypotOp>(x, y);
  Value divisor = where(equal(norm, like(norm, 0.0)), like(norm, 1.0), norm);
  return div(div(a, divisor), divisor);
}

Value GraphBuilder::cast(Value x, Type elementType) {
  return getElementType(x) == elementType ? x : Value(create<CastOp>(x, elementType));
}

Value GraphBuilder::full(Type elementType, ArrayRef<DimExpr> dims, double value) {
  Attribute element;
  if (auto type = dyn_cast<FloatType>(elementType))
    element = FloatAttr::get(type, value);
  else
    element = IntegerAttr::get(elementType, static_cast<int64_t>(value));
  Value scalar = create<ConstantOp>(DenseElementsAttr::get(RankedTensorType::get({}, elementType), element));
  return broadcastTo(scalar, dims);
}

Value GraphBuilder::like(Value model, double value) { return full(getElementType(model), getDims(model), value); }

Value GraphBuilder::reshape(Value x, ArrayRef<DimExpr> dims) {
  if (ArrayRef<DimExpr>(getDims(x)) == dims)
    return x;
  return create<ReshapeOp>(x, DimsAttr::get(x.getContext(), dims));
}

Value GraphBuilder::transpose(Value x, ArrayRef<int64_t> pattern) {
  if (llvm::equal(pattern, llvm::seq<int64_t>(0, pattern.size())))
    return x;
  return create<TransposeOp>(x, pattern);
}

Value GraphBuilder::broadcastTo(Value x, ArrayRef<DimExpr> dims) {
  if (ArrayRef<DimExpr>(getDims(x)) == dims)
    return x;
  return create<BroadcastToOp>(x, DimsAttr::get(x.getContext(), dims));
}

Value GraphBuilder::slice(Value x, ArrayRef<DimExpr> starts, ArrayRef<DimExpr> stops, ArrayRef<int64_t> steps) {
  MLIRContext *context = x.getContext();
  return create<SliceOp>(x, DimsAttr::get(context, starts), DimsAttr::get(context, stops), steps);
}

Value GraphBuilder::concat(ValueRange xs, int64_t axis) {
  return xs.size() == 1 ? xs.front() : Value(create<ConcatOp>(xs, axis));
}

Value GraphBuilder::reduceSum(Value x, ArrayRef<int64_t> axes, bool keepdims) {
  return create<ReduceSumOp>(x, axes, keepdims);
}

Value GraphBuilder::reduceProd(Value x, ArrayRef<int64_t> axes, bool keepdims) {
  return create<ReduceProdOp>(x, axes, keepdims);
}

Value GraphBuilder::expandReduced(Value reduced, Value model, ArrayRef<int64_t> axes) {
  Dims dims = getDims(model);
  return broadcastTo(reshape(reduced, removeAxes(dims, axes, /*keepdims=*/true)), dims);
}

Value GraphBuilder::expandAxes(Value values, Value model, ArrayRef<int64_t> axes) {
  Dims dims = getDims(model);
  // Order the axes as in the model, then give the others size 1.
  SmallVector<int64_t> pattern = llvm::to_vector(llvm::seq<int64_t>(0, axes.size()));
  llvm::sort(pattern, [&](int64_t a, int64_t b) { return axes[a] < axes[b]; });
  Dims kept(dims.size(), DimExpr(1));
  for (int64_t axis : axes)
    kept[axis] = dims[axis];
  return broadcastTo(reshape(transpose(values, pattern), kept), dims);
}

Value GraphBuilder::extremumGradient(Value x, Value y, Value g, ArrayRef<int64_t> axes) {
  Value chosen = equal(x, expandReduced(y, x, axes));
  Value count = reduceSum(cast(chosen, getElementType(x)), axes);
  Value share = div(reshape(g, getDims(count)), count);
  return where(chosen, expandReduced(share, x, axes), like(x, 0.0));
}

//===------------------------------------------------------------------------------------------------------------===//
// Ops by name
//===------------------------------------------------------------------------------------------------------------===//

/// The segment sizes of an op whose groups hold one operand each, apart from the last, which takes the rest.
static SmallVector<int32_t> countSegments(ArrayRef<Value> operands, unsigned groups) {
  SmallVector<int32_t> sizes(groups, 0);
  for (auto [index, operand] : llvm::enumerate(operands))
    sizes[std::min<size_t>(index, groups - 1)] += operand ? 1 : 0;
  return sizes;
}

/// How many operand groups an op with segments has; 0 for one without.
static unsigned getSegmentGroups(RegisteredOperationName name) {
  if (!name.hasTrait<OpTrait::AttrSizedOperandSegments>())
    return 0;
  return 3; // normalize (x, weight, bias) and gradient (cost, cotangent, wrt...)
}

FailureOr<Operation *> createOp(OpBuilder &builder, Location location, StringRef name, ArrayRef<Value> operands,
                                ArrayRef<NamedAttribute> attributes) {
  std::optional<RegisteredOperationName> info = RegisteredOperationName::lookup(name, builder.getContext());
  if (!info)
    return emitError(location) << "there is no op called " << name;
  NamedAttrList all(attributes);
  for (NamedAttribute attribute : attributes)
    if (!llvm::is_contained(info->getAttributeNames(), attribute.getName()))
      return emitError(location) << name << ": there is no attribute '" << attribute.getName().getValue() << "'";
  if (unsigned groups = getSegmentGroups(*info))
    all.set("operandSegmentSizes", builder.getDenseI32ArrayAttr(countSegments(operands, groups)));

  OperationState state(location, *info);
  for (Value operand : operands)
    if (operand)
      state.operands.push_back(operand);
  auto report = [&] { return emitError(location) << name << ": "; };
  if (failed(info->verifyInherentAttrs(all, report)))
    return failure();
  state.attributes = all;
  DictionaryAttr dictionary = all.getDictionary(builder.getContext());

  // The type rule reads attributes as the op's properties, which exist only once they are built.
  using Word = std::max_align_t;
  SmallVector<Word, 8> storage((info->getOpPropertyByteSize() + sizeof(Word) - 1) / sizeof(Word));
  OpaqueProperties properties(storage.empty() ? nullptr : static_cast<void *>(storage.data()));
  if (properties) {
    info->initOpProperties(properties, OpaqueProperties(nullptr));
    if (failed(info->setOpPropertiesFromAttribute(*info, properties, dictionary, report))) {
      info->destroyOpProperties(properties);
      return failure();
    }
    info->populateDefaultProperties(properties);
  }
  LogicalResult inferred = failure();
  if (auto *interface = info->getInterface<InferTypeOpInterface>())
    inferred = interface->inferReturnTypes(builder.getContext(), location, state.operands, dictionary, properties,
                                           RegionRange(), state.types);
  else
    report() << "its result types do not follow from its operands";
  if (properties)
    info->destroyOpProperties(properties);
  if (failed(inferred))
    return failure();
  return builder.create(state);
}

} // namespace mlir::ferrule
