//===- KernelEmitter_test.cpp - Kernels as LLVM dialect functions ---------===//

#include "codegen/common/KernelEmitter.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Parser/Parser.h"

#include "catch2/catch.hpp"

using namespace mlir;
using namespace mlir::ferrule;

namespace {

struct Emitted {
  /// The kernel of the only dispatch of `text`.
  explicit Emitted(StringRef text) {
    context.loadDialect<FerruleDialect, func::FuncDialect, LLVM::LLVMDialect>();
    module = parseSourceString<ModuleOp>(text, &context);
    REQUIRE(module);
    DispatchOp dispatch;
    module->walk([&](DispatchOp op) { dispatch = op; });
    kernels = ModuleOp::create(UnknownLoc::get(&context));
    FailureOr<KernelSpec> result = emitKernel(*kernels, dispatch, "kernel");
    REQUIRE(succeeded(result));
    spec = *result;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module, kernels;
  KernelSpec spec;
};

/// How many tiles there are of `op` applied twelve times to [16, 256].
int64_t countTiles(const std::string &op) {
  std::string type = "tensor<16x256xf32>";
  std::string text = "func.func @main(%x: " + type + ") -> " + type + " {\n%a = ferrule.dispatch(%v0 = %x : " + type +
                     ") -> (" + type + ") {\n";
  for (int i = 0; i < 12; ++i)
    text += "%v" + std::to_string(i + 1) + " = ferrule." + op + " %v" + std::to_string(i) + " : (" + type + ") -> " +
            type + "\n";
  text += "ferrule.yield %v12 : " + type + "\n}\nreturn %a : " + type + "\n}\n";
  return Emitted(text).spec.tiles.getConstant().value_or(-1);
}

} // namespace

TEST_CASE("a piece is read nowhere else where the row is of another piece") {
  Emitted e(R"mlir(
func.func @main(%x: tensor<2x40xf32>, %y: tensor<3x40xf32>) -> tensor<5x40xf32> {
  %a = ferrule.dispatch(%p = %x : tensor<2x40xf32>, %q = %y : tensor<3x40xf32>) -> (tensor<5x40xf32>) {
    %0 = ferrule.concat %p, %q {axis = 0} : (tensor<2x40xf32>, tensor<3x40xf32>) -> tensor<5x40xf32>
    %1 = ferrule.neg %0 : (tensor<5x40xf32>) -> tensor<5x40xf32>
    ferrule.yield %1 : tensor<5x40xf32>
  }
  return %a : tensor<5x40xf32>
}
)mlir");
  unsigned loads = 0;
  e.kernels->walk([&](LLVM::MaskedLoadOp load) {
    ++loads;
    auto address = load.getData().getDefiningOp<LLVM::GEPOp>();
    REQUIRE(address);
    // The element where the mask has a lane, or element 0, which exists.
    REQUIRE(address.getDynamicIndices().size() == 1);
    auto select = address.getDynamicIndices().front().getDefiningOp<LLVM::SelectOp>();
    REQUIRE(select);
    auto zero = select.getFalseValue().getDefiningOp<LLVM::ConstantOp>();
    REQUIRE(zero);
    CHECK(cast<IntegerAttr>(zero.getValue()).getInt() == 0);
  });
  CHECK(loads == 2);
}

TEST_CASE("a few elements that cost much are several tiles, and those that cost little are one") {
  CHECK(countTiles("tanh") >= 8);
  CHECK(countTiles("neg") == 1);
}
