// Runs passes on graphs in text form: `ferrule-opt --ferrule-expand-gradients --ferrule-prune model.mlir`.
#include "ir/graph/FerruleDialect.h"
#include "ir/plan/PlanDialect.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::ferrule::FerruleDialect, mlir::ferrule::plan::FerrulePlanDialect, mlir::func::FuncDialect>();
  mlir::ferrule::registerFerrulePasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "Ferrule pass driver\n", registry));
}
