// The dialect, its attribute, and the base class through which an op's entry carries everything about it.
#ifndef FERRULE_IR_GRAPH_BASE_TD
#define FERRULE_IR_GRAPH_BASE_TD

include "ir/interfaces/FerruleOpInterface.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/TensorEncoding.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Ferrule_Dialect : Dialect {
  let name = "ferrule";
  let cppNamespace = "::mlir::ferrule";
  let summary = "The graph: tensor values, variables and entry points";
  let description = [{
    A program as the user wrote it. Values are ranked tensors; a size is a number or an expression over named dims
    (`#ferrule.dims`). Entry points are `func.func`s that share the module's variables. Ops have value semantics:
    only `ferrule.assign` has an effect, and it takes place when the entry returns.
  }];
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
    /// What a family of ops calls to add itself (see registerFamilies in FerruleDialect.cpp).
    template <typename... Ops> void registerOps() { addOperations<Ops...>(); }
  }];
}

//===------------------------------------------------------------------------------------------------------------===//
// Attribute and types
//===------------------------------------------------------------------------------------------------------------===//

def Ferrule_DimsAttr : AttrDef<Ferrule_Dialect, "Dims",
    [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let mnemonic = "dims";
  let summary = "A shape whose sizes are numbers or expressions over named dims";
  let description = [{
    As the encoding of a tensor type it gives a name or expression to each dynamic size:
    `tensor<?x3xf32, #ferrule.dims<[batch, 3]>>`. A tensor with static sizes only has no encoding. As an attribute of an
    op (`shape`) it holds static and symbolic sizes alike. Expressions use `+ - * floordiv mod min() max()`.
  }];
  let parameters = (ins ArrayRefParameter<"::ferrule::DimExpr", "sizes, outermost first">:$dims);
  let genStorageClass = 0;
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

/// A signed 64-bit number; I64Attr's accessor would return it unsigned.
def Ferrule_IntAttr : TypedSignlessIntegerAttrBase<I64, "int64_t", "64-bit integer"> {
  let convertFromStorage = "$_self.getValue().getSExtValue()";
}

def Ferrule_Tensor : Type<
    And<[CPred<"::llvm::isa<::mlir::RankedTensorType>($_self)">,
         CPred<"::mlir::ferrule::hasDims(::llvm::cast<::mlir::RankedTensorType>($_self))">]>,
    "ranked tensor whose dynamic sizes are named by #ferrule.dims", "::mlir::RankedTensorType">;

//===------------------------------------------------------------------------------------------------------------===//
// Gradients
//===------------------------------------------------------------------------------------------------------------===//

/// How an op's entry states its gradient. `body` is C++ in the scope of the op, with `b` (GraphBuilder), `cotangents`
/// and `gradients` of FerruleOpInterface::buildGradient; "Custom" stands for a definition in the family's .cpp.
/// `operands` and `results` are the residuals: what the rule reads.
class GradientSpec<string kind_, string reason_, string body_, list<int> operands_, list<int> results_> {
  string kind = kind_;
  string reason = reason_;
  string body = body_;
  list<int> operands = operands_;
  list<int> results = results_;
}
class Gradient<string body, list<int> operands = [], list<int> results = []>
    : GradientSpec<"Rule", "", body, operands, results>;
/// The gradient of what the regions compute; the autodiff pass takes them apart.
def RegionGradient : GradientSpec<"Regions", "", "", [], []>;
def ZeroGradient : GradientSpec<"Zero", "", "", [], []>;
class NonDifferentiable<string reason> : GradientSpec<"NonDifferentiable", reason, "", [], []>;

//===------------------------------------------------------------------------------------------------------------===//
// The base class
//===------------------------------------------------------------------------------------------------------------===//

/// `lowering` names a member of LoweringKind, `inPlace` lists operands whose buffer the first result may take, and
/// `flops` is a C++ expression for a ::ferrule::DimExpr in the scope of the op.
class Ferrule_Op<string mnemonic, GradientSpec gradient, string lowering, string flops = "0",
                 list<int> inPlace = [], list<Trait> traits = []>
    : Op<Ferrule_Dialect, mnemonic, !listconcat([DeclareOpInterfaceMethods<FerruleOpInterface>], traits)> {

  string interfaceDefinition = [{
    ::mlir::ferrule::GradientKind $cppClass::getGradientKind() { return ::mlir::ferrule::GradientKind::}] #
      gradient.kind # [{; }
    ::llvm::StringRef $cppClass::getNonDifferentiableReason() { return "}] # gradient.reason # [{"; }
    ::mlir::ferrule::Residuals $cppClass::getResiduals() { return }] # !if(!eq(gradient.kind, "Regions"),
      "::mlir::ferrule::getAllOperands(*this)", "{{" # !interleave(gradient.operands, ", ") # "}, {" #
      !interleave(gradient.results, ", ") # "}}") # [{; }
    ::mlir::ferrule::LoweringKind $cppClass::getLoweringKind() { return ::mlir::ferrule::LoweringKind::}] #
      lowering # [{; }
    ::llvm::SmallVector<unsigned> $cppClass::getInPlaceOperands() { return {}] # !interleave(inPlace, ", ") # [{}; }
    ::ferrule::DimExpr $cppClass::getFlops() { return }] # flops # [{; }
  }] # !if(!eq(gradient.body, "Custom"), "", [{
    ::llvm::LogicalResult $cppClass::buildGradient(::mlir::ferrule::GraphBuilder &b, ::mlir::ValueRange cotangents,
                                                   ::llvm::MutableArrayRef<::mlir::Value> gradients) {
      }] # gradient.body # [{
      return ::mlir::success();
    }
  }]);
  let extraClassDefinition = interfaceDefinition;
}

