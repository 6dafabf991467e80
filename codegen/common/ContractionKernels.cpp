//===- ContractionKernels.cpp - Products and panel conversions ----------===//

#include "codegen/common/KernelEmission.h"
#include "codegen/common/TileChoice.h"

#include "ir/graph/Matmul.h"
#include "kernels/skeletons.h"

using namespace mlir;
using namespace mlir::ferrule;
using ::ferrule::kernels::MatmulPanels;

namespace {

/// The operands of ferrule_matmul for one root.
struct MatmulCall {
  Value a, b;
  DimExpr aRowStride, aInnerStride, bPanelStride, bInnerStride, m, n, k;
  bool bPadded = true;
  MatmulPanels source = MatmulPanels::kAsTheyAre;
  /// Matrices of a batch, row-major one after the other.
  DimExpr batch = 1;
};

} // namespace

static MatmulCall describeMatmul(Operation *root) {
  MatmulCall call;
  DimExpr width(laneCount);
  if (auto op = dyn_cast<PanelMatmulOp>(root)) {
    Dims a = getDims(op.getA());
    bool transposed = op.getTransposeA();
    call = {op.getA(),
            op.getPanels(),
            {},
            {},
            {},
            width,
            a[transposed ? 1 : 0],
            getDims(op.getResult())[1],
            a[transposed ? 0 : 1]};
    call.aRowStride = transposed ? DimExpr(1) : a[1];
    call.aInnerStride = transposed ? a[1] : DimExpr(1);
    call.bPanelStride = call.k * width;
    return call;
  }
  if (auto op = dyn_cast<PanelOuterOp>(root)) {
    Dims x = getDims(op.getX()), g = getDims(op.getG());
    call = {op.getX(), op.getG(), DimExpr(1), x[1], width, g[1], x[1], g[1], x[0]};
    call.bPadded = g[1].getConstant().value_or(1) % laneCount == 0;
    if (packsRightOperand(call.m, call.n, call.k))
      call.source = MatmulPanels::kOfRows;
    return call;
  }
  auto op = cast<MatmulOp>(root);
  Dims a = getDims(op.getA()), b = getDims(op.getB());
  DimExpr batch = 1;
  for (const DimExpr &size : ArrayRef<DimExpr>(a).drop_back(2))
    batch = batch * size;
  a.erase(a.begin(), a.end() - 2);
  b.erase(b.begin(), b.end() - 2);
  bool transposed = op.getTransposeA(), columns = op.getTransposeB();
  DimExpr n = b[columns ? 0 : 1], k = b[columns ? 1 : 0];
  call = {op.getA(), op.getB(), {}, {}, columns ? k : width, columns ? DimExpr(1) : n, a[transposed ? 1 : 0], n, k};
  call.aRowStride = transposed ? DimExpr(1) : a[1];
  call.aInnerStride = transposed ? a[1] : DimExpr(1);
  call.bPadded = n.getConstant().value_or(1) % laneCount == 0;
  call.batch = batch;
  if (op.packsRightOperand())
    call.source = columns ? MatmulPanels::kOfColumns : MatmulPanels::kOfRows;
  return call;
}

