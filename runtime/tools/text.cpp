#include "runtime/tools/text.h"

#include <cmath>
#include <cstdarg>
#include <cstdio>

namespace ferrule::tools {
namespace {

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char letter : text) {
    const auto code = static_cast<unsigned char>(letter);
    if (code < 0x20)
      result += format("\\u%04x", code);
    else if (letter == '"' || letter == '\\')
      result += {'\\', letter};
    else
      result += letter;
  }
  return result + '"';
}

}  // namespace

std::string format(const char* pattern, ...) {
  va_list arguments, again;
  va_start(arguments, pattern);
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, pattern, arguments);
  va_end(arguments);
  std::string result(length < 0 ? 0 : static_cast<size_t>(length), '\0');
  std::vsnprintf(result.data(), result.size() + 1, pattern, again);
  va_end(again);
  return result;
}

void Json::separate() {
  if (text_.size() > 1) text_ += ", ";
}

Json& Json::member(const char* key, const std::string& value) {
  separate();
  text_ += quoted(key) + ": " + value;
  return *this;
}

Json& Json::add(const char* key, const std::string& text) { return member(key, quoted(text)); }
Json& Json::add(const char* key, uint64_t number) { return member(key, std::to_string(number)); }
Json& Json::add(const char* key, int64_t number) { return member(key, std::to_string(number)); }
Json& Json::add(const char* key, double number) {
  return member(key, std::isfinite(number) ? format("%.9g", number) : "null");
}
Json& Json::add(const char* key, bool value) { return member(key, value ? "true" : "false"); }
Json& Json::add(const char* key, const Json& value) { return member(key, value.text()); }

Json& Json::add(const Json& value) {
  separate();
  text_ += value.text();
  return *this;
}

Json& Json::add(int64_t number) {
  separate();
  text_ += std::to_string(number);
  return *this;
}

}  // namespace ferrule::tools
