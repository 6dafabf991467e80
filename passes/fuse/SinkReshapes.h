// Reshapes that split axes, moved behind the elementwise ops and reductions that read them.
#ifndef FERRULE_PASSES_FUSE_SINKRESHAPES_H_
#define FERRULE_PASSES_FUSE_SINKRESHAPES_H_

namespace mlir {
class RewritePatternSet;
} // namespace mlir

namespace mlir::ferrule {

/// op(reshape(x)) becomes reshape(op(x)) for elementwise ops and reductions, where x can be computed in one kernel with
/// op and the reshape only splits axes of x. No bit changes: the elements keep their row-major order.
void populateSinkReshapePatterns(RewritePatternSet &patterns);

} // namespace mlir::ferrule

#endif // FERRULE_PASSES_FUSE_SINKRESHAPES_H_
