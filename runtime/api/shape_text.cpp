#include "runtime/api/shape_text.h"

#include <stdio.h>
#include <string.h>

namespace ferrule::runtime {
namespace {

// Expressions are a graph, so their text can be exponentially longer than the file: both bounds are needed.
constexpr int kMaxDepth = 12;

class ShapeTextWriter {
 public:
  ShapeTextWriter(const schema::Entry& entry, char* out, size_t capacity) : entry_(entry), out_(out), room_(capacity) {
    out_[0] = '\0';
  }

  void append(const char* text) {
    const size_t length = strlen(text);
    if (length >= room_) {
      full_ = true;
      return;
    }
    memcpy(out_, text, length + 1);
    out_ += length;
    room_ -= length;
  }

  // `binding`: how tightly the surrounding operation binds; a looser one gets parentheses.
  void expression(uint32_t index, int binding, int depth) {
    const schema::Expression& node = *entry_.expressions()->Get(index);
    if (depth > kMaxDepth) full_ = true;
    if (full_) return;
    switch (node.kind()) {
      case schema::ExpressionKind_constant: {
        char digits[24];
        snprintf(digits, sizeof(digits), "%lld", static_cast<long long>(node.value()));
        return append(digits);
      }
      case schema::ExpressionKind_dim:
        return append(entry_.dims()->Get(static_cast<uint32_t>(node.value()))->name()->c_str());
      case schema::ExpressionKind_add:
        return binary(node, " + ", 1, binding, depth);
      case schema::ExpressionKind_subtract:
        return binary(node, " - ", 1, binding, depth);
      case schema::ExpressionKind_multiply:
        return binary(node, "*", 2, binding, depth);
      case schema::ExpressionKind_floor_divide:
        return binary(node, "//", 2, binding, depth);
      case schema::ExpressionKind_modulo:
        return binary(node, "%", 2, binding, depth);
      case schema::ExpressionKind_minimum:
        return function(node, "min(", depth);
      case schema::ExpressionKind_maximum:
        return function(node, "max(", depth);
    }
  }

  bool full() const { return full_; }

 private:
  void binary(const schema::Expression& node, const char* sign, int own, int binding, int depth) {
    if (own < binding) append("(");
    expression(node.left(), own, depth + 1);
    append(sign);
    expression(node.right(), own + 1, depth + 1);
    if (own < binding) append(")");
  }

  void function(const schema::Expression& node, const char* name, int depth) {
    append(name);
    expression(node.left(), 0, depth + 1);
    append(", ");
    expression(node.right(), 0, depth + 1);
    append(")");
  }

  const schema::Entry& entry_;
  char* out_;
  size_t room_;
  bool full_ = false;
};

}  // namespace

void write_shape_text(const schema::Entry& entry, const schema::TensorSpec& spec, char* out, size_t capacity) {
  ShapeTextWriter writer(entry, out, capacity);
  writer.append("[");
  for (uint32_t axis = 0; axis < spec.shape()->size(); ++axis) {
    if (axis != 0) writer.append(", ");
    writer.expression(spec.shape()->Get(axis), 0, 0);
  }
  writer.append("]");
  if (writer.full()) snprintf(out, capacity, "[...]");
}

}  // namespace ferrule::runtime