/// An op on tensors whose result types follow from its operands and attributes. The family's .cpp defines
/// `inferTypes(location, adaptor, types)`; it may assume `minOperands <= operands <= maxOperands`.
class Ferrule_TensorOp<string mnemonic, GradientSpec gradient, string lowering, string flops = "0",
                       list<int> inPlace = [], list<Trait> traits = [], list<Trait> effects = [Pure]>
    : Ferrule_Op<mnemonic, gradient, lowering, flops, inPlace,
                 !listconcat(effects, [DeclareOpInterfaceMethods<InferTypeOpInterface>], traits)> {
  int minOperands = 1;
  int maxOperands = minOperands;
  /// The body of inferTypes where one expression says it; empty for a definition in the family's .cpp.
  string infer = "";
  let extraClassDeclaration = [{
    static ::llvm::LogicalResult inferTypes(std::optional<::mlir::Location> location, Adaptor adaptor,
                                            ::llvm::SmallVectorImpl<::mlir::Type> &types);
  }];
  let extraClassDefinition = interfaceDefinition # [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *context, std::optional<::mlir::Location> location, ::mlir::ValueRange operands,
        ::mlir::DictionaryAttr attributes, ::mlir::OpaqueProperties properties, ::mlir::RegionRange regions,
        ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      if (::mlir::failed(::mlir::ferrule::checkOperands(location, "}] # mnemonic # [{", operands, }] #
                         minOperands # ", " # maxOperands # [{)))
        return ::mlir::failure();
      return inferTypes(location, Adaptor(operands, attributes, properties, regions), types);
    }
  }] # !if(!empty(infer), "", [{
    ::llvm::LogicalResult $cppClass::inferTypes(std::optional<::mlir::Location> location, Adaptor adaptor,
                                                ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      return }] # infer # [{;
    }
  }]);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

/// A tensor op that one kernel function computes whole. The family's .cpp defines `getLibraryCall`.
class Ferrule_LibraryOp<string mnemonic, GradientSpec gradient, string flops = "0", list<int> inPlace = []>
    : Ferrule_TensorOp<mnemonic, gradient, "Library", flops, inPlace,
                       [DeclareOpInterfaceMethods<LibraryOpInterface>]>;

#endif // FERRULE_IR_GRAPH_BASE_TD
