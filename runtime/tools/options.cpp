#include "runtime/tools/options.h"

#include <cstdlib>

#include "runtime/tools/text.h"

namespace ferrule::tools {
namespace {

const OptionSpec* find_spec(const std::vector<OptionSpec>& specs, const std::string& name) {
  for (const OptionSpec& spec : specs)
    if (name == spec.name) return &spec;
  return nullptr;
}

}  // namespace

std::string Options::parse(const std::vector<std::string>& arguments, const std::vector<OptionSpec>& specs) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument.rfind("--", 0) != 0) {
      if (!positional_.empty())
        return format("unexpected argument '%s': the artifact is '%s' already", argument.c_str(), positional_.c_str());
      positional_ = argument;
      continue;
    }
    const size_t equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    const OptionSpec* spec = find_spec(specs, name);
    if (spec == nullptr) {
      std::string known;
      for (const OptionSpec& other : specs) known += std::string(known.empty() ? "" : ", ") + other.name;
      return format("unknown option '%s'; the options are %s", name.c_str(), known.c_str());
    }
    if (spec->value_name == nullptr) {
      if (equals != std::string::npos) return format("%s takes no value", spec->name);
      values_.emplace_back(name, "");
    } else if (equals != std::string::npos) {
      values_.emplace_back(name, argument.substr(equals + 1));
    } else if (i + 1 < arguments.size()) {
      values_.emplace_back(name, arguments[++i]);
    } else {
      return format("%s needs a value: %s %s", spec->name, spec->name, spec->value_name);
    }
  }
  return "";
}

bool Options::has(const char* name) const { return !all(name).empty(); }

std::string Options::get(const char* name, const std::string& fallback) const {
  const std::vector<std::string> values = all(name);
  return values.empty() ? fallback : values.back();
}

std::vector<std::string> Options::all(const char* name) const {
  std::vector<std::string> result;
  for (const auto& [key, value] : values_)
    if (key == name) result.push_back(value);
  return result;
}

uint64_t Options::number(const char* name, uint64_t fallback, uint64_t min, uint64_t max, std::string* error) const {
  if (!has(name)) return fallback;
  const std::string text = get(name);
  const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos && text.size() <= 19;
  const uint64_t value = digits ? std::strtoull(text.c_str(), nullptr, 10) : 0;
  if (digits && value >= min && value <= max) return value;
  *error = format("%s is '%s'; allowed is a whole number from %llu", name, text.c_str(),
                  static_cast<unsigned long long>(min));
  if (max < INT64_MAX) *error += format(" to %llu", static_cast<unsigned long long>(max));
  return fallback;
}

std::string describe_options(const std::vector<OptionSpec>& specs) {
  constexpr size_t kHelpColumn = 26;
  std::string result;
  for (const OptionSpec& spec : specs) {
    std::string left = std::string("  ") + spec.name;
    if (spec.value_name != nullptr) left += std::string(" ") + spec.value_name;
    left.resize(left.size() < kHelpColumn ? kHelpColumn : left.size() + 2, ' ');
    result += left;
    for (const char* letter = spec.help; *letter != '\0'; ++letter) {
      result += *letter;
      if (*letter == '\n') result.append(kHelpColumn, ' ');
    }
    result += '\n';
  }
  return result;
}

}  // namespace ferrule::tools
