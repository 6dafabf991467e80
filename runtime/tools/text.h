// Text for people and for programs: printf into strings, JSON objects.
#ifndef FERRULE_RUNTIME_TOOLS_TEXT_H_
#define FERRULE_RUNTIME_TOOLS_TEXT_H_

#include <cstdint>
#include <string>

namespace ferrule::tools {

std::string format(const char* pattern, ...) __attribute__((format(printf, 1, 2)));

// A JSON object or array under construction, on one line.
class Json {
 public:
  static Json object() { return Json('{', '}'); }
  static Json array() { return Json('[', ']'); }

  // Members of an object.
  Json& add(const char* key, const std::string& text);
  Json& add(const char* key, const char* text) { return add(key, std::string(text)); }
  Json& add(const char* key, uint64_t number);
  Json& add(const char* key, int64_t number);
  Json& add(const char* key, double number);  // null when it is not finite: JSON has no such number
  Json& add(const char* key, bool value);
  Json& add(const char* key, const Json& value);
  // Elements of an array.
  Json& add(const Json& value);
  Json& add(int64_t number);

  std::string text() const { return text_ + close_; }

 private:
  Json(char open, char close) : text_(1, open), close_(close) {}
  void separate();
  Json& member(const char* key, const std::string& value);

  std::string text_;
  char close_;
};

}  // namespace ferrule::tools

#endif  // FERRULE_RUNTIME_TOOLS_TEXT_H_
