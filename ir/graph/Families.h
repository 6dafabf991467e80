// The registration of the op families: a new family adds a line here and one in FerruleDialect.cpp.
#ifndef FERRULE_IR_GRAPH_FAMILIES_H_
#define FERRULE_IR_GRAPH_FAMILIES_H_

namespace mlir::ferrule {

class FerruleDialect;

void registerAttentionOps(FerruleDialect &dialect);
void registerControlFlowOps(FerruleDialect &dialect);
void registerConvolutionOps(FerruleDialect &dialect);
void registerCumulativeOps(FerruleDialect &dialect);
void registerElementwiseOps(FerruleDialect &dialect);
void registerDispatchOps(FerruleDialect &dialect);
void registerExternalOps(FerruleDialect &dialect);
void registerGradientOps(FerruleDialect &dialect);
void registerIndexingOps(FerruleDialect &dialect);
void registerLayoutOps(FerruleDialect &dialect);
void registerMatmulOps(FerruleDialect &dialect);
void registerNonzeroOps(FerruleDialect &dialect);
void registerNormalizeOps(FerruleDialect &dialect);
void registerPoolingOps(FerruleDialect &dialect);
void registerRandomOps(FerruleDialect &dialect);
void registerReduceOps(FerruleDialect &dialect);
void registerShapeOps(FerruleDialect &dialect);
void registerSoftmaxOps(FerruleDialect &dialect);
void registerSortOps(FerruleDialect &dialect);
void registerStateOps(FerruleDialect &dialect);

} // namespace mlir::ferrule

#endif // FERRULE_IR_GRAPH_FAMILIES_H_
