// The command line of one subcommand: `--name value`, `--name=value`, flags, and one positional argument.
#ifndef FERRULE_RUNTIME_TOOLS_OPTIONS_H_
#define FERRULE_RUNTIME_TOOLS_OPTIONS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ferrule::tools {

struct OptionSpec {
  const char* name;        // with the dashes
  const char* value_name;  // null: a flag
  const char* help;        // lines separated by \n
};

class Options {
 public:
  // Empty when all is well, else a sentence that names the argument and what is allowed.
  std::string parse(const std::vector<std::string>& arguments, const std::vector<OptionSpec>& specs);

  const std::string& artifact() const { return positional_; }
  bool has(const char* name) const;
  // The last value given, or `fallback`.
  std::string get(const char* name, const std::string& fallback = "") const;
  // Every value given, in order.
  std::vector<std::string> all(const char* name) const;
  // A whole number in [min, max]; if it is none, sets *error to a sentence and returns `fallback`.
  uint64_t number(const char* name, uint64_t fallback, uint64_t min, uint64_t max, std::string* error) const;

 private:
  std::string positional_;
  std::vector<std::pair<std::string, std::string>> values_;
};

// The block of --help that describes the options.
std::string describe_options(const std::vector<OptionSpec>& specs);

}  // namespace ferrule::tools

#endif  // FERRULE_RUNTIME_TOOLS_OPTIONS_H_
