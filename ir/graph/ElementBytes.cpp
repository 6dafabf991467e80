//===- ElementBytes.cpp - Elements of a constant as they lie in memory ----===//

#include "ir/graph/ElementBytes.h"

#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace mlir::ferrule;

std::optional<ArrayRef<char>> mlir::ferrule::getRawBytes(ElementsAttr elements) {
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements))
    return resource.getRawHandle().getBlob()->getData();
  auto dense = dyn_cast<DenseElementsAttr>(elements);
  if (!dense || dense.isSplat() || dense.getElementType().isInteger(1))
    return std::nullopt;
  return dense.getRawData();
}

std::optional<ElementBytes> mlir::ferrule::getElementBytes(ElementsAttr elements) {
  if (std::optional<ArrayRef<char>> raw = getRawBytes(elements))
    return ElementBytes{*raw, nullptr};
  auto dense = dyn_cast<DenseElementsAttr>(elements);
  if (!dense)
    return std::nullopt;
  auto copy = std::make_shared<std::vector<char>>();
  if (dense.getElementType().isInteger(1)) {
    auto values = dense.getValues<bool>();
    copy->assign(values.begin(), values.end());
  } else {
    ArrayRef<char> element = dense.getRawData();
    copy->reserve(element.size() * dense.getNumElements());
    for (int64_t i = 0; i < dense.getNumElements(); ++i)
      copy->insert(copy->end(), element.begin(), element.end());
  }
  return ElementBytes{*copy, copy};
}

std::array<uint64_t, 2> mlir::ferrule::hashContents(const void *bytes, size_t byteSize) {
  llvm::XXH128_hash_t hash = llvm::xxh3_128bits({static_cast<const uint8_t *>(bytes), byteSize});
  return {hash.low64, hash.high64};
}
