// The words that text and JSON share.
#ifndef FERRULE_SERIALIZE_DUMP_FACTS_H_
#define FERRULE_SERIALIZE_DUMP_FACTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "serialize/schema/artifact_header.h"
#include "serialize/writer/program_description.h"

namespace ferrule::serialize {

std::string hex_digest(const uint8_t digest[32]);
const char* segment_kind_name(uint32_t kind);
const char* storage_name(Storage storage);
const char* dim_source_name(DimSource source);
const char* instruction_kind_name(InstructionDescription::Kind kind);
// What the instruction calls its block number `index`: "then", "else", "condition", "body".
const char* block_role(InstructionDescription::Kind kind, size_t index);
std::string segment_name(const SegmentEntry& entry);

// The text of `cost`, which is 1 + an expression, or empty where it is not known.
std::string cost_text(const std::vector<std::string>& expressions, uint32_t cost);

// item `index` of `texts`, or "?": the dump also prints artifacts that the runtime would refuse.
std::string text_at(const std::vector<std::string>& texts, uint64_t index);

}  // namespace ferrule::serialize

#endif  // FERRULE_SERIALIZE_DUMP_FACTS_H_
