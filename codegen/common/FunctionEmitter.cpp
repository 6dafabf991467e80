//===- FunctionEmitter.cpp - Building one LLVM function -------------------===//

#include "codegen/common/FunctionEmitter.h"

using namespace mlir;
using namespace mlir::ferrule;

FunctionEmitter::FunctionEmitter(ModuleOp module, StringRef name, TypeRange argumentTypes, Type resultType,
                                 bool isCallback)
    : module(module), b(module.getContext()), loc(module.getLoc()) {
  b.setInsertionPointToEnd(module.getBody());
  Type result = resultType ? resultType : LLVM::LLVMVoidType::get(b.getContext());
  auto type = LLVM::LLVMFunctionType::get(result, llvm::to_vector(argumentTypes));
  function = LLVM::LLVMFuncOp::create(b, loc, name, type,
                                      isCallback ? LLVM::Linkage::Internal : LLVM::Linkage::External);
  if (isCallback)
    function.setAlwaysInline(true);
  b.setInsertionPointToStart(function.addEntryBlock(b));
}

Type FunctionEmitter::memoryType(Type element) {
  if (element.isInteger(1))
    return b.getI8Type();
  if (auto integer = dyn_cast<IntegerType>(element))
    return b.getIntegerType(integer.getWidth());
  if (element.isF16() || element.isBF16())
    return b.getI16Type();
  return element;
}

Value FunctionEmitter::index(int64_t value) {
  return LLVM::ConstantOp::create(b, loc, indexType(), b.getI64IntegerAttr(value));
}

Value FunctionEmitter::f64(double value) {
  return LLVM::ConstantOp::create(b, loc, b.getF64Type(), b.getF64FloatAttr(value));
}

Value FunctionEmitter::boolean(bool value) {
  return LLVM::ConstantOp::create(b, loc, b.getI1Type(), b.getBoolAttr(value));
}

Value FunctionEmitter::laneNumbers() {
  SmallVector<int64_t> numbers = llvm::to_vector(llvm::seq<int64_t>(0, laneCount));
  return LLVM::ConstantOp::create(b, loc, vectorOf(indexType()), b.getI64VectorAttr(numbers));
}

Value FunctionEmitter::splat(Value scalar) {
  VectorType type = vectorOf(scalar.getType());
  Value undefined = LLVM::PoisonOp::create(b, loc, type);
  Value zero = LLVM::ConstantOp::create(b, loc, b.getI32Type(), b.getI32IntegerAttr(0));
  Value first = LLVM::InsertElementOp::create(b, loc, undefined, scalar, zero);
  SmallVector<int32_t> mask(laneCount, 0);
  return LLVM::ShuffleVectorOp::create(b, loc, first, undefined, mask);
}

Value FunctionEmitter::splatConstant(Type element, TypedAttr value) {
  return LLVM::ConstantOp::create(b, loc, vectorOf(element),
                                  DenseElementsAttr::get(vectorOf(element), ArrayRef<Attribute>{value}));
}

std::pair<Value, Value> FunctionEmitter::unify(Value x, Value y) {
  bool vectorX = isa<VectorType>(x.getType()), vectorY = isa<VectorType>(y.getType());
  if (vectorX && !vectorY)
    return {x, splat(y)};
  if (vectorY && !vectorX)
    return {splat(x), y};
  return {x, y};
}

Value FunctionEmitter::add(Value x, Value y) {
  auto [u, v] = unify(x, y);
  return LLVM::AddOp::create(b, loc, u, v);
}
Value FunctionEmitter::sub(Value x, Value y) {
  auto [u, v] = unify(x, y);
  return LLVM::SubOp::create(b, loc, u, v);
}
Value FunctionEmitter::mul(Value x, Value y) {
  auto [u, v] = unify(x, y);
  return LLVM::MulOp::create(b, loc, u, v);
}
Value FunctionEmitter::divide(Value x, Value y) {
  auto [u, v] = unify(x, y);
  return LLVM::UDivOp::create(b, loc, u, v);
}
Value FunctionEmitter::remainder(Value x, Value y) {
  auto [u, v] = unify(x, y);
  return LLVM::URemOp::create(b, loc, u, v);
}
Value FunctionEmitter::lessThan(Value x, Value y) {
  auto [u, v] = unify(x, y);
  return LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::slt, u, v);
}

