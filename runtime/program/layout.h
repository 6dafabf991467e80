// Conversion between a variable's logical row-major values and its physical layout, for checkpoints and access by name.
//
// Layout "row_major" is the identity. Layout "panel" is [groups][ceil(N / panel)][K...][panel]: N is the product of the
// n axes' extents within a group (the first n axis is split into `groups` equal parts), row-major over n_axes in their
// order; K row-major over k_axes in theirs. Lanes past N are zero. n_axes and k_axes together are every axis, once.
#ifndef FERRULE_RUNTIME_PROGRAM_LAYOUT_H_
#define FERRULE_RUNTIME_PROGRAM_LAYOUT_H_

#include <stdint.h>

#include "runtime/base/status.h"
#include "serialize/schema/program_schema.h"

namespace ferrule::runtime {

inline constexpr uint32_t kMaximumRank = 16;  // of a variable or tensor; the verifier refuses more

// Logical row-major bytes of a tensor (low-bit types rounded up to whole bytes). False on overflow or negative dims.
[[nodiscard]] bool logical_byte_size(const schema::DataType& dtype, const int64_t* shape, uint32_t rank,
                                     uint64_t* out_byte_size);

// Physical bytes under `layout`. An error names what is wrong with the layout for this shape (kInvalidArtifact).
Status physical_byte_size(const schema::Layout& layout, const schema::DataType& dtype, const int64_t* shape,
                          uint32_t rank, uint64_t* out_byte_size);

// logical -> physical (padding set to zero) and back. The buffers hold physical_byte_size and logical_byte_size bytes,
// do not overlap, need no alignment. The layout must have passed physical_byte_size(), as every variable of an opened
// program has.
void pack(const schema::Layout& layout, const schema::DataType& dtype, const int64_t* shape, uint32_t rank,
          const void* logical, void* out_physical);
void unpack(const schema::Layout& layout, const schema::DataType& dtype, const int64_t* shape, uint32_t rank,
            const void* physical, void* out_logical);

// The same for a variable of a verified program.
uint64_t logical_byte_size(const schema::Variable& variable);
void pack(const schema::Program& program, const schema::Variable& variable, const void* logical, void* out_physical);
void unpack(const schema::Program& program, const schema::Variable& variable, const void* physical, void* out_logical);

}  // namespace ferrule::runtime

#endif  // FERRULE_RUNTIME_PROGRAM_LAYOUT_H_
