//===- FunctionEmitter.h - Building one LLVM function ---------*- C++ -*-===//
//
// Short spellings for the LLVM dialect ops that kernels are made of. Every
// element vector has 16 lanes, whatever its type; booleans are i1 in registers
// and bytes in memory.
//
//===----------------------------------------------------------------------===//
#ifndef FERRULE_CODEGEN_COMMON_FUNCTIONEMITTER_H
#define FERRULE_CODEGEN_COMMON_FUNCTIONEMITTER_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::ferrule {

inline constexpr int64_t laneCount = 16;

class FunctionEmitter {
public:
  /// Starts `name(argumentTypes) -> resultType` (null: void) at the end of `module`.
  FunctionEmitter(ModuleOp module, StringRef name, TypeRange argumentTypes, Type resultType, bool isCallback);

  OpBuilder &builder() { return b; }
  Value argument(unsigned index) { return function.getArgument(index); }
  LLVM::LLVMFuncOp getFunction() { return function; }

  Type pointerType() { return LLVM::LLVMPointerType::get(b.getContext()); }
  Type indexType() { return b.getI64Type(); }
  VectorType vectorOf(Type element) { return VectorType::get({laneCount}, element); }
  /// The type of an element in memory: booleans are bytes, the sign of integers lies in the ops, 16-bit floats are
  /// their bits (only casts look into them).
  Type memoryType(Type element);

  Value index(int64_t value);
  Value f64(double value);
  Value boolean(bool value);
  /// 0, 1, .. 15 as i64 lanes.
  Value laneNumbers();
  Value splat(Value scalar);
  Value splatConstant(Type element, TypedAttr value);

  // i64 arithmetic; a scalar operand is splat where the other is a vector.
  Value add(Value a, Value b);
  Value sub(Value a, Value b);
  Value mul(Value a, Value b);
  /// Division of values that are not negative by a positive one.
  Value divide(Value a, Value b);
  Value remainder(Value a, Value b);
  Value lessThan(Value a, Value b);

  Value minimum(Value a, Value b);
  Value maximum(Value a, Value b);
  /// Runs `body` for begin <= i < end, one after the other.
  void loop(Value begin, Value end, llvm::function_ref<void(Value i)> body);

  /// Lanes below `count`.
  Value laneMask(Value count);
  /// `value` where the mask has a lane, else 0.
  Value orZeroIfEmpty(Value value, Value mask);

  /// pointer + offset elements.
  Value elementPointer(Value pointer, Type element, Value offset);
  Value load(Type type, Value pointer, unsigned alignment = 0);
  void store(Value value, Value pointer, unsigned alignment = 0);

  /// 16 elements of `element`: contiguous, one repeated, or anywhere (`offsets` a vector). Lanes outside the mask are
  /// zero and not read.
  Value loadContiguous(Type element, Value pointer, Value offset, Value mask);
  Value loadRepeated(Type element, Value pointer, Value offset);
  Value gather(Type element, Value pointer, Value offsets, Value mask);
  void storeContiguous(Value vector, Type element, Value pointer, Value offset, Value mask);
  /// Asks for the line that holds the element, which need not exist.
  void prefetch(Type element, Value pointer, Value offset);

  /// 64-byte aligned stack space for `count` vectors of 8-byte lanes, in the entry block.
  Value stackVectors(unsigned count);
  Value stackSlots(unsigned count);
  /// 64-byte aligned `numbers` of 8 bytes that nobody writes: what is read from there is known when the kernel is compiled.
  Value constantSlots(ArrayRef<int64_t> numbers);

  /// Calls `name`, declaring it in the module on first use.
  Value call(StringRef name, ValueRange operands, Type resultType = {});
  /// The null pointer where there is no function.
  Value addressOf(LLVM::LLVMFuncOp callee);
  void ret(Value value = {});

private:
  std::pair<Value, Value> unify(Value a, Value b);
  Value fromMemory(Type element, Value vector);

  ModuleOp module;
  LLVM::LLVMFuncOp function;
  OpBuilder b;
  Location loc;
};

} // namespace mlir::ferrule

#endif // FERRULE_CODEGEN_COMMON_FUNCTIONEMITTER_H