Value FunctionEmitter::minimum(Value x, Value y) { return LLVM::SMinOp::create(b, loc, x, y); }
Value FunctionEmitter::maximum(Value x, Value y) { return LLVM::SMaxOp::create(b, loc, x, y); }

void FunctionEmitter::loop(Value begin, Value end, llvm::function_ref<void(Value)> body) {
  Region &region = function.getBody();
  Block *before = b.getInsertionBlock();
  Block *header = b.createBlock(&region, region.end(), TypeRange{indexType()}, {loc});
  Block *inside = b.createBlock(&region, region.end());
  Block *after = b.createBlock(&region, region.end());
  b.setInsertionPointToEnd(before);
  LLVM::BrOp::create(b, loc, ValueRange{begin}, header);
  b.setInsertionPointToEnd(header);
  Value i = header->getArgument(0);
  LLVM::CondBrOp::create(b, loc, lessThan(i, end), inside, after);
  b.setInsertionPointToEnd(inside);
  body(i);
  LLVM::BrOp::create(b, loc, ValueRange{add(i, index(1))}, header);
  b.setInsertionPointToEnd(after);
}

Value FunctionEmitter::laneMask(Value count) { return lessThan(laneNumbers(), splat(count)); }

Value FunctionEmitter::orZeroIfEmpty(Value value, Value mask) {
  Type bits = b.getIntegerType(laneCount);
  Value hasLane = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::ne, LLVM::BitcastOp::create(b, loc, bits, mask),
                                       LLVM::ZeroOp::create(b, loc, bits));
  return LLVM::SelectOp::create(b, loc, hasLane, value, index(0));
}

Value FunctionEmitter::elementPointer(Value pointer, Type element, Value offset) {
  Type result = pointerType();
  if (isa<VectorType>(offset.getType()))
    result = VectorType::get({laneCount}, pointerType());
  return LLVM::GEPOp::create(b, loc, result, memoryType(element), pointer, ValueRange{offset});
}

Value FunctionEmitter::load(Type type, Value pointer, unsigned alignment) {
  return LLVM::LoadOp::create(b, loc, type, pointer, alignment);
}

void FunctionEmitter::store(Value value, Value pointer, unsigned alignment) {
  LLVM::StoreOp::create(b, loc, value, pointer, alignment);
}

/// Booleans: any byte that is not zero is true.
Value FunctionEmitter::fromMemory(Type element, Value vector) {
  if (!element.isInteger(1))
    return vector;
  Value zero = LLVM::ZeroOp::create(b, loc, vector.getType());
  return LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::ne, vector, zero);
}

static unsigned getByteCount(Type memoryType) { return (memoryType.getIntOrFloatBitWidth() + 7) / 8; }

Value FunctionEmitter::loadContiguous(Type element, Value pointer, Value offset, Value mask) {
  Type memory = memoryType(element);
  Value zero = LLVM::ZeroOp::create(b, loc, vectorOf(memory));
  Value vector =
      LLVM::MaskedLoadOp::create(b, loc, vectorOf(memory), elementPointer(pointer, element, offset), mask,
                                 zero, getByteCount(memory));
  return fromMemory(element, vector);
}

Value FunctionEmitter::loadRepeated(Type element, Value pointer, Value offset) {
  Value scalar = load(memoryType(element), elementPointer(pointer, element, offset));
  return fromMemory(element, splat(scalar));
}

Value FunctionEmitter::gather(Type element, Value pointer, Value offsets, Value mask) {
  Type memory = memoryType(element);
  Value zero = LLVM::ZeroOp::create(b, loc, vectorOf(memory));
  Value vector = LLVM::masked_gather::create(b, loc, vectorOf(memory), elementPointer(pointer, element, offsets),
                                             mask, ValueRange{zero}, b.getI32IntegerAttr(getByteCount(memory)));
  return fromMemory(element, vector);
}

