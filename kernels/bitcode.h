// The skeletons as LLVM bitcode, one module a target, held in the compiler's own read-only data.
#ifndef FERRULE_KERNELS_BITCODE_H_
#define FERRULE_KERNELS_BITCODE_H_

#include <cstddef>
#include <string_view>

namespace ferrule::kernels {

struct BitcodeImage {
  const char* target;         // "x86-64-v3", "x86-64-v4", "aarch64", "aarch64-dotprod"
  const unsigned char* data;  // LLVM bitcode, 16-byte aligned
  size_t size;                // bytes
};

// Null if the target has no bitcode.
const BitcodeImage* find_bitcode(std::string_view target);

}  // namespace ferrule::kernels

#endif  // FERRULE_KERNELS_BITCODE_H_
