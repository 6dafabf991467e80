// The text form of expressions: a recursive-descent parser over Python's spelling and over the words of MLIR's.
#include "ir/dims/DimExpr.h"

#include <cctype>

namespace ferrule {
namespace {

class Parser {
public:
  explicit Parser(std::string_view text) : text(text) {}

  std::optional<DimExpr> parseAll(std::string *error) {
    std::optional<DimExpr> result = parseSum();
    skipSpace();
    if (result && position != text.size())
      result = fail("unexpected '" + std::string(text.substr(position)) + "'");
    if (result && !result->isValid())
      result = fail("division by zero or a number outside 64 bits");
    if (!result && error)
      *error = "in the dim expression '" + std::string(text) + "': " + message;
    return result;
  }

private:
  std::optional<DimExpr> fail(std::string why) {
    if (message.empty())
      message = std::move(why) + " at column " + std::to_string(position + 1);
    return std::nullopt;
  }

  void skipSpace() {
    while (position < text.size() && std::isspace(static_cast<unsigned char>(text[position])))
      ++position;
  }

  bool consume(std::string_view token) {
    skipSpace();
    if (text.substr(position, token.size()) != token)
      return false;
    position += token.size();
    return true;
  }

  std::string_view peekWord() {
    skipSpace();
    size_t end = position;
    auto isWord = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; };
    while (end < text.size() && isWord(text[end]))
      ++end;
    return text.substr(position, end - position);
  }

  bool consumeWord(std::string_view word) {
    if (peekWord() != word)
      return false;
    position += word.size();
    return true;
  }

  std::optional<DimExpr> parseSum() {
    std::optional<DimExpr> left = parseProduct();
    while (left) {
      bool add = consume("+");
      if (!add && !consume("-"))
        break;
      std::optional<DimExpr> right = parseProduct();
      if (!right)
        return std::nullopt;
      left = add ? *left + *right : *left - *right;
    }
    return left;
  }

  std::optional<DimExpr> parseProduct() {
    std::optional<DimExpr> left = parseFactor();
    while (left) {
      DimOperation operation;
      if (consume("*"))
        operation = DimOperation::Multiply;
      else if (consume("//") || consumeWord("floordiv"))
        operation = DimOperation::FloorDivide;
      else if (consume("%") || consumeWord("mod"))
        operation = DimOperation::Modulo;
      else
        break;
      std::optional<DimExpr> right = parseFactor();
      if (!right)
        return std::nullopt;
      left = DimExpr::apply(operation, *left, *right);
    }
    return left;
  }

  std::optional<DimExpr> parseFactor() {
    if (++depth > 200)
      return fail("nested too deeply");
    std::optional<DimExpr> result = parsePrimary();
    --depth;
    return result;
  }

  std::optional<DimExpr> parsePrimary() {
    if (consume("-")) {
      std::optional<DimExpr> operand = parseFactor();
      return operand ? std::optional<DimExpr>(DimExpr(0) - *operand) : std::nullopt;
    }
    if (consume("(")) {
      std::optional<DimExpr> inner = parseSum();
      if (inner && !consume(")"))
        return fail("expected ')'");
      return inner;
    }
    std::string_view word = peekWord();
    if (word.empty())
      return fail("expected a number, a dim, '(' or '-'");
    if (std::isdigit(static_cast<unsigned char>(word.front())))
      return parseNumber(word);
    position += word.size();
    if ((word == "min" || word == "max") && consume("("))
      return parseCall(word == "min" ? DimOperation::Minimum : DimOperation::Maximum);
    DimExpr dim = DimExpr::dim(word);
    return dim.isValid() ? std::optional<DimExpr>(dim) : fail("'" + std::string(word) + "' is no dim name");
  }

  std::optional<DimExpr> parseNumber(std::string_view digits) {
    int64_t value = 0;
    for (char c : digits) {
      if (!std::isdigit(static_cast<unsigned char>(c)))
        return fail("'" + std::string(digits) + "' is no number");
      if (__builtin_mul_overflow(value, int64_t{10}, &value) || __builtin_add_overflow(value, int64_t{c - '0'}, &value))
        return fail("'" + std::string(digits) + "' does not fit 64 bits");
    }
    position += digits.size();
    return DimExpr(value);
  }

  std::optional<DimExpr> parseCall(DimOperation operation) {
    std::optional<DimExpr> result = parseSum();
    while (result && consume(",")) {
      std::optional<DimExpr> next = parseSum();
      if (!next)
        return std::nullopt;
      result = DimExpr::apply(operation, *result, *next);
    }
    if (result && !consume(")"))
      return fail("expected ')'");
    return result;
  }

  std::string_view text;
  size_t position = 0;
  int depth = 0;
  std::string message;
};

} // namespace

std::optional<DimExpr> DimExpr::parse(std::string_view text, std::string *error) {
  return Parser(text).parseAll(error);
}

} // namespace ferrule
