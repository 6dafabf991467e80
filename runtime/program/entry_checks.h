// What the checks of an entry's parts share: the entry, and sentences about it.
#ifndef FERRULE_RUNTIME_PROGRAM_ENTRY_CHECKS_H_
#define FERRULE_RUNTIME_PROGRAM_ENTRY_CHECKS_H_

#include "runtime/program/entry_map.h"
#include "runtime/program/verify.h"

namespace ferrule::runtime {

class EntryChecks {
 protected:
  EntryChecks(const schema::Program& program, const schema::Entry& entry, const EntryMap& map,
              const VerifyContext& context)
      : program_(program), entry_(entry), map_(map), context_(context) {}

  Status index_error(const char* what, uint64_t value, uint64_t position, uint64_t limit) const {
    using ull = unsigned long long;
    Status status = Status::error(StatusCode::kInvalidArtifact, "%s: entry '%s': %s at position %llu", context_.name,
                                  entry_.name()->c_str(), what, static_cast<ull>(position));
    if (block_ != 0) status.append(" of block %u", block_);
    status.append(" is %llu; it must be below %llu", static_cast<ull>(value), static_cast<ull>(limit));
    return status;
  }
  Status check_index(const char* what, uint64_t value, uint64_t position, uint64_t limit) const {
    return value < limit ? Status() : index_error(what, value, position, limit);
  }
  Status check_expression(const char* what, uint64_t value, uint64_t position) const {
    return check_index(what, value, position, entry_.expressions()->size());
  }
  Status check_location(uint32_t location, uint64_t position) const {
    if (location == 0 || location <= context_.location_limit) return Status();
    return index_error("the location", location - 1, position, context_.location_limit);
  }
  // An expression that exists, at a place where it has no value.
  Status no_value(const char* what, uint32_t expression, uint64_t position) const {
    Status status = Status::error(StatusCode::kInvalidArtifact, "%s: entry '%s': %s at position %llu", context_.name,
                                  entry_.name()->c_str(), what, static_cast<unsigned long long>(position));
    if (block_ != 0) status.append(" of block %u", block_);
    status.append(" is expression %u, whose dims have no value there", expression);
    return status;
  }

  const schema::Program& program_;
  const schema::Entry& entry_;
  const EntryMap& map_;
  const VerifyContext& context_;
  uint32_t block_ = 0;  // where the positions of instructions are
};

}  // namespace ferrule::runtime

#endif  // FERRULE_RUNTIME_PROGRAM_ENTRY_CHECKS_H_
