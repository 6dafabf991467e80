#include "runtime/program/layout.h"

#include <string.h>

#include "runtime/base/arithmetic.h"

namespace ferrule::runtime {
namespace {

constexpr uint32_t kMaximumPanel = 64;

bool is_kind(const schema::Layout& layout, const char* kind) {
  const size_t length = strlen(kind);
  return layout.kind()->size() == length && memcmp(layout.kind()->Data(), kind, length) == 0;
}

bool is_row_major(const schema::Layout& layout) { return is_kind(layout, "row_major"); }

Status bad_layout(const char* what, uint64_t value) {
  return Status::error(StatusCode::kInvalidArtifact, "layout 'panel' %s (%llu)", what,
                       static_cast<unsigned long long>(value));
}

// Each axis stands in n_axes or k_axes once; one that stands in neither has size 1.
Status check_axes(const schema::Layout& layout, const int64_t* shape, uint32_t rank) {
  bool seen[kMaximumRank] = {};
  for (const flatbuffers::Vector<uint32_t>* axes : {layout.n_axes(), layout.k_axes()}) {
    for (uint32_t axis : *axes) {
      if (axis >= rank) return bad_layout("names an axis that the shape lacks", axis);
      if (seen[axis]) return bad_layout("names an axis twice", axis);
      seen[axis] = true;
    }
  }
  for (uint32_t axis = 0; axis < rank; ++axis) {
    if (!seen[axis] && shape[axis] != 1) return bad_layout("leaves out an axis whose size is not 1", axis);
  }
  return Status();
}

// Known sizes become single moves.
void copy_element(char* to, const char* from, uint64_t bytes) {
  switch (bytes) {
    case 2:
      memcpy(to, from, 2);
      return;
    case 4:
      memcpy(to, from, 4);
      return;
    case 8:
      memcpy(to, from, 8);
      return;
    default:
      memcpy(to, from, bytes);
  }
}

// Sizes and logical strides (in elements) of the axes that one part of the layout runs over, row-major.
struct Odometer {
  uint32_t rank = 0;
  uint64_t sizes[kMaximumRank];
  uint64_t strides[kMaximumRank];
  uint64_t count = 1;

  void add(uint64_t size, uint64_t stride) {
    sizes[rank] = size;
    strides[rank] = stride;
    ++rank;
    count *= size;
  }
  uint64_t offset(uint64_t index) const {
    uint64_t result = 0;
    for (uint32_t i = rank; i-- > 0;) {
      result += index % sizes[i] * strides[i];
      index /= sizes[i];
    }
    return result;
  }
};

// A panel layout for one shape, with everything that packing needs.
struct Panels {
  Odometer n, k;  // within a group
  uint64_t groups, panel;
  uint64_t group_stride;  // logical elements from a group to the next
  uint64_t element_bytes;

  Panels(const schema::Layout& layout, const schema::DataType& dtype, const int64_t* shape, uint32_t rank)
      : groups(layout.groups()), panel(layout.panel()), element_bytes(dtype.bits() * dtype.lanes() / 8u) {
    uint64_t strides[kMaximumRank];
    uint64_t stride = 1;
    for (uint32_t axis = rank; axis-- > 0;) {
      strides[axis] = stride;
      stride *= static_cast<uint64_t>(shape[axis]);
    }
    for (uint32_t i = 0; i < layout.n_axes()->size(); ++i) {
      const uint32_t axis = layout.n_axes()->Get(i);
      n.add(static_cast<uint64_t>(shape[axis]) / (i == 0 ? groups : 1), strides[axis]);
    }
    for (uint32_t axis : *layout.k_axes()) k.add(static_cast<uint64_t>(shape[axis]), strides[axis]);
    group_stride = n.sizes[0] * n.strides[0];
  }

