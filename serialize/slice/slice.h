// Makes a smaller artifact of an artifact: without code for other machines, without entries (the training part), without
// the debug segment.
//
// Dropping targets or debug only zeroes file offsets and drops bytes: the directory stays as it is, and with it the root
// hash and every signature over it. Dropping entries rewrites the metadata, the weights that only they use are dropped
// too, and the result has a root hash of its own. The code of a target stays whole: it is one image.
#ifndef FERRULE_SERIALIZE_SLICE_SLICE_H_
#define FERRULE_SERIALIZE_SLICE_SLICE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ferrule::serialize {

struct SliceOptions {
  std::vector<std::string> targets;  // those that stay; empty: all
  std::vector<std::string> entries;  // those that stay; empty: all
  bool debug = true;                 // false: errors name no line afterwards
};

// False, and *error names the unknown target or entry and those that there are, or what is wrong with the artifact. The
// caller verifies the result by opening it.
bool slice_artifact(const uint8_t* bytes, size_t byte_size, const SliceOptions& options,
                    std::vector<uint8_t>* out_artifact, std::string* error);

}  // namespace ferrule::serialize

#endif  // FERRULE_SERIALIZE_SLICE_SLICE_H_
