#include "runtime/program/cpu_features.h"

#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

namespace ferrule::runtime {
namespace {

// What it needs beyond the levels before it in the table.
struct Level {
  const char* name;
  const char* features;  // separated by blanks
};

#if defined(__x86_64__)

constexpr char kArchitecture[] = "x86-64";

constexpr Level kLevels[] = {
    {"x86-64", ""},
    {"x86-64-v2", "cx16 sahf popcnt sse3 ssse3 sse4.1 sse4.2"},
    {"x86-64-v3", "avx avx2 bmi bmi2 f16c fma lzcnt movbe xsave"},
    {"x86-64-v4", "avx512f avx512bw avx512cd avx512dq avx512vl"},
    {"x86-64-v4-vnni", "avx512vnni"},
};

// Where CPUID reports a feature, and which register state the operating system must save for it.
// (Names lie in the table: pointers to them would cost a relocation each, more than the names.)
struct Feature {
  char name[11];
  char reg;       // 'b', 'c' or 'd'
  uint8_t bit;
  uint8_t state;  // bits of XCR0
  uint32_t leaf;  // subleaf 0
};

constexpr uint8_t kYmmState = 0x06, kZmmState = 0xe6;

constexpr Feature kFeatures[] = {
    {"sse", 'd', 25, 0, 1},
    {"sse2", 'd', 26, 0, 1},
    {"sse3", 'c', 0, 0, 1},
    {"pclmul", 'c', 1, 0, 1},
    {"ssse3", 'c', 9, 0, 1},
    {"fma", 'c', 12, kYmmState, 1},
    {"cx16", 'c', 13, 0, 1},
    {"sse4.1", 'c', 19, 0, 1},
    {"sse4.2", 'c', 20, 0, 1},
    {"movbe", 'c', 22, 0, 1},
    {"popcnt", 'c', 23, 0, 1},
    {"aes", 'c', 25, 0, 1},
    {"xsave", 'c', 27, 0, 1},
    {"avx", 'c', 28, kYmmState, 1},
    {"f16c", 'c', 29, kYmmState, 1},
    {"bmi", 'b', 3, 0, 7},
    {"avx2", 'b', 5, kYmmState, 7},
    {"bmi2", 'b', 8, 0, 7},
    {"avx512f", 'b', 16, kZmmState, 7},
    {"avx512dq", 'b', 17, kZmmState, 7},
    {"avx512cd", 'b', 28, kZmmState, 7},
    {"avx512bw", 'b', 30, kZmmState, 7},
    {"avx512vl", 'b', 31, kZmmState, 7},
    {"avx512vnni", 'c', 11, kZmmState, 7},
    {"sahf", 'c', 0, 0, 0x80000001},
    {"lzcnt", 'c', 5, 0, 0x80000001},
};

// What CPUID says, read once for many questions: under a hypervisor each CPUID leaves the virtual machine, which may
// take tens of microseconds.
class Machine {
 public:
  Machine() {
    for (Leaf& leaf : leaves_) {
      uint32_t a;
      if (!__get_cpuid_count(leaf.number, 0, &a, &leaf.b, &leaf.c, &leaf.d)) leaf.b = leaf.c = leaf.d = 0;
    }
    if ((leaves_[0].c & bit_OSXSAVE) == 0) return;
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    saved_state_ = uint64_t{high} << 32 | low;
  }

  bool has(const char* name, size_t length) const {
    for (const Feature& feature : kFeatures) {
      if (strlen(feature.name) != length || memcmp(feature.name, name, length) != 0) continue;
      return (word(feature) >> feature.bit & 1) != 0 && (saved_state_ & feature.state) == feature.state;
    }
    return false;
  }

 private:
  struct Leaf {
    uint32_t number, b, c, d;
  };

  uint32_t word(const Feature& feature) const {
    for (const Leaf& leaf : leaves_)
      if (leaf.number == feature.leaf) return feature.reg == 'b' ? leaf.b : feature.reg == 'c' ? leaf.c : leaf.d;
    return 0;
  }

  Leaf leaves_[3] = {{1, 0, 0, 0}, {7, 0, 0, 0}, {0x80000001, 0, 0, 0}};
  uint64_t saved_state_ = 0;  // XCR0
};

#elif defined(__aarch64__)

constexpr char kArchitecture[] = "aarch64";
constexpr Level kLevels[] = {{"aarch64", "neon fp-armv8"}, {"aarch64-dotprod", "dotprod"}};

struct Machine {
  bool has(const char* name, size_t length) const {
    const auto is = [&](const char* other) { return strlen(other) == length && memcmp(other, name, length) == 0; };
    if (is("neon") || is("fp-armv8")) return true;  // part of the base architecture
#if defined(__linux__)
    constexpr unsigned long kDotProduct = 1ul << 20;  // HWCAP_ASIMDDP
    if (is("dotprod")) return (getauxval(AT_HWCAP) & kDotProduct) != 0;
#endif
    return false;
  }
};

#else

constexpr char kArchitecture[] = "an architecture without code generation";
constexpr Level kLevels[] = {{"", ""}};

struct Machine {
  bool has(const char*, size_t) const { return false; }
};

#endif

// Calls each blank-separated word until one fails; on failure *out_missing points at it.
bool has_all_features(const Machine& machine, const char* features, const char** out_missing, int* out_length) {
  while (*features != '\0') {
    size_t length = 0;
    while (features[length] != '\0' && features[length] != ' ') ++length;
    if (length != 0 && !machine.has(features, length)) {
      *out_missing = features;
      *out_length = static_cast<int>(length);
      return false;
    }
    features += length;
    while (*features == ' ') ++features;
  }
  return true;
}

Status missing(const char* target, const char* feature, int length) {
  return Status::error(StatusCode::kUnsupported, "target '%s' needs the CPU feature '%.*s', which this machine lacks",
                       target, length, feature);
}

}  // namespace

bool cpu_has_feature(const char* feature) { return Machine().has(feature, strlen(feature)); }

Status check_target_runs(const schema::Target& target) {
  const char* name = target.name()->c_str();
  const size_t architecture = strlen(kArchitecture);
  if (strncmp(name, kArchitecture, architecture) != 0 || (name[architecture] != '\0' && name[architecture] != '-')) {
    return Status::error(StatusCode::kUnsupported, "target '%s' is not for this machine, which is %s", name,
                         kArchitecture);
  }
  size_t level = 0;
  while (strcmp(kLevels[level].name, name) != 0) {
    if (++level == sizeof kLevels / sizeof *kLevels)
      return Status::error(StatusCode::kUnsupported, "target '%s' is not known to this runtime", name);
  }
  const Machine machine;
  for (size_t i = 0; i <= level; ++i) {
    const char* feature;
    int length;
    if (!has_all_features(machine, kLevels[i].features, &feature, &length)) return missing(name, feature, length);
  }
  for (const flatbuffers::String* feature : *target.features()) {
    if (!machine.has(feature->c_str(), feature->size())) {
      return missing(name, feature->c_str(), static_cast<int>(feature->size()));
    }
  }
  return Status();
}

}  // namespace ferrule::runtime