  // Calls visit(logical element or -1 for padding) for every physical element in order.
  template <typename Visit>
  void for_each(Visit visit) const {
    if (n.count == 0 || k.count == 0) return;
    uint64_t lane_offsets[kMaximumPanel];
    for (uint64_t group = 0; group < groups; ++group) {
      for (uint64_t first = 0; first < n.count; first += panel) {
        const uint64_t lanes = n.count - first < panel ? n.count - first : panel;
        for (uint64_t lane = 0; lane < lanes; ++lane) {
          lane_offsets[lane] = group * group_stride + n.offset(first + lane);
        }
        for (uint64_t index = 0; index < k.count; ++index) {
          const uint64_t k_offset = k.offset(index);
          for (uint64_t lane = 0; lane < panel; ++lane) {
            visit(lane < lanes ? static_cast<int64_t>(lane_offsets[lane] + k_offset) : int64_t{-1});
          }
        }
      }
    }
  }
};

}  // namespace

bool logical_byte_size(const schema::DataType& dtype, const int64_t* shape, uint32_t rank, uint64_t* out_byte_size) {
  uint64_t bits = uint64_t{dtype.bits()} * dtype.lanes();
  for (uint32_t axis = 0; axis < rank; ++axis) {
    if (shape[axis] < 0 || !checked_multiply(bits, static_cast<uint64_t>(shape[axis]), &bits)) return false;
  }
  *out_byte_size = bits / 8 + (bits % 8 != 0 ? 1 : 0);
  return *out_byte_size <= static_cast<uint64_t>(INT64_MAX);
}

Status physical_byte_size(const schema::Layout& layout, const schema::DataType& dtype, const int64_t* shape,
                          uint32_t rank, uint64_t* out_byte_size) {
  if (rank > kMaximumRank || !logical_byte_size(dtype, shape, rank, out_byte_size)) {
    return Status::error(StatusCode::kInvalidArtifact, "a shape of rank %u has a negative dim or overflows", rank);
  }
  if (is_row_major(layout)) return Status();
  if (!is_kind(layout, "panel")) {
    return Status::error(StatusCode::kInvalidArtifact, "layout '%s' is not known to this runtime",
                         layout.kind()->c_str());
  }
  if (layout.panel() == 0 || layout.panel() > kMaximumPanel)
    return bad_layout("has a panel width out of 1 to 64", layout.panel());
  if (layout.n_axes()->size() == 0) return bad_layout("has no n axis", 0);
  if (dtype.bits() % 8 != 0) return bad_layout("needs whole bytes an element; bits", dtype.bits());
  FERRULE_RETURN_IF_ERROR(check_axes(layout, shape, rank));
  const uint64_t first_extent = static_cast<uint64_t>(shape[layout.n_axes()->Get(0)]);
  if (layout.groups() == 0 || first_extent % layout.groups() != 0) {
    return bad_layout("does not divide the first n axis into its groups", layout.groups());
  }
  uint64_t n = 1, elements = layout.groups();
  bool fits = true;
  for (uint32_t i = 0; i < layout.n_axes()->size(); ++i) {
    const uint64_t extent = static_cast<uint64_t>(shape[layout.n_axes()->Get(i)]);
    fits = fits && checked_multiply(n, i == 0 ? extent / layout.groups() : extent, &n);
  }
  for (uint32_t axis : *layout.k_axes()) {
    fits = fits && checked_multiply(elements, static_cast<uint64_t>(shape[axis]), &elements);
  }
  const uint64_t panels = n / layout.panel() + (n % layout.panel() != 0 ? 1 : 0);
  fits = fits && checked_multiply(elements, panels, &elements) &&
         checked_multiply<uint64_t>(elements, layout.panel(), &elements) &&
         checked_multiply<uint64_t>(elements, dtype.bits() * dtype.lanes() / 8u, out_byte_size) &&
         *out_byte_size <= static_cast<uint64_t>(INT64_MAX);
  return fits ? Status() : bad_layout("overflows for this shape; panels", panels);
}

void pack(const schema::Layout& layout, const schema::DataType& dtype, const int64_t* shape, uint32_t rank,
          const void* logical, void* out_physical) {
  const char* from = static_cast<const char*>(logical);
  char* to = static_cast<char*>(out_physical);
  if (is_row_major(layout)) {
    uint64_t byte_size = 0;
    if (logical_byte_size(dtype, shape, rank, &byte_size) && byte_size != 0) memcpy(to, from, byte_size);
    return;
  }
  const Panels panels(layout, dtype, shape, rank);
  const uint64_t bytes = panels.element_bytes;
  panels.for_each([&](int64_t element) {
    if (element < 0) {
      memset(to, 0, bytes);
    } else {
      copy_element(to, from + static_cast<uint64_t>(element) * bytes, bytes);
    }
    to += bytes;
  });
}

void unpack(const schema::Layout& layout, const schema::DataType& dtype, const int64_t* shape, uint32_t rank,
            const void* physical, void* out_logical) {
  const char* from = static_cast<const char*>(physical);
  char* to = static_cast<char*>(out_logical);
  if (is_row_major(layout)) {
    uint64_t byte_size = 0;
    if (logical_byte_size(dtype, shape, rank, &byte_size) && byte_size != 0) memcpy(to, from, byte_size);
    return;
  }
  const Panels panels(layout, dtype, shape, rank);
  const uint64_t bytes = panels.element_bytes;
  panels.for_each([&](int64_t element) {
    if (element >= 0) copy_element(to + static_cast<uint64_t>(element) * bytes, from, bytes);
    from += bytes;
  });
}

uint64_t logical_byte_size(const schema::Variable& variable) {
  uint64_t byte_size = 0;
  (void)!logical_byte_size(*variable.dtype(), variable.shape()->data(), variable.shape()->size(), &byte_size);
  return byte_size;
}

void pack(const schema::Program& program, const schema::Variable& variable, const void* logical, void* out_physical) {
  pack(*program.layouts()->Get(variable.layout()), *variable.dtype(), variable.shape()->data(),
       variable.shape()->size(), logical, out_physical);
}

void unpack(const schema::Program& program, const schema::Variable& variable, const void* physical, void* out_logical) {
  unpack(*program.layouts()->Get(variable.layout()), *variable.dtype(), variable.shape()->data(),
         variable.shape()->size(), physical, out_logical);
}

}  // namespace ferrule::runtime
