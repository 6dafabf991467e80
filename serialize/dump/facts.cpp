#include "serialize/dump/facts.h"

#include <cstring>

#include "serialize/dump/dump.h"
#include "serialize/schema/sha256.h"

namespace ferrule::serialize {
namespace {

// A table whose nodes share operands can describe a text of any length.
constexpr size_t kMaximumExpressionText = 200;

const char* operator_text(ExpressionKind kind) {
  switch (kind) {
    case ExpressionKind::kAdd:
      return " + ";
    case ExpressionKind::kSubtract:
      return " - ";
    case ExpressionKind::kMultiply:
      return " * ";
    case ExpressionKind::kFloorDivide:
      return " // ";
    case ExpressionKind::kModulo:
      return " % ";
    default:
      return nullptr;
  }
}

std::string parenthesised(const std::string& text) {
  return text.find(' ') == std::string::npos ? text : "(" + text + ")";
}

std::string expression_text(const EntryDescription& entry, const ExpressionDescription& node,
                            const std::vector<std::string>& before) {
  if (node.kind == ExpressionKind::kConstant) return std::to_string(node.value);
  if (node.kind == ExpressionKind::kDim) {
    const uint64_t dim = static_cast<uint64_t>(node.value);
    return dim < entry.dims.size() ? entry.dims[dim].name : "?";
  }
  const std::string left = text_at(before, node.left), right = text_at(before, node.right);
  if (const char* text = operator_text(node.kind)) return parenthesised(left) + text + parenthesised(right);
  if (node.kind == ExpressionKind::kMinimum) return "min(" + left + ", " + right + ")";
  if (node.kind == ExpressionKind::kMaximum) return "max(" + left + ", " + right + ")";
  return "?";
}

}  // namespace

std::string hex_digest(const uint8_t digest[32]) {
  char text[2 * kSha256Bytes + 1];
  sha256_text(digest, text);
  return text;
}

const char* segment_kind_name(uint32_t kind) {
  static const char* const kNames[] = {"?", "metadata", "code", "debug", "weights"};
  return kind <= static_cast<uint32_t>(SegmentKind::kWeights) ? kNames[kind] : "?";
}

const char* storage_name(Storage storage) {
  static const char* const kNames[] = {"arena", "variable", "constant", "input", "output"};
  return static_cast<uint8_t>(storage) < 5 ? kNames[static_cast<uint8_t>(storage)] : "?";
}

const char* dim_source_name(DimSource source) {
  static const char* const kNames[] = {"input", "iteration", "instruction"};
  return static_cast<uint8_t>(source) < 3 ? kNames[static_cast<uint8_t>(source)] : "?";
}

const char* instruction_kind_name(InstructionDescription::Kind kind) {
  static const char* const kNames[] = {"kernel_call", "copy", "if", "while", "loop", "bind_dim"};
  return kNames[static_cast<uint8_t>(kind)];
}

const char* block_role(InstructionDescription::Kind kind, size_t index) {
  if (kind == InstructionDescription::Kind::kIf) return index == 0 ? "then" : "else";
  return kind == InstructionDescription::Kind::kWhile && index == 0 ? "condition" : "body";
}

std::string segment_name(const SegmentEntry& entry) { return {entry.name, strnlen(entry.name, sizeof entry.name)}; }

std::string cost_text(const std::vector<std::string>& expressions, uint32_t cost) {
  return cost == 0 ? "" : text_at(expressions, uint64_t{cost} - 1);
}

std::string text_at(const std::vector<std::string>& texts, uint64_t index) {
  return index < texts.size() ? texts[index] : "?";
}

std::string dtype_name(const DataTypeDescription& dtype) {
  static const char* const kNames[] = {"int", "uint", "float", nullptr, "bfloat", nullptr, "bool"};
  const char* name = dtype.code < 7 ? kNames[dtype.code] : nullptr;
  if (name == nullptr || dtype.lanes != 1) {
    return std::to_string(dtype.code) + ":" + std::to_string(dtype.bits) + "x" + std::to_string(dtype.lanes);
  }
  return dtype.code == 6 ? name : name + std::to_string(dtype.bits);
}

std::vector<std::string> expression_texts(const EntryDescription& entry) {
  std::vector<std::string> texts;
  texts.reserve(entry.expressions.size());
  for (const ExpressionDescription& node : entry.expressions) {
    std::string text = expression_text(entry, node, texts);
    if (text.size() > kMaximumExpressionText) text = "...";
    texts.push_back(std::move(text));
  }
  return texts;
}

}  // namespace ferrule::serialize
