#include "kernels/bitcode.h"

#define FERRULE_BITCODE(symbol) extern "C" const unsigned char symbol[], symbol##_end[];
FERRULE_BITCODE(ferrule_bitcode_x86_64_v3)
FERRULE_BITCODE(ferrule_bitcode_x86_64_v4)
FERRULE_BITCODE(ferrule_bitcode_aarch64)
#undef FERRULE_BITCODE

namespace ferrule::kernels {

const BitcodeImage* find_bitcode(std::string_view target) {
#define FERRULE_BITCODE(target, symbol) {target, symbol, static_cast<size_t>(symbol##_end - symbol)}
  static const BitcodeImage images[] = {
      FERRULE_BITCODE("x86-64-v3", ferrule_bitcode_x86_64_v3),
      FERRULE_BITCODE("x86-64-v4", ferrule_bitcode_x86_64_v4),
      FERRULE_BITCODE("aarch64", ferrule_bitcode_aarch64),
      // No skeleton has a product of bytes, so this level has no sources of its own.
      FERRULE_BITCODE("aarch64-dotprod", ferrule_bitcode_aarch64),
  };
#undef FERRULE_BITCODE
  for (const BitcodeImage& image : images) {
    if (target == image.target) return &image;
  }
  return nullptr;
}

}  // namespace ferrule::kernels