void FunctionEmitter::prefetch(Type element, Value pointer, Value offset) {
  constexpr int32_t reading = 0, nearest = 3, data = 1;
  LLVM::Prefetch::create(b, loc, elementPointer(pointer, memoryType(element), offset), reading, nearest, data);
}

void FunctionEmitter::storeContiguous(Value vector, Type element, Value pointer, Value offset, Value mask) {
  Type memory = memoryType(element);
  if (element.isInteger(1))
    vector = LLVM::ZExtOp::create(b, loc, vectorOf(memory), vector);
  Value target = elementPointer(pointer, element, offset);
  auto storeLanes = [&] {
    LLVM::MaskedStoreOp::create(b, loc, vector, target, mask, b.getI32IntegerAttr(getByteCount(memory)));
  };
  if (getByteCount(memory) >= 4)
    return storeLanes();
  // LLVM 22 writes four bytes where a truncation to one or two meets a masked store whose constant mask has one lane: the
  // neighbour, which another thread may own, would be overwritten. One lane is stored as what it is. (Masks are those of
  // a count of at least one, so lane 1 tells.)
  auto extract = [&](Value lanes, int32_t lane) -> Value {
    Value number = LLVM::ConstantOp::create(b, loc, b.getI32Type(), b.getI32IntegerAttr(lane));
    return LLVM::ExtractElementOp::create(b, loc, lanes, number);
  };
  Value isSeveral = extract(mask, 1);
  Region &region = function.getBody();
  Block *before = b.getInsertionBlock();
  Block *several = b.createBlock(&region, region.end());
  Block *one = b.createBlock(&region, region.end());
  Block *after = b.createBlock(&region, region.end());
  b.setInsertionPointToEnd(before);
  LLVM::CondBrOp::create(b, loc, isSeveral, several, one);
  b.setInsertionPointToEnd(several);
  storeLanes();
  LLVM::BrOp::create(b, loc, ValueRange{}, after);
  b.setInsertionPointToEnd(one);
  store(extract(vector, 0), target, getByteCount(memory));
  LLVM::BrOp::create(b, loc, ValueRange{}, after);
  b.setInsertionPointToEnd(after);
}

Value FunctionEmitter::stackVectors(unsigned count) { return stackSlots(count * laneCount); }

Value FunctionEmitter::stackSlots(unsigned count) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&function.getBody().front());
  // One array and not `count` numbers: LLVM takes only such apart into values.
  auto slots = LLVM::LLVMArrayType::get(indexType(), count);
  return LLVM::AllocaOp::create(b, loc, pointerType(), slots, index(1), 64);
}

Value FunctionEmitter::constantSlots(ArrayRef<int64_t> numbers) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(module.getBody());
  std::string name = (function.getName() + ".table").str();
  for (unsigned next = 1; module.lookupSymbol(name); ++next)
    name = (function.getName() + ".table" + Twine(next)).str();
  auto type = LLVM::LLVMArrayType::get(indexType(), numbers.size());
  auto table = LLVM::GlobalOp::create(b, loc, type, /*isConstant=*/true, LLVM::Linkage::Private, name,
                                      b.getI64TensorAttr(numbers), /*alignment=*/64);
  b.setInsertionPointToStart(&function.getBody().front());
  return LLVM::AddressOfOp::create(b, loc, table);
}

Value FunctionEmitter::call(StringRef name, ValueRange operands, Type resultType) {
  Type result = resultType ? resultType : LLVM::LLVMVoidType::get(b.getContext());
  auto callee = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
  if (!callee) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    auto type = LLVM::LLVMFunctionType::get(result, llvm::to_vector(operands.getTypes()));
    callee = LLVM::LLVMFuncOp::create(b, loc, name, type);
  }
  auto call = LLVM::CallOp::create(b, loc, callee, operands);
  return resultType ? call.getResult() : Value();
}

Value FunctionEmitter::addressOf(LLVM::LLVMFuncOp callee) {
  if (!callee)
    return LLVM::ZeroOp::create(b, loc, pointerType());
  return LLVM::AddressOfOp::create(b, loc, callee);
}

void FunctionEmitter::ret(Value value) {
  LLVM::ReturnOp::create(b, loc, value ? ValueRange{value} : ValueRange{});
}