LogicalResult KernelEmission::emitContraction(Operation *root) {
  Type element = elementOf(root->getOperand(0));
  std::string suffix = suffixOf(element, false);
  if (suffix.empty())
    return unsupported(root, describe(element));
  MatmulCall call = describeMatmul(root);
  Dims sizes = getDims(root->getResult(0));
  bool panels = isa<PanelOuterOp>(root);
  bool batched = call.batch != DimExpr(1);
  unsigned rank = sizes.size();
  SmallVector<unsigned> rowAxes = llvm::to_vector(llvm::seq<unsigned>(0, rank - 1));
  LLVM::LLVMFuncOp store =
      panels ? emitStore({1}, 2, getIdentityIndex(3), sizes, /*panelColumns=*/true)
             : emitStore(rowAxes, rank - 1, getIdentityIndex(rank), sizes, /*panelColumns=*/false, batched);
  if (!store)
    return failure();
  LLVM::LLVMFuncOp fetch = emitFetch(sizes, panels, batched);
  int64_t elementBytes = element.getIntOrFloatBitWidth() / 8;
  bool transposed = call.aRowStride == DimExpr(1);
  std::optional<int64_t> rowBytes = (call.aRowStride * DimExpr(elementBytes)).getConstant();
  std::optional<int64_t> columnBytes = (call.aInnerStride * DimExpr(elementBytes)).getConstant();
  std::optional<int64_t> k = call.k.getConstant();
  ProductShape shape{call.m.getConstant(), call.n.getConstant(), k, rowBytes, columnBytes, transposed};
  auto [tileRows, tilePanels] = getProductTiles()[choose(getProductTiles().size(), chooseProductTile(shape))];
  // What is not known yet may turn out so.
  bool copies =
      transposed && ::ferrule::kernels::matmul_copies_rows(1, columnBytes.value_or(1024), k.value_or(0), tilePanels);
  bool packs = call.source != MatmulPanels::kAsTheyAre;
  spec.scratchBytes =
      call.k * DimExpr(::ferrule::kernels::matmul_scratch_lanes(copies, packs, 1, tilePanels) * elementBytes);
  DimExpr tiles = DimExpr::ceilDiv(call.m, DimExpr(tileRows)) *
                  DimExpr::ceilDiv(DimExpr::ceilDiv(call.n, DimExpr(laneCount)), DimExpr(tilePanels));
  spec.tiles = call.batch * tiles;
  emitFunction([&](FunctionEmitter &e, Value ctx) {
    auto size = [&](const DimExpr &value) { return context.getSize(e, ctx, value); };
    auto callSkeleton = [&](Value a, Value b, Value begin, Value end) {
      e.call("ferrule_matmul" + suffix,
             {ctx, e.addressOf(store), e.addressOf(fetch), a, size(call.aRowStride), size(call.aInnerStride), b,
              size(call.bPanelStride), size(call.bInnerStride), e.index(call.bPadded),
              e.index(static_cast<int64_t>(call.source)), size(call.m), size(call.n), size(call.k), e.index(tileRows),
              e.index(tilePanels), begin, end, scratch(e)});
    };
    Value a = getInput(e, ctx, call.a), b = getInput(e, ctx, call.b), begin = tileBegin(e), end = tileEnd(e);
    if (!batched) {
      callSkeleton(a, b, begin, end);
      return Value();
    }
    // The tiles of matrix i are [i * tiles, (i + 1) * tiles).
    Value perMatrix = e.maximum(size(tiles), e.index(1));
    Value last = e.divide(e.add(end, e.sub(perMatrix, e.index(1))), perMatrix);
    e.loop(e.divide(begin, perMatrix), last, [&](Value i) {
      Value first = e.mul(i, perMatrix);
      context.setRowBase(e, ctx, e.mul(i, size(call.m)));
      callSkeleton(e.elementPointer(a, element, e.mul(i, size(call.m * call.k))),
                   e.elementPointer(b, element, e.mul(i, size(call.k * call.n))),
                   e.maximum(e.sub(begin, first), e.index(0)), e.minimum(e.sub(end, first), perMatrix));
    });
    return Value();
  });
  return success();
}

LogicalResult KernelEmission::emitTransposePanels(TransposePanelsOp op) {
  std::string suffix = suffixOf(elementOf(op.getX()), false);
  if (suffix.empty())
    return unsupported(op, describe(elementOf(op.getX())));
  int64_t panels = (op.getK() + laneCount - 1) / laneCount;
  spec.tiles = DimExpr(int64_t(op.getGroups()) * panels * int64_t(op.getTaps()));
  emitFunction([&](FunctionEmitter &e, Value ctx) {
    e.call("ferrule_transpose_panels" + suffix,
           {getInput(e, ctx, op.getX()), context.getBuffer(e, ctx, 0), e.index(op.getGroups()), e.index(op.getN()),
            e.index(op.getTaps()), e.index(op.getK()), tileBegin(e), tileEnd(e)});
    return Value();
  });
  return success();
}

