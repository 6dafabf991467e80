// The steps of the layout pass, each correct by itself: choose how variables stand in memory, make contractions physical
// with explicit conversions around them, take out of loops what every step repeats, then move the conversions until they
// meet and vanish.
#ifndef FERRULE_PASSES_LAYOUT_LAYOUT_H_
#define FERRULE_PASSES_LAYOUT_LAYOUT_H_

#include "ir/graph/Layout.h"

#include "mlir/IR/BuiltinOps.h"

namespace mlir {
class RewritePatternSet;
} // namespace mlir

namespace mlir::ferrule {

/// Gives a panel layout to each variable that some contraction of any entry uses as its weight; variables that belong
/// to it (`of`) follow. Reads become `unpack(read)`, assigns `assign(pack)`.
void chooseVariableLayouts(ModuleOp module);

/// Adds `use`, and if it brings a value into branches or loops, the uses there.
void collectUses(OpOperand &use, SmallVectorImpl<OpOperand *> &uses);
/// Adds the uses of a value in program order, also those in branches and loops that capture it.
void collectUses(Value value, SmallVectorImpl<OpOperand *> &uses);

/// The layout that the owner of `use` wants for its operand, if that is a weight there.
std::optional<PanelLayout> getWantedLayout(OpOperand &use);

/// Stores constants that contractions use as weights in the layout that these want, as `unpack` of the panels.
void packConstantWeights(ModuleOp module);

/// Replaces convolutions and pooling by channels-last ops between transposes, and products with packed weights by
/// panel products.
LogicalResult makeContractionsPhysical(ModuleOp module);

/// Computes before a loop what each of its steps would compute alike, as a weight packed for a product.
void hoistInvariants(ModuleOp module);

/// Lets regions capture weights in panels and unpack them inside, where products take the panels instead.
void sinkUnpacksIntoRegions(ModuleOp module);

/// Moves transposes towards results and packs towards operands through elementwise ops, broadcasts and reductions.
LogicalResult propagateLayouts(ModuleOp module);

/// Marks the transposes with which makeContractionsPhysical returns to the logical layout: only these move down. By its
/// pattern alone the way back cannot be told from the way there: [0, 2, 1] is its own inverse.
inline constexpr StringLiteral channelsFirstMark = "ferrule.channels_first";

/// `pack` of the product that is a matrix weight's gradient, written in panels at once. For propagateLayouts: the pack
/// reaches the product only there.
void populateWeightProductPatterns(RewritePatternSet &patterns);

/// Gives every remaining product a row-major right operand, by an explicit transpose.
LogicalResult transposeRightOperands(ModuleOp module);

} // namespace mlir::ferrule

#endif // FERRULE_PASSES_LAYOUT_LAYOUT_H_
