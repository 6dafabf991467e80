//===- TileChoice.h - What a kernel may choose freely ---------*- C++ -*-===//
#ifndef FERRULE_CODEGEN_COMMON_TILECHOICE_H
#define FERRULE_CODEGEN_COMMON_TILECHOICE_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace mlir::ferrule {

/// Of a product, what one tile covers: `rows` rows by `panels` panels of 16 columns. A tile is what threads share out,
/// and what a panel of the right operand stays in the first-level cache for; the register tile follows from `panels`. Any
/// tile gives the same bits on every target.
struct ProductTile {
  int64_t rows, panels;
};

/// What there is to choose from, numbered by place.
ArrayRef<ProductTile> getProductTiles();

/// An [m, k] by [k, n] product whose left operand's rows lie `rowBytes` bytes apart, and its columns `columnBytes`. What is
/// not known before a run is empty.
struct ProductShape {
  std::optional<int64_t> m, n, k, rowBytes, columnBytes;
  bool isTransposed;
};

/// The number of the tile that the cost model takes.
unsigned chooseProductTile(const ProductShape &shape);

/// Choices that take the place of the cost model's.
struct TileChoices {
  /// Numbers by TunableKernel::key.
  std::map<std::string, unsigned> byKey;
  /// For all kernels that `byKey` does not name.
  std::optional<unsigned> others;
};

/// A kernel for which there is something to choose.
struct TunableKernel {
  std::string name;
  /// Equal for kernels that compute the same on the same sizes, in any program.
  std::string key;
  /// Candidates are [0, candidates); `chosen` is the one in the code.
  unsigned candidates = 0, chosen = 0;
};

} // namespace mlir::ferrule

#endif // FERRULE_CODEGEN_COMMON_TILECHOICE_H
