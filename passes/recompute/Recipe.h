// How some results of a dispatch come of its other results.
#ifndef FERRULE_PASSES_RECOMPUTE_RECIPE_H_
#define FERRULE_PASSES_RECOMPUTE_RECIPE_H_

#include "ir/graph/Dispatch.h"

#include <optional>

namespace mlir::ferrule {

/// Whether the op takes one pass over memory at most, without a sum.
bool isOnePass(Operation *op);

/// Of a dispatch that stores the result of a product, a reduction or anything else that is dear, and values that are
/// computed from it element for element: which those are. A layer's activation comes of the product that is kept for
/// its gradient without the product.
struct Recipe {
  /// Numbers of the results that the recipe makes, ascending.
  SmallVector<unsigned> made;
  /// Numbers of the results that it reads, ascending.
  SmallVector<unsigned> read;
};

/// None if no result comes cheaply of the others, or if the whole dispatch is cheap.
std::optional<Recipe> findRecipe(DispatchOp dispatch);

/// Makes a dispatch of the recipe where `builder` stands; without an insertion point, a detached one. It reads results
/// and inputs of `dispatch`, and computes each result with the same ops, so the bits are the same.
DispatchOp createRecipe(OpBuilder &builder, DispatchOp dispatch, const Recipe &recipe);

} // namespace mlir::ferrule

#endif // FERRULE_PASSES_RECOMPUTE_RECIPE_H_
