//===- CpuTarget.cpp - The table of CPU targets ---------------------------===//

#include "codegen/emit/CodeImage.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir::ferrule;

// prefer-256-bit is part of some CPU models; the 512-bit width is asked for by
// function attributes (see CodeImage.cpp).
static constexpr CpuTarget targets[] = {
    {"x86-64-v3", "x86_64-unknown-linux-gnu", "x86-64-v3", "", 256, true},
    {"x86-64-v4", "x86_64-unknown-linux-gnu", "x86-64-v4", "-prefer-256-bit",
     512, true},
    // Where x18 belongs to the platform (Android, Darwin), generated code must
    // not touch it; the skeletons are compiled the same way.
    {"aarch64", "aarch64-unknown-linux-gnu", "generic",
     "+neon,+fp-armv8,+reserve-x18", 128, false},
    {"aarch64-dotprod", "aarch64-unknown-linux-gnu", "generic",
     "+neon,+fp-armv8,+dotprod,+reserve-x18", 128, false},
};

llvm::ArrayRef<CpuTarget> mlir::ferrule::getCpuTargets() { return targets; }

const CpuTarget *mlir::ferrule::findCpuTarget(llvm::StringRef name) {
  const CpuTarget *it = llvm::find_if(
      targets, [&](const CpuTarget &target) { return target.name == name; });
  return it == std::end(targets) ? nullptr : it;
}

llvm::StringRef mlir::ferrule::getHostTargetName() {
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  if (llvm::Triple(llvm::sys::getProcessTriple()).isAArch64())
    return features.lookup("dotprod") ? "aarch64-dotprod" : "aarch64";
  bool isV4 = llvm::all_of(
      llvm::ArrayRef<llvm::StringRef>{"avx512f", "avx512bw", "avx512cd",
                                      "avx512dq", "avx512vl"},
      [&](llvm::StringRef feature) { return features.lookup(feature); });
  return isV4 ? "x86-64-v4" : "x86-64-v3";
}
