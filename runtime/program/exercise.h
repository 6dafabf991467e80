// What follows opening, done to a program that may be hostile: all of it must be safe on whatever the verifier lets
// through. For the tests that edit artifacts and for the fuzzers.
#ifndef FERRULE_RUNTIME_PROGRAM_EXERCISE_H_
#define FERRULE_RUNTIME_PROGRAM_EXERCISE_H_

#include <cstring>
#include <vector>

#include "runtime/program/call.h"
#include "runtime/program/expression.h"
#include "runtime/program/layout.h"
#include "runtime/program/program.h"

namespace ferrule::runtime {

// Prepares a call with every dim of an input at the same value, then gives the other dims values as a run would, and
// checks all instructions; whether any of it is allowed does not matter here.
inline void prepare_call(const schema::Entry& entry, const EntryMap& map, int64_t (*pick)(const schema::Dim&)) {
  std::vector<int64_t> dims(entry.dims()->size()), values(entry.expressions()->size());
  std::vector<uint64_t> output_bytes(entry.outputs()->size());
  const CallValues call = {dims.data(), values.data(), output_bytes.data()};
  for (uint32_t i = 0; i < dims.size(); ++i) dims[i] = pick(*entry.dims()->Get(i));
  if (!evaluate_expressions(entry, map, dims.data(), values.data()).ok()) return;
  std::vector<std::vector<int64_t>> sizes;
  std::vector<Shape> shapes;
  for (const schema::TensorSpec* spec : *entry.inputs()) {
    auto& shape = sizes.emplace_back();
    for (uint32_t expression : *spec->shape()) shape.push_back(values[expression]);
    uint64_t byte_size;
    (void)tensor_byte_size(entry, *spec, values.data(), &byte_size).ok();
  }
  for (const auto& shape : sizes) shapes.push_back({shape.data(), static_cast<uint32_t>(shape.size())});
  if (!bind_dims(entry, shapes.data(), dims.data()).ok()) return;
  if (!evaluate_expressions(entry, map, dims.data(), values.data()).ok()) return;
  if (!check_call(entry, map, shapes.data(), call).ok()) return;
  for (uint32_t dim = 0; dim < dims.size(); ++dim) {
    if (entry.dims()->Get(dim)->source() == schema::DimSource_input) continue;
    (void)assign_dim(entry, map, dim, pick(*entry.dims()->Get(dim)), call).ok();
  }
  for (uint32_t block = 0; block < entry.blocks()->size(); ++block) {
    for (uint32_t i = 0; i < entry.blocks()->Get(block)->instructions()->size(); ++i) {
      (void)check_instruction(entry, map, block, i, call).ok();
    }
  }
}

// Unpacks and packs a variable in memory of exactly its size.
inline void repack(const Program& program, uint32_t index) {
  const schema::Variable& variable = *program.metadata()->variables()->Get(index);
  std::vector<uint8_t> physical(variable.byte_size()), logical(logical_byte_size(variable));
  if (!physical.empty()) std::memcpy(physical.data(), program.initial_value(index), physical.size());
  unpack(*program.metadata(), variable, physical.data(), logical.data());
  pack(*program.metadata(), variable, logical.data(), physical.data());
}

// For encrypted weights: reads all that it is given, and finds nothing wrong with it.
inline OpenOptions options_that_decrypt() {
  OpenOptions options;
  options.decrypt = [](void*, const EncryptedWeights& weights) {
    uint64_t sum = std::strlen(weights.key_name);
    for (uint64_t i = 0; i < weights.associated_byte_size; ++i) sum += weights.associated[i];
    for (int i = 0; i < 16; ++i) sum += weights.tag[i];
    for (int i = 0; i < 12; ++i) sum += weights.nonce[i];
    for (uint64_t i = 0; i < weights.byte_size; ++i)
      weights.data[i] = static_cast<uint8_t>(weights.data[i] ^ (sum & 1) ^ 0xff);
    return StatusCode::kOk;
  };
  return options;
}

// Does what a session does before it runs anything. False: what verification promises does not hold.
inline bool exercise(Program& program) {
  const schema::Program& metadata = *program.metadata();
  for (uint32_t i = 0; i < metadata.variables()->size(); ++i) {
    uint32_t found = 0;
    if (!program.find_variable(metadata.variables()->Get(i)->name()->c_str(), &found).ok() || found != i) return false;
    repack(program, i);
  }
  uint64_t sum = 0;
  for (uint32_t i = 0; i < metadata.constants()->size(); ++i) {
    for (uint64_t at = 0; at < metadata.constants()->Get(i)->byte_size(); ++at) sum += program.constant(i)[at];
  }
  for (uint32_t i = 0; i < metadata.entries()->size(); ++i) {
    const schema::Entry& entry = *metadata.entries()->Get(i);
    const EntryMap& map = program.entry_map(i);
    prepare_call(entry, map, [](const schema::Dim& dim) { return dim.min(); });
    prepare_call(entry, map, [](const schema::Dim& dim) { return dim.max(); });
    prepare_call(entry, map, [](const schema::Dim&) { return int64_t{3}; });
    for (const schema::Block* block : *entry.blocks()) {
      for (const schema::InstructionNode* node : *block->instructions()) {
        const schema::KernelCall* call = node->instruction_as_KernelCall();
        if (call != nullptr) sum += std::strlen(program.location(call->location()));
      }
    }
  }
  uint32_t target = 0;
  if (program.select_target(nullptr, &target).ok()) {
    for (uint32_t i = 0; i < metadata.kernels()->size(); ++i)
      if (program.kernel(target, i) == nullptr) return false;
  }
  return sum != UINT64_MAX;
}

}  // namespace ferrule::runtime

#endif  // FERRULE_RUNTIME_PROGRAM_EXERCISE_H_
