#include "ir/graph/FerruleDialect.h"

#include "ir/graph/Families.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::ferrule;

#include "ir/graph/FerruleDialect.cpp.inc"

//===------------------------------------------------------------------------------------------------------------===//
// #ferrule.dims
//===------------------------------------------------------------------------------------------------------------===//

/// Owns its expressions (they hold shared pointers, so they cannot live in the context's bump allocator).
struct mlir::ferrule::detail::DimsAttrStorage : public AttributeStorage {
  using KeyTy = ArrayRef<DimExpr>;

  explicit DimsAttrStorage(KeyTy dims) : dims(dims.begin(), dims.end()) {}

  bool operator==(const KeyTy &key) const { return key == ArrayRef<DimExpr>(dims); }

  static llvm::hash_code hashKey(const KeyTy &key) {
    llvm::hash_code code = llvm::hash_value(key.size());
    for (const DimExpr &dim : key)
      code = llvm::hash_combine(code, dim.hash());
    return code;
  }

  static DimsAttrStorage *construct(AttributeStorageAllocator &allocator, const KeyTy &key) {
    return new (allocator.allocate<DimsAttrStorage>()) DimsAttrStorage(key);
  }

  std::vector<DimExpr> dims;
};

ArrayRef<DimExpr> DimsAttr::getDims() const { return getImpl()->dims; }

#define GET_ATTRDEF_CLASSES
#include "ir/graph/FerruleAttributes.cpp.inc"

namespace {

/// Reads an expression from MLIR's token stream, where `//` would begin a comment and `%` an SSA name: hence the words.
class DimReader {
public:
  explicit DimReader(AsmParser &parser) : parser(parser) {}

  FailureOr<DimExpr> readSum() {
    FailureOr<DimExpr> left = readProduct();
    while (succeeded(left)) {
      bool add = succeeded(parser.parseOptionalPlus());
      if (!add && failed(parser.parseOptionalMinus())) {
        // The lexer takes `- 1` and `-1` alike as a number.
        break;
      }
      FailureOr<DimExpr> right = readProduct();
      if (failed(right))
        return failure();
      left = add ? *left + *right : *left - *right;
    }
    return left;
  }

private:
  FailureOr<DimExpr> readProduct() {
    FailureOr<DimExpr> left = readPrimary();
    while (succeeded(left)) {
      ::ferrule::DimOperation operation;
      if (succeeded(parser.parseOptionalStar()))
        operation = ::ferrule::DimOperation::Multiply;
      else if (succeeded(parser.parseOptionalKeyword("floordiv")))
        operation = ::ferrule::DimOperation::FloorDivide;
      else if (succeeded(parser.parseOptionalKeyword("mod")))
        operation = ::ferrule::DimOperation::Modulo;
      else
        break;
      FailureOr<DimExpr> right = readPrimary();
      if (failed(right))
        return failure();
      left = DimExpr::apply(operation, *left, *right);
    }
    return left;
  }

  FailureOr<DimExpr> readPrimary() {
    if (succeeded(parser.parseOptionalLParen())) {
      FailureOr<DimExpr> inner = readSum();
      return failed(inner) || failed(parser.parseRParen()) ? FailureOr<DimExpr>(failure()) : inner;
    }
    int64_t number = 0;
    OptionalParseResult isNumber = parser.parseOptionalInteger(number);
    if (isNumber.has_value())
      return failed(*isNumber) ? FailureOr<DimExpr>(failure()) : FailureOr<DimExpr>(DimExpr(number));
    llvm::SMLoc location = parser.getCurrentLocation();
    StringRef name;
    if (failed(parser.parseKeyword(&name)))
      return failure();
    if ((name == "min" || name == "max") && succeeded(parser.parseOptionalLParen()))
      return readCall(name == "min" ? ::ferrule::DimOperation::Minimum : ::ferrule::DimOperation::Maximum);
    DimExpr dim = DimExpr::dim(std::string_view(name.data(), name.size()));
    if (!dim.isValid())
      return parser.emitError(location) << "'" << name << "' is no dim name";
    return dim;
  }

  FailureOr<DimExpr> readCall(::ferrule::DimOperation operation) {
    FailureOr<DimExpr> result = readSum();
    while (succeeded(result) && succeeded(parser.parseOptionalComma())) {
      FailureOr<DimExpr> next = readSum();
      if (failed(next))
        return failure();
      result = DimExpr::apply(operation, *result, *next);
    }
    return failed(result) || failed(parser.parseRParen()) ? FailureOr<DimExpr>(failure()) : result;
  }

  AsmParser &parser;
};

} // namespace

Attribute DimsAttr::parse(AsmParser &parser, Type) {
  SmallVector<DimExpr> dims;
  auto readDim = [&]() -> ParseResult {
    FailureOr<DimExpr> dim = DimReader(parser).readSum();
    if (failed(dim))
      return failure();
    dims.push_back(*dim);
    return success();
  };
  llvm::SMLoc location = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, readDim) ||
      parser.parseGreater())
    return {};
  return DimsAttr::getChecked([&] { return parser.emitError(location); }, parser.getContext(), dims);
}

void DimsAttr::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(getDims(), printer.getStream(),
                        [&](const DimExpr &dim) { printer << dim.str(DimExpr::Spelling::Words); });
  printer << "]>";
}

LogicalResult DimsAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, ArrayRef<DimExpr> dims) {
  for (const DimExpr &dim : dims)
    if (!dim.isValid())
      return emitError() << "a size divides by zero or leaves 64 bits";
  return success();
}

LogicalResult DimsAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                                       llvm::function_ref<InFlightDiagnostic()> emitError) const {
  if (shape.size() != getDims().size())
    return emitError() << "#ferrule.dims has " << getDims().size() << " sizes for a tensor of rank " << shape.size();
  for (auto [axis, size] : llvm::enumerate(shape)) {
    std::optional<int64_t> constant = getDims()[axis].getConstant();
    if (constant.value_or(0) < 0)
      return emitError() << "a size is negative: " << *constant;
    if (constant.value_or(ShapedType::kDynamic) != size)
      return emitError() << "axis " << axis << " of the tensor is "
                         << (ShapedType::isDynamic(size) ? std::string("?") : std::to_string(size))
                         << " where #ferrule.dims has " << getDims()[axis].str();
  }
  return success();
}

//===------------------------------------------------------------------------------------------------------------===//
// The dialect
//===------------------------------------------------------------------------------------------------------------===//

/// One line a family; each is defined in the family's own .cpp.
static void registerFamilies(FerruleDialect &dialect) {
  registerAttentionOps(dialect);
  registerControlFlowOps(dialect);
  registerConvolutionOps(dialect);
  registerCumulativeOps(dialect);
  registerElementwiseOps(dialect);
  registerDispatchOps(dialect);
  registerExternalOps(dialect);
  registerGradientOps(dialect);
  registerIndexingOps(dialect);
  registerLayoutOps(dialect);
  registerMatmulOps(dialect);
  registerNonzeroOps(dialect);
  registerNormalizeOps(dialect);
  registerPoolingOps(dialect);
  registerRandomOps(dialect);
  registerReduceOps(dialect);
  registerShapeOps(dialect);
  registerSoftmaxOps(dialect);
  registerSortOps(dialect);
  registerStateOps(dialect);
}

void FerruleDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ir/graph/FerruleAttributes.cpp.inc"
      >();
  registerFamilies(*this);
}
