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

}  // namespace

Status evaluate_expressions(const schema::Entry& entry, const int64_t* dims, int64_t* out_values) {
  const auto& nodes = *entry.expressions();
  const uint32_t count = nodes.size();
  for (uint32_t i = 0; i < count; ++i) {
    const schema::Expression& node = *nodes.Get(i);
    if (node.kind() == schema::ExpressionKind_constant) {
      out_values[i] = node.value();
    } else if (node.kind() == schema::ExpressionKind_dim) {
      out_values[i] = dims[node.value()];
    } else if (!apply(node.kind(), out_values[node.left()], out_values[node.right()], &out_values[i])) {
      return Status::error(
          StatusCode::kInvalidArgument,
          "entry '%s': expression %u overflows or divides by zero for these dims (operands %lld and %lld)",
          entry.name()->c_str(), i, static_cast<long long>(out_values[node.left()]),
          static_cast<long long>(out_values[node.right()]));
    }
  }
  return Status();
}

}  // namespace ferrule::runtime
