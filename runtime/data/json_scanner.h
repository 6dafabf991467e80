// The small part of JSON that a safetensors header needs: punctuation, strings and unsigned integers, one after the
// other from untrusted text. Never reads past the end, never recurses.
#ifndef FERRULE_RUNTIME_DATA_JSON_SCANNER_H_
#define FERRULE_RUNTIME_DATA_JSON_SCANNER_H_

#include <stddef.h>
#include <stdint.h>

namespace ferrule::runtime {

class JsonScanner {
 public:
  // `pool` receives the strings and has room for `size` bytes: a decoded string with its closing zero is shorter than
  // the quoted one.
  JsonScanner(const char* text, size_t size, char* pool) : next_(text), end_(text + size), pool_(pool) {}

  // Skips white space; takes the character if it is the next one.
  bool accept(char wanted);
  bool expect(char wanted) { return accept(wanted); }
  bool at_end();

  // A string, decoded to UTF-8, ended by a zero; null if there is none, or if it is malformed or holds a zero.
  const char* string();

  // Digits only: no sign, fraction or exponent. False also on overflow.
  bool unsigned_integer(uint64_t* out_value);

 private:
  void skip_space();
  bool escape(char** out);
  bool hex4(uint32_t* out_value);

  const char* next_;
  const char* end_;
  char* pool_;
};

}  // namespace ferrule::runtime

#endif  // FERRULE_RUNTIME_DATA_JSON_SCANNER_H_
