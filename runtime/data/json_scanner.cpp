#include "runtime/data/json_scanner.h"

namespace ferrule::runtime {
namespace {

char* append_utf8(char* out, uint32_t code) {
  if (code < 0x80) {
    *out++ = static_cast<char>(code);
  } else if (code < 0x800) {
    *out++ = static_cast<char>(0xc0 | code >> 6);
    *out++ = static_cast<char>(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    *out++ = static_cast<char>(0xe0 | code >> 12);
    *out++ = static_cast<char>(0x80 | (code >> 6 & 0x3f));
    *out++ = static_cast<char>(0x80 | (code & 0x3f));
  } else {
    *out++ = static_cast<char>(0xf0 | code >> 18);
    *out++ = static_cast<char>(0x80 | (code >> 12 & 0x3f));
    *out++ = static_cast<char>(0x80 | (code >> 6 & 0x3f));
    *out++ = static_cast<char>(0x80 | (code & 0x3f));
  }
  return out;
}

char simple_escape(char letter) {
  switch (letter) {
    case '"':
    case '\\':
    case '/':
      return letter;
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return '\0';
  }
}

}  // namespace

void JsonScanner::skip_space() {
  while (next_ < end_ && (*next_ == ' ' || *next_ == '\n' || *next_ == '\t' || *next_ == '\r')) ++next_;
}

bool JsonScanner::accept(char wanted) {
  skip_space();
  if (next_ == end_ || *next_ != wanted) return false;
  ++next_;
  return true;
}

bool JsonScanner::at_end() {
  skip_space();
  return next_ == end_;
}

const char* JsonScanner::string() {
  if (!accept('"')) return nullptr;
  char* const begin = pool_;
  char* out = begin;
  while (next_ < end_) {
    const char letter = *next_++;
    if (letter == '"') {
      *out++ = '\0';
      pool_ = out;
      return begin;
    }
    if (static_cast<unsigned char>(letter) < 0x20) return nullptr;
    if (letter != '\\')
      *out++ = letter;
    else if (!escape(&out))
      return nullptr;
  }
  return nullptr;
}

bool JsonScanner::escape(char** out) {
  if (next_ == end_) return false;
  const char letter = *next_++;
  if (letter != 'u') {
    const char plain = simple_escape(letter);
    *(*out)++ = plain;
    return plain != '\0';
  }
  uint32_t code;
  if (!hex4(&code) || code == 0 || (code >= 0xdc00 && code < 0xe000)) return false;
  if (code >= 0xd800 && code < 0xdc00) {
    uint32_t low;
    if (end_ - next_ < 2 || next_[0] != '\\' || next_[1] != 'u') return false;
    next_ += 2;
    if (!hex4(&low) || low < 0xdc00 || low >= 0xe000) return false;
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
  }
  *out = append_utf8(*out, code);
  return true;
}

bool JsonScanner::hex4(uint32_t* out_value) {
  if (end_ - next_ < 4) return false;
  uint32_t value = 0;
  for (int i = 0; i < 4; ++i) {
    const char digit = *next_++;
    value <<= 4;
    if (digit >= '0' && digit <= '9')
      value |= static_cast<uint32_t>(digit - '0');
    else if (digit >= 'a' && digit <= 'f')
      value |= static_cast<uint32_t>(digit - 'a' + 10);
    else if (digit >= 'A' && digit <= 'F')
      value |= static_cast<uint32_t>(digit - 'A' + 10);
    else
      return false;
  }
  *out_value = value;
  return true;
}

bool JsonScanner::unsigned_integer(uint64_t* out_value) {
  skip_space();
  if (next_ == end_ || *next_ < '0' || *next_ > '9') return false;
  uint64_t value = 0;
  while (next_ < end_ && *next_ >= '0' && *next_ <= '9') {
    if (__builtin_mul_overflow(value, uint64_t{10}, &value) ||
        __builtin_add_overflow(value, static_cast<uint64_t>(*next_ - '0'), &value))
      return false;
    ++next_;
  }
  *out_value = value;
  return true;
}

}  // namespace ferrule::runtime