/// pack and unpack: each element computes its place on the other side. They stand only at the borders of a program
/// (weights that an entry also returns or reads row-major), so they are written for clarity.
LogicalResult KernelEmission::emitPanelConversion(Operation *root) {
  bool packs = isa<PackOp>(root);
  Value logical = packs ? root->getOperand(0) : root->getResult(0);
  ArrayRef<int64_t> nAxes = root->getAttrOfType<DenseI64ArrayAttr>("n_axes").asArrayRef();
  ArrayRef<int64_t> kAxes = root->getAttrOfType<DenseI64ArrayAttr>("k_axes").asArrayRef();
  int64_t groups = root->getAttrOfType<IntegerAttr>("groups").getInt();
  ArrayRef<int64_t> shape = typeOf(logical).getShape();
  int64_t n = 1, k = 1;
  for (int64_t axis : nAxes)
    n *= shape[axis];
  for (int64_t axis : kAxes)
    k *= shape[axis];
  n /= groups;
  int64_t panels = (n + laneCount - 1) / laneCount;
  SmallVector<int64_t> strides(shape.size(), 1);
  for (unsigned axis = shape.size() - 1; axis-- > 0;)
    strides[axis] = strides[axis + 1] * shape[axis + 1];

  FunctionEmitter e = startCallback("body", 3, false);
  Value ctx = e.argument(0), mask = e.laneMask(e.argument(3));
  Value element = e.add(e.splat(e.argument(2)), e.laneNumbers()); // Flat index in the result.
  Value source = context.getBuffer(e, ctx, context.getInputSlot(root->getOperand(0)));
  Type type = elementOf(logical);
  OpBuilder &b = e.builder();
  auto i = [&](int64_t value) { return e.index(value); };
  /// Adds stride * coordinate for the axes of a row-major index over them.
  auto scatterAxes = [&](Value linear, ArrayRef<int64_t> axes, Value offset) {
    for (int64_t axis : llvm::reverse(axes)) {
      offset = e.add(offset, e.mul(e.remainder(linear, i(shape[axis])), i(strides[axis])));
      linear = e.divide(linear, i(shape[axis]));
    }
    return offset;
  };
  auto gatherAxes = [&](ArrayRef<int64_t> axes) {
    Value linear = e.splat(i(0));
    for (int64_t axis : axes) {
      Value coordinate = e.remainder(e.divide(element, i(strides[axis])), i(shape[axis]));
      linear = e.add(e.mul(linear, i(shape[axis])), coordinate);
    }
    return linear;
  };
  Value offset;
  if (packs) {
    Value lane = e.remainder(element, i(laneCount)), row = e.divide(element, i(laneCount));
    Value inner = e.remainder(row, i(k)), panel = e.divide(row, i(k));
    Value column = e.add(e.mul(e.remainder(panel, i(panels)), i(laneCount)), lane);
    Value present = e.lessThan(column, i(n));
    mask = LLVM::AndOp::create(b, b.getUnknownLoc(), mask, present);
    Value outer = e.add(e.mul(e.divide(panel, i(panels)), i(n)), column);
    offset = scatterAxes(inner, kAxes, scatterAxes(outer, nAxes, e.splat(i(0))));
  } else {
    Value outer = gatherAxes(nAxes), inner = gatherAxes(kAxes);
    Value column = e.remainder(outer, i(n));
    Value panel = e.add(e.mul(e.divide(outer, i(n)), i(panels)), e.divide(column, i(laneCount)));
    offset = e.add(e.mul(e.add(e.mul(panel, i(k)), inner), i(laneCount)), e.remainder(column, i(laneCount)));
  }
  Value vector = e.gather(type, source, offset, mask);
  e.storeContiguous(vector, type, context.getBuffer(e, ctx, 0), e.argument(2), e.laneMask(e.argument(3)));
  e.ret();
  LLVM::LLVMFuncOp body = e.getFunction();
  DimExpr total = getElementCount(root->getResult(0));
  spec.tiles = DimExpr::ceilDiv(total, DimExpr(elementsPerTile));
  emitFunction([&](FunctionEmitter &kernel, Value kernelCtx) {
    kernel.call("ferrule_map_flat", {kernelCtx, kernel.addressOf(body), context.getSize(kernel, kernelCtx, total),
                                     kernel.index(elementsPerTile), tileBegin(kernel), tileEnd(kernel)});
    return Value();
  });
  return success();
}
