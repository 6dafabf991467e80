//===- PrefixMasks.cpp - Masked loads and stores of leading lanes ---------===//

#include "codegen/emit/PrefixMasks.h"

#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#include <optional>

using namespace llvm;

namespace {

/// How many leading lanes a mask has: a constant, or a value of an integer type that is compared as signed or not.
struct Prefix {
  std::optional<unsigned> constant;
  Value *count = nullptr;
  bool isSigned = false;
};

/// <0, 1, 2, ...>
bool isLaneNumbers(Value *value) {
  auto *constant = dyn_cast<Constant>(value);
  auto *type = dyn_cast<FixedVectorType>(value->getType());
  if (!constant || !type)
    return false;
  for (unsigned lane = 0; lane < type->getNumElements(); ++lane) {
    auto *number = dyn_cast_or_null<ConstantInt>(constant->getAggregateElement(lane));
    if (!number || !number->equalsInt(lane))
      return false;
  }
  return true;
}

std::optional<Prefix> matchConstant(Constant *mask, unsigned lanes) {
  unsigned count = 0;
  bool ended = false;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    auto *bit = dyn_cast_or_null<ConstantInt>(mask->getAggregateElement(lane));
    if (!bit || (bit->isOne() && ended))
      return std::nullopt;
    if (bit->isOne())
      ++count;
    else
      ended = true;
  }
  return Prefix{count};
}

/// lane numbers < splat(count), whichever way round it is written.
std::optional<Prefix> matchPrefix(Value *mask) {
  unsigned lanes = cast<FixedVectorType>(mask->getType())->getNumElements();
  if (!isPowerOf2_32(lanes))
    return std::nullopt;
  if (auto *constant = dyn_cast<Constant>(mask))
    return matchConstant(constant, lanes);
  auto *compare = dyn_cast<ICmpInst>(mask);
  if (!compare)
    return std::nullopt;
  Value *left = compare->getOperand(0), *right = compare->getOperand(1);
  CmpInst::Predicate predicate = compare->getPredicate();
  if (predicate == CmpInst::ICMP_SGT || predicate == CmpInst::ICMP_UGT) {
    std::swap(left, right);
    predicate = CmpInst::getSwappedPredicate(predicate);
  }
  if (predicate != CmpInst::ICMP_SLT && predicate != CmpInst::ICMP_ULT)
    return std::nullopt;
  Value *count = getSplatValue(right);
  if (!count || !isLaneNumbers(left))
    return std::nullopt;
  return Prefix{std::nullopt, count, predicate == CmpInst::ICMP_SLT};
}

/// The address of lane `lane`, and what is known of its alignment.
class Lanes {
public:
  Lanes(IRBuilder<> &builder, Value *pointer, FixedVectorType *type, Align alignment)
      : builder(builder), pointer(pointer), element(type->getElementType()), lanes(type->getNumElements()),
        alignment(std::min(alignment, builder.GetInsertBlock()->getDataLayout().getABITypeAlign(element))) {}

  Type *piece(unsigned size) const {
    return size == 1 ? element : static_cast<Type *>(FixedVectorType::get(element, size));
  }
  Value *load(Value *first, unsigned size) const {
    return builder.CreateAlignedLoad(piece(size), address(first), alignment);
  }
  void store(Value *value, Value *first) const { builder.CreateAlignedStore(value, address(first), alignment); }

  /// A vector whose first `size` lanes are `value`, followed by those of `rest`.
  Value *prepend(Value *value, unsigned size, Value *rest) const {
    SmallVector<int> order(lanes);
    for (unsigned lane = 0; lane < lanes; ++lane)
      order[lane] = lane < size ? lane : lanes + lane - size;
    return builder.CreateShuffleVector(widen(value, size), rest, order);
  }
  /// The first `size` lanes, a scalar if that is one.
  Value *leading(Value *vector, unsigned size) const {
    if (size == 1)
      return builder.CreateExtractElement(vector, uint64_t(0));
    return builder.CreateShuffleVector(vector, range(0, size));
  }
  /// Lane `size` becomes lane 0, and so on; what follows the last lane is of no account.
  Value *dropLeading(Value *vector, unsigned size) const { return builder.CreateShuffleVector(vector, range(size, lanes)); }

private:
  Value *address(Value *first) const { return builder.CreateGEP(element, pointer, first); }
  Value *widen(Value *value, unsigned size) const {
    if (size == 1)
      return builder.CreateInsertElement(PoisonValue::get(FixedVectorType::get(element, lanes)), value, uint64_t(0));
    SmallVector<int> order(lanes, PoisonMaskElem);
    for (unsigned lane = 0; lane < size; ++lane)
      order[lane] = lane;
    return builder.CreateShuffleVector(value, order);
  }
  SmallVector<int> range(unsigned first, unsigned count) const {
    SmallVector<int> order(count);
    for (unsigned lane = 0; lane < count; ++lane)
      order[lane] = first + lane < lanes ? int(first + lane) : PoisonMaskElem;
    return order;
  }

  IRBuilder<> &builder;
  Value *pointer;
  Type *element;
  unsigned lanes;
  Align alignment;
};

