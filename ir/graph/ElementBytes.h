//===- ElementBytes.h - Elements of a constant as they lie in memory -*- C++ -*-===//
#ifndef FERRULE_IR_GRAPH_ELEMENTBYTES_H
#define FERRULE_IR_GRAPH_ELEMENTBYTES_H

#include "mlir/IR/BuiltinAttributes.h"

#include <array>
#include <memory>
#include <optional>
#include <vector>

namespace mlir::ferrule {

/// Row-major elements, a byte for each boolean.
struct ElementBytes {
  ArrayRef<char> bytes;
  std::shared_ptr<const std::vector<char>> owner; ///< Null where someone else owns them.
};

/// The memory that holds the elements one after another; none for those that are all one value and for booleans, which
/// attributes keep in forms of their own.
std::optional<ArrayRef<char>> getRawBytes(ElementsAttr elements);

/// The elements, in the attribute's memory where they lie there like that, else a copy. None for an attribute that is not
/// dense.
std::optional<ElementBytes> getElementBytes(ElementsAttr elements);

/// 128 bits (XXH3) that tell contents apart; no protection against an adversary.
std::array<uint64_t, 2> hashContents(const void *bytes, size_t byteSize);

} // namespace mlir::ferrule

#endif // FERRULE_IR_GRAPH_ELEMENTBYTES_H
