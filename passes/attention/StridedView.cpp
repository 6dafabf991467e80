#include "passes/attention/StridedView.h"

#include "ir/graph/Shape.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::ferrule;

/// a / b if the division leaves nothing, as expressions.
static std::optional<DimExpr> divide(const DimExpr &a, const DimExpr &b) {
  DimExpr quotient = DimExpr::floorDiv(a, b);
  if (!quotient.isValid() || quotient * b != a)
    return std::nullopt;
  return quotient;
}

/// Takes `size` elements off the inner end of the runs, splitting one if need be.
static bool takeInner(StridedAxes &runs, DimExpr size, StridedAxes &taken) {
  SmallVector<StridedAxis> reversed;
  while (size != DimExpr(1)) {
    if (runs.empty())
      return false;
    StridedAxis run = runs.pop_back_val();
    if (std::optional<DimExpr> rest = divide(size, run.size)) {
      reversed.push_back(run);
      size = *rest;
      continue;
    }
    std::optional<DimExpr> outer = divide(run.size, size);
    if (!outer)
      return false;
    reversed.push_back({size, run.stride});
    runs.push_back({*outer, run.stride * size});
    size = 1;
  }
  taken.append(reversed.rbegin(), reversed.rend());
  return true;
}

StridedView StridedView::contiguous(Value value) {
  StridedView view;
  view.base = value;
  Dims dims = getDims(value);
  view.axes.resize(dims.size());
  DimExpr stride = 1;
  for (size_t axis = dims.size(); axis-- > 0;) {
    if (dims[axis] != DimExpr(1))
      view.axes[axis].push_back({dims[axis], stride});
    stride = stride * dims[axis];
  }
  return view;
}

void StridedView::permute(ArrayRef<int64_t> pattern) {
  SmallVector<StridedAxes> permuted;
  for (int64_t axis : pattern)
    permuted.push_back(axes[axis]);
  axes = std::move(permuted);
}

void StridedView::invertPermutation(ArrayRef<int64_t> pattern) {
  SmallVector<StridedAxes> original(axes.size());
  for (auto [axis, from] : llvm::enumerate(pattern))
    original[from] = axes[axis];
  axes = std::move(original);
}

bool StridedView::reshape(ArrayRef<DimExpr> dims) {
  StridedAxes runs;
  for (const StridedAxes &axis : axes)
    runs.append(axis);
  SmallVector<StridedAxes> reshaped(dims.size());
  for (size_t axis = dims.size(); axis-- > 0;)
    if (!takeInner(runs, dims[axis], reshaped[axis]))
      return false;
  if (!runs.empty())
    return false;
  axes = std::move(reshaped);
  return true;
}

/// Narrows the view to the slice; false where an axis that is cut is symbolic or no single run.
static bool slice(StridedView &view, SliceOp op) {
  Dims from = getDims(op.getX()), to = getDims(op.getResult());
  StridedView sliced = view;
  for (size_t axis = 0; axis < from.size(); ++axis) {
    const DimExpr &start = op.getStarts().getDims()[axis];
    int64_t step = op.getSteps()[axis];
    if (from[axis] == to[axis] && step == 1)
      continue;
    StridedAxes &runs = sliced.axes[axis];
    if (!from[axis].isConstant() || runs.size() != 1)
      return false;
    sliced.offset = sliced.offset + runs[0].stride * start;
    if (to[axis] == DimExpr(1))
      runs.clear();
    else
      runs[0] = {to[axis], runs[0].stride * DimExpr(step)};
  }
  view = std::move(sliced);
  return true;
}

static void broadcast(StridedView &view, ArrayRef<DimExpr> from, ArrayRef<DimExpr> to) {
  SmallVector<StridedAxes> axes(to.size());
  size_t leading = to.size() - from.size();
  for (size_t axis = 0; axis < to.size(); ++axis) {
    bool stretched = axis < leading || (from[axis - leading] == DimExpr(1) && to[axis] != DimExpr(1));
    if (!stretched)
      axes[axis] = view.axes[axis - leading];
    else if (to[axis] != DimExpr(1))
      axes[axis].push_back({to[axis], 0});
  }
  view.axes = std::move(axes);
}

StridedView StridedView::get(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto transpose = dyn_cast_or_null<TransposeOp>(op)) {
    StridedView view = get(transpose.getX());
    view.permute(transpose.getPattern());
    return view;
  }
  if (auto stretch = dyn_cast_or_null<BroadcastToOp>(op)) {
    StridedView view = get(stretch.getX());
    broadcast(view, getDims(stretch.getX()), getDims(value));
    return view;
  }
  if (auto cut = dyn_cast_or_null<SliceOp>(op)) {
    StridedView view = get(cut.getX());
    if (slice(view, cut))
      return view;
  }
  if (auto reshape = dyn_cast_or_null<ReshapeOp>(op)) {
    StridedView view = get(reshape.getX());
    if (view.reshape(getDims(value)))
      return view;
  }
  return contiguous(value);
}

static bool continues(const StridedAxis &outer, const StridedAxis &inner) {
  return outer.stride == inner.stride * inner.size;
}

std::optional<StridedAxis> mlir::ferrule::joinAxis(const StridedAxes &axis) {
  if (axis.empty())
    return StridedAxis{1, 0};
  StridedAxis joined = axis.back();
  for (const StridedAxis &outer : llvm::reverse(ArrayRef(axis).drop_back())) {
    if (!continues(outer, joined))
      return std::nullopt;
    joined.size = outer.size * joined.size;
  }
  return joined;
}

bool mlir::ferrule::alignAxes(MutableArrayRef<StridedAxes> axes) {
  SmallVector<StridedAxes> aligned(axes.size());
  while (llvm::any_of(axes, [](const StridedAxes &runs) { return !runs.empty(); })) {
    if (llvm::any_of(axes, [](const StridedAxes &runs) { return runs.empty(); }))
      return false;
    // The smallest of the innermost runs.
    DimExpr size = axes[0].back().size;
    for (const StridedAxes &runs : axes)
      if (divide(size, runs.back().size))
        size = runs.back().size;
    for (auto [runs, result] : llvm::zip_equal(axes, aligned)) {
      StridedAxes taken;
      if (!divide(runs.back().size, size) || !takeInner(runs, size, taken))
        return false;
      result.insert(result.begin(), taken.begin(), taken.end());
    }
  }
  for (size_t i = aligned[0].size(); i-- > 1;) {
    if (!llvm::all_of(aligned, [&](const StridedAxes &runs) { return continues(runs[i - 1], runs[i]); }))
      continue;
    for (StridedAxes &runs : aligned) {
      runs[i - 1] = {runs[i - 1].size * runs[i].size, runs[i].stride};
      runs.erase(runs.begin() + i);
    }
  }
  llvm::copy(aligned, axes.begin());
  return true;
}
