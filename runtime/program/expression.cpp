#include "runtime/program/expression.h"

#include "runtime/base/arithmetic.h"

namespace ferrule::runtime {
namespace {

bool apply(schema::ExpressionKind kind, int64_t left, int64_t right, int64_t* out) {
  switch (kind) {
    case schema::ExpressionKind_add:
      return checked_add(left, right, out);
    case schema::ExpressionKind_subtract:
      return checked_subtract(left, right, out);
    case schema::ExpressionKind_multiply:
      return checked_multiply(left, right, out);
    case schema::ExpressionKind_floor_divide:
      return checked_floor_divide(left, right, out);
    case schema::ExpressionKind_modulo:
      return checked_floor_modulo(left, right, out);
    case schema::ExpressionKind_minimum:
      *out = left < right ? left : right;
      return true;
    case schema::ExpressionKind_maximum:
      *out = left > right ? left : right;
      return true;
    default:
      return false;
  }
}

Status evaluate(const schema::Entry& entry, uint32_t i, const int64_t* dims, int64_t* values) {
  const schema::Expression& node = *entry.expressions()->Get(i);
  if (node.kind() == schema::ExpressionKind_constant) {
    values[i] = node.value();
  } else if (node.kind() == schema::ExpressionKind_dim) {
    values[i] = dims[node.value()];
  } else if (!apply(node.kind(), values[node.left()], values[node.right()], &values[i])) {
    return Status::error(
        StatusCode::kInvalidArgument,
        "entry '%s': expression %u overflows or divides by zero for these dims (operands %lld and %lld)",
        entry.name()->c_str(), i, static_cast<long long>(values[node.left()]),
        static_cast<long long>(values[node.right()]));
  }
  return Status();
}

}  // namespace

int64_t most_of(const schema::Dim& dim, int64_t limit) {
  const int64_t most = limit < dim.max() ? limit : dim.max();
  return most < 0 ? most : most - most % dim.multiple_of();
}

Status evaluate_expressions(const schema::Entry& entry, const EntryMap& map, int64_t* dims, int64_t* out_values) {
  const uint32_t count = entry.expressions()->size();
  for (uint32_t i = 0; i < count; ++i) {
    if (!map.known_at_call(i)) continue;
    const schema::Expression& node = *entry.expressions()->Get(i);
    if (node.kind() == schema::ExpressionKind_dim) {
      const schema::Dim& dim = *entry.dims()->Get(static_cast<uint32_t>(node.value()));
      if (dim.source() == schema::DimSource_instruction) dims[node.value()] = most_of(dim, out_values[dim.limit()]);
    }
    FERRULE_RETURN_IF_ERROR(evaluate(entry, i, dims, out_values));
  }
  return Status();
}

Status evaluate_expressions_of(const schema::Entry& entry, const EntryMap& map, uint32_t dim, const int64_t* dims,
                               int64_t* values) {
  for (uint32_t i : map.expressions(dim)) FERRULE_RETURN_IF_ERROR(evaluate(entry, i, dims, values));
  return Status();
}

}  // namespace ferrule::runtime
