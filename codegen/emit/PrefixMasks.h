//===- PrefixMasks.h - Masked loads and stores of leading lanes -*- C++ -*-===//

#ifndef FERRULE_CODEGEN_EMIT_PREFIXMASKS_H
#define FERRULE_CODEGEN_EMIT_PREFIXMASKS_H

namespace llvm {
class Function;
} // namespace llvm

namespace mlir::ferrule {

/// For targets without masked memory instructions: writes the masked loads and stores of `function` whose mask is "the
/// first n lanes" as plain ones of 8, 4, 2 and 1 lanes (of powers of two down from half the vector). With a constant n
/// that is straight code, else one branch a size. LLVM's own expansion tests and moves each lane by itself. Other masks
/// stay. Returns whether something changed. O(instructions).
bool expandPrefixMasks(llvm::Function &function);

} // namespace mlir::ferrule

#endif // FERRULE_CODEGEN_EMIT_PREFIXMASKS_H