/// `count` as an i64 between 0 and the number of lanes.
Value *clampedCount(IRBuilder<> &builder, const Prefix &prefix, unsigned lanes) {
  Type *i64 = builder.getInt64Ty();
  Value *count = prefix.count;
  if (!prefix.isSigned)
    return builder.CreateBinaryIntrinsic(Intrinsic::umin, builder.CreateZExtOrTrunc(count, i64), builder.getInt64(lanes));
  Value *atMost = builder.CreateBinaryIntrinsic(Intrinsic::smin, builder.CreateSExtOrTrunc(count, i64),
                                                builder.getInt64(lanes));
  return builder.CreateBinaryIntrinsic(Intrinsic::smax, atMost, builder.getInt64(0));
}

/// Runs `body`, which returns a value, if `count` has the bit `size`; gives that value, else `otherwise`. A bit of a
/// constant count costs no branch.
template <typename Body>
Value *ifBit(IRBuilder<> &builder, Value *count, unsigned size, Value *otherwise, Body body) {
  if (auto *constant = dyn_cast<ConstantInt>(count))
    return constant->getZExtValue() & size ? body() : otherwise;
  Value *isSet = builder.CreateICmpNE(builder.CreateAnd(count, size), builder.getInt64(0));
  Instruction *rest = &*builder.GetInsertPoint();
  BasicBlock *before = builder.GetInsertBlock();
  Instruction *end = SplitBlockAndInsertIfThen(isSet, rest->getIterator(), /*Unreachable=*/false);
  builder.SetInsertPoint(end);
  Value *value = body();
  BasicBlock *inside = builder.GetInsertBlock();
  builder.SetInsertPoint(rest);
  if (!value)
    return nullptr;
  PHINode *result = PHINode::Create(value->getType(), 2, "", rest->getParent()->begin());
  result->addIncoming(value, inside);
  result->addIncoming(otherwise, before);
  return result;
}

/// From the smallest piece, which stands last: each larger one is put in front of what was read.
Value *expandLoad(IRBuilder<> &builder, const Lanes &memory, Value *count, FixedVectorType *type) {
  Value *result = Constant::getNullValue(type);
  unsigned lanes = type->getNumElements();
  for (unsigned size = 1; size <= lanes; size *= 2)
    result = ifBit(builder, count, size, result, [&]() -> Value * {
      Value *first = builder.CreateAnd(count, builder.getInt64(-2 * int64_t(size)));
      Value *piece = memory.load(first, size);
      return size == lanes ? piece : memory.prepend(piece, size, result);
    });
  return result;
}

/// From the largest piece, which stands first: what was written is shifted out.
void expandStore(IRBuilder<> &builder, const Lanes &memory, Value *count, Value *value) {
  unsigned lanes = cast<FixedVectorType>(value->getType())->getNumElements();
  for (unsigned size = lanes; size >= 1; size /= 2)
    value = ifBit(builder, count, size, value, [&]() -> Value * {
      memory.store(size == lanes ? value : memory.leading(value, size),
                   builder.CreateAnd(count, builder.getInt64(-2 * int64_t(size))));
      return size == lanes ? value : memory.dropLeading(value, size);
    });
}

void expand(IntrinsicInst &instruction, const Prefix &prefix) {
  bool isLoad = instruction.getIntrinsicID() == Intrinsic::masked_load;
  unsigned pointer = isLoad ? 0 : 1;
  auto *type = cast<FixedVectorType>(isLoad ? instruction.getType() : instruction.getOperand(0)->getType());
  IRBuilder<> builder(&instruction);
  Value *mask = instruction.getOperand(isLoad ? 1 : 2), *otherwise = isLoad ? instruction.getOperand(2) : nullptr;
  Lanes memory(builder, instruction.getOperand(pointer), type, instruction.getParamAlign(pointer).valueOrOne());
  Value *count = prefix.constant ? builder.getInt64(*prefix.constant)
                                 : clampedCount(builder, prefix, type->getNumElements());
  if (isLoad) {
    Value *loaded = expandLoad(builder, memory, count, type);
    if (!isa<UndefValue>(otherwise) && !PatternMatch::match(otherwise, PatternMatch::m_Zero()))
      loaded = builder.CreateSelect(mask, loaded, otherwise);
    instruction.replaceAllUsesWith(loaded);
  } else {
    expandStore(builder, memory, count, instruction.getOperand(0));
  }
  instruction.eraseFromParent();
}

} // namespace

bool mlir::ferrule::expandPrefixMasks(Function &function) {
  SmallVector<std::pair<IntrinsicInst *, Prefix>> found;
  for (Instruction &instruction : instructions(function)) {
    auto *call = dyn_cast<IntrinsicInst>(&instruction);
    if (!call)
      continue;
    unsigned mask = call->getIntrinsicID() == Intrinsic::masked_load    ? 1
                    : call->getIntrinsicID() == Intrinsic::masked_store ? 2
                                                                        : 0;
    if (mask == 0)
      continue;
    if (std::optional<Prefix> prefix = matchPrefix(call->getOperand(mask)))
      found.emplace_back(call, *prefix);
  }
  for (auto [call, prefix] : found)
    expand(*call, prefix);
  return !found.empty();
}
