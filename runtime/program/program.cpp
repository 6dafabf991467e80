#include "runtime/program/program.h"

#include <stdlib.h>
#include <string.h>

#include <new>

#include "runtime/base/lock.h"
#include "runtime/program/artifact_reader.h"
#include "runtime/program/byte_source.h"
#include "runtime/program/code_image.h"
#include "runtime/program/cpu_features.h"
#include "runtime/program/verify.h"
#include "serialize/schema/sha256.h"

namespace ferrule::runtime {

using serialize::SegmentEntry;
using serialize::SegmentKind;

// A name in an index sorted by name, for lookups.
struct NamedVariable {
  const char* name;
  uint32_t variable;
};

int compare_names(const void* left, const void* right) {
  return strcmp(static_cast<const NamedVariable*>(left)->name, static_cast<const NamedVariable*>(right)->name);
}

struct Program::State {
  Allocator allocator;
  uint32_t references = 1;
  ArtifactFrame frame;
  Array<uint8_t> metadata_bytes, debug_bytes, copied_weights;
  const schema::Program* metadata = nullptr;
  EntryMaps entry_maps;
  const schema::Debug* debug = nullptr;
  const uint8_t* weights = nullptr;
  uint64_t weights_byte_size = 0;
  FilePages weights_pages;
  Array<NamedVariable> variables;                 // names and aliases, sorted
  Array<ExternalKernel> external_kernels;         // one a kernel, or none at all
  CodeImage images[serialize::kMaximumSegments];  // by target; mapped where this machine can run it
  Mutex mutex;                                    // guards making an image executable
};

// Fills a Program's state from a source, step by step, checking on the way.
class ProgramLoader {
 public:
  ProgramLoader(const ByteSource& source, const OpenOptions& options, bool copy_weights, Program::State* state)
      : source_(source), options_(options), copy_weights_(copy_weights), state_(*state) {}

  static Status open(const ByteSource& source, const OpenOptions& options, bool copy_weights, Program** out_program);

  Status load();

  // The program and its state, in one piece of memory.
  struct Memory {
    Program program;
    Program::State state;
  };

 private:
  Status check_expected_hash();
  Status read_segment(uint32_t segment, const char* what, Array<uint8_t>* out_bytes);
  Status load_debug(uint64_t* out_location_count);
  Status load_weights();
  Status decrypt_weights(const schema::WeightsEncryption& encryption);
  Status load_code();
  Status index_variables();
  Status find_external_kernels();
  const ExternalKernel* registered(const char* symbol) const;
  static bool code_byte_size(const void* frame, const char* target, uint64_t* out_byte_size);

  const ByteSource& source_;
  const OpenOptions& options_;
  const bool copy_weights_;
  Program::State& state_;
};

Status ProgramLoader::check_expected_hash() {
  const uint8_t* actual = state_.frame.header.root_hash;
  const uint8_t* expected = options_.expected_sha256;
  if (expected == nullptr || memcmp(actual, expected, 32) == 0) return Status();
  char text[2][65];
  serialize::sha256_text(actual, text[0]);
  serialize::sha256_text(expected, text[1]);
  return Status::error(StatusCode::kInvalidArtifact, "%s has the root hash %s; expected is %s", source_.name(), text[0],
                       text[1]);
}

Status ProgramLoader::read_segment(uint32_t segment, const char* what, Array<uint8_t>* out_bytes) {
  const uint64_t byte_size = state_.frame.directory[segment].size;
  FERRULE_RETURN_IF_ERROR(out_bytes->allocate(state_.allocator, byte_size, what, 64));
  FERRULE_RETURN_IF_ERROR(source_.read(state_.frame.offsets[segment], out_bytes->data(), byte_size));
  return check_segment_hash(source_, state_.frame, segment, out_bytes->data());
}

Status ProgramLoader::load_debug(uint64_t* out_location_count) {
  *out_location_count = UINT64_MAX;
  const uint32_t segment = state_.frame.find(SegmentKind::kDebug, "");
  if (segment == state_.frame.segment_count() || !state_.frame.present(segment)) return Status();
  FERRULE_RETURN_IF_ERROR(read_segment(segment, "the debug segment", &state_.debug_bytes));
  FERRULE_RETURN_IF_ERROR(verify_debug(state_.debug_bytes.data(), state_.debug_bytes.size(), source_.name()));
  state_.debug = flatbuffers::GetRoot<schema::Debug>(state_.debug_bytes.data());
  *out_location_count = state_.debug->locations()->size();
  return Status();
}

Status ProgramLoader::load_weights() {
  const ArtifactFrame& frame = state_.frame;
  const uint32_t segment = frame.find(SegmentKind::kWeights, "");
  if (segment == frame.segment_count() || frame.directory[segment].size == 0) return Status();
  if (!frame.present(segment)) {
    return Status::error(StatusCode::kInvalidArtifact, "%s was stripped of its weights", source_.name());
  }
  const uint64_t byte_size = frame.directory[segment].size, offset = frame.offsets[segment];
  const schema::WeightsEncryption* encryption = state_.metadata->weights_encryption();
  const bool copy =
      (encryption != nullptr && options_.decrypt != nullptr) ||
      (source_.is_memory() && (copy_weights_ || reinterpret_cast<uintptr_t>(source_.bytes() + offset) % 64 != 0));
  if (copy) {
    FERRULE_RETURN_IF_ERROR(state_.copied_weights.allocate(state_.allocator, byte_size, "a copy of the weights", 64));
    FERRULE_RETURN_IF_ERROR(source_.read(offset, state_.copied_weights.data(), byte_size));
    state_.weights = state_.copied_weights.data();
  } else if (source_.is_memory()) {
    state_.weights = source_.bytes() + offset;
  } else {
    FERRULE_RETURN_IF_ERROR(source_.map(offset, byte_size, &state_.weights_pages));
    state_.weights = state_.weights_pages.bytes();
  }
  state_.weights_byte_size = byte_size;
  if (options_.verify_weights) FERRULE_RETURN_IF_ERROR(check_segment_hash(source_, frame, segment, state_.weights));
  return encryption == nullptr ? Status() : decrypt_weights(*encryption);
}

// The copy in place; without a way to do it nothing is left to be taken for weights.
Status ProgramLoader::decrypt_weights(const schema::WeightsEncryption& encryption) {
  state_.weights_byte_size -= serialize::kWeightsSealBytes;
  if (options_.decrypt == nullptr) {
    state_.weights = nullptr;
    return Status();
  }
  uint8_t* data = state_.copied_weights.data();
  const uint8_t* tag = data + state_.weights_byte_size;
  const StatusCode code =
      options_.decrypt(options_.decrypt_context,
                       {encryption.key_name()->c_str(), data, state_.weights_byte_size, tag,
                        tag + serialize::kWeightsTagBytes, reinterpret_cast<const uint8_t*>(state_.frame.directory),
                        serialize::weights_associated_bytes(state_.frame.segment_count())});
  if (code == StatusCode::kOk) return Status();
  return Status::error(code == StatusCode::kNotFound ? code : StatusCode::kInvalidArtifact,
                       code == StatusCode::kNotFound
                           ? "%s: there is no key '%s', with which its weights are encrypted"
                           : "%s: its weights do not open with the key '%s': it is not the one "
                             "that they were encrypted with, or something was edited",
                       source_.name(), encryption.key_name()->c_str());
}

// Every image is read and hashed, also those for other machines; those that can run here stay.
Status ProgramLoader::load_code() {
  for (uint32_t i = 0; i < state_.metadata->targets()->size(); ++i) {
    const schema::Target& target = *state_.metadata->targets()->Get(i);
    const uint32_t segment = state_.frame.find(SegmentKind::kCode, target.name()->c_str());
    if (!state_.frame.present(segment)) continue;  // sliced away
    CodeImage& image = state_.images[i];
    const uint64_t byte_size = state_.frame.directory[segment].size;
    FERRULE_RETURN_IF_ERROR(image.map(byte_size));
    FERRULE_RETURN_IF_ERROR(source_.read(state_.frame.offsets[segment], image.data(), byte_size));
    FERRULE_RETURN_IF_ERROR(check_segment_hash(source_, state_.frame, segment, image.data()));
    if (!check_target_runs(target).ok()) image.unmap();
  }
  return Status();
}

Status ProgramLoader::index_variables() {
  size_t count = 0;
  for (const schema::Variable* variable : *state_.metadata->variables())
    count += 1 + size_t{variable->aliases()->size()};
  FERRULE_RETURN_IF_ERROR(state_.variables.allocate(state_.allocator, count, "the index of variables"));
  size_t at = 0;
  for (uint32_t i = 0; i < state_.metadata->variables()->size(); ++i) {
    const schema::Variable& variable = *state_.metadata->variables()->Get(i);
    state_.variables[at++] = {variable.name()->c_str(), i};
    for (const flatbuffers::String* alias : *variable.aliases()) state_.variables[at++] = {alias->c_str(), i};
  }
  if (count != 0) qsort(state_.variables.data(), count, sizeof(NamedVariable), compare_names);
  return Status();
}

const ExternalKernel* ProgramLoader::registered(const char* symbol) const {
  for (uint32_t i = 0; i < options_.kernel_count; ++i)
    if (strcmp(options_.kernels[i].name, symbol) == 0) return &options_.kernels[i];
  return nullptr;
}

Status ProgramLoader::find_external_kernels() {
  const auto& kernels = *state_.metadata->kernels();
  Status missing;
  for (uint32_t i = 0; i < kernels.size(); ++i) {
    const schema::ExternalFunction* external = kernels.Get(i)->implementation_as_ExternalFunction();
    if (external == nullptr) continue;
    const char* symbol = external->symbol()->c_str();
    const ExternalKernel* found = registered(symbol);
    if (found == nullptr) {
      if (missing.ok())
        missing = Status::error(StatusCode::kNotFound, "%s calls kernels that are not registered: %s", source_.name(),
                                symbol);
      else
        missing.append(", %s", symbol);
      continue;
    }
    if (state_.external_kernels.size() == 0)
      FERRULE_RETURN_IF_ERROR(
          state_.external_kernels.allocate_zeroed(state_.allocator, kernels.size(), "the table of external kernels"));
    state_.external_kernels[i] = *found;
  }
  return missing;
}

bool ProgramLoader::code_byte_size(const void* frame_pointer, const char* target, uint64_t* out_byte_size) {
  const ArtifactFrame& frame = *static_cast<const ArtifactFrame*>(frame_pointer);
  const uint32_t segment = frame.find(SegmentKind::kCode, target);
  if (segment == frame.segment_count()) return false;
  *out_byte_size = frame.directory[segment].size;
  return true;
}

Status ProgramLoader::load() {
  FERRULE_RETURN_IF_ERROR(read_frame(source_, &state_.frame));
  FERRULE_RETURN_IF_ERROR(check_expected_hash());
  if (options_.accept != nullptr && !options_.accept(options_.accept_context, state_.frame.header.root_hash))
    return Status::error(StatusCode::kInvalidArtifact, "%s was not accepted by the caller's check of its root hash",
                         source_.name());
  FERRULE_RETURN_IF_ERROR(read_segment(0, "the metadata", &state_.metadata_bytes));
  VerifyContext context = {&state_.allocator, source_.name(), 0, 0, code_byte_size, &state_.frame};
  FERRULE_RETURN_IF_ERROR(load_debug(&context.location_limit));
  const uint32_t weights = state_.frame.find(SegmentKind::kWeights, "");
  if (weights != state_.frame.segment_count()) context.weights_byte_size = state_.frame.directory[weights].size;
  FERRULE_RETURN_IF_ERROR(
      verify_program(state_.metadata_bytes.data(), state_.metadata_bytes.size(), context, &state_.entry_maps));
  state_.metadata = schema::GetProgram(state_.metadata_bytes.data());
  FERRULE_RETURN_IF_ERROR(load_weights());
  FERRULE_RETURN_IF_ERROR(find_external_kernels());
  FERRULE_RETURN_IF_ERROR(load_code());
  return index_variables();
}

Status ProgramLoader::open(const ByteSource& source, const OpenOptions& options, bool copy_weights,
                           Program** out_program) {
  *out_program = nullptr;
  const Allocator allocator = options.allocator != nullptr ? *options.allocator : system_allocator();
  void* memory = allocator.allocate(allocator.context, sizeof(Memory), alignof(Memory));
  if (memory == nullptr) {
    return Status::error(StatusCode::kOutOfMemory, "out of memory: an opened program needs %zu bytes", sizeof(Memory));
  }
  Memory* pair = ::new (memory) Memory();
  pair->state.allocator = allocator;
  pair->program.state_ = &pair->state;
  Status status = ProgramLoader(source, options, copy_weights, &pair->state).load();
  if (status.ok()) {
    *out_program = &pair->program;
  } else {
    pair->program.release();
  }
  return status;
}

Status Program::open(const char* path, const OpenOptions& options, Program** out_program) {
  *out_program = nullptr;
  ByteSource source;
  FERRULE_RETURN_IF_ERROR(source.open_file(path));
  return ProgramLoader::open(source, options, false, out_program);
}

Status Program::open_memory(const void* bytes, size_t byte_size, bool copy, const OpenOptions& options,
                            Program** out_program) {
  ByteSource source;
  source.use_memory(bytes, byte_size);
  return ProgramLoader::open(source, options, copy, out_program);
}

void Program::retain() { __atomic_fetch_add(&state_->references, 1, __ATOMIC_RELAXED); }

void Program::release() {
  if (__atomic_sub_fetch(&state_->references, 1, __ATOMIC_ACQ_REL) != 0) return;
  const Allocator allocator = state_->allocator;
  state_->~State();
  static_assert(offsetof(ProgramLoader::Memory, program) == 0);
  allocator.deallocate(allocator.context, this, sizeof(ProgramLoader::Memory));
}

const schema::Program* Program::metadata() const { return state_->metadata; }
const EntryMap& Program::entry_map(uint32_t entry) const { return state_->entry_maps[entry]; }
const Allocator& Program::allocator() const { return state_->allocator; }
const uint8_t* Program::weights() const { return state_->weights; }
uint64_t Program::weights_byte_size() const { return state_->weights_byte_size; }
bool Program::weights_are_sealed() const { return state_->weights == nullptr && state_->weights_byte_size != 0; }

const uint8_t* Program::initial_value(uint32_t variable) const {
  return state_->weights + state_->metadata->variables()->Get(variable)->initial_offset();
}

const uint8_t* Program::constant(uint32_t constant) const {
  return state_->weights + state_->metadata->constants()->Get(constant)->offset();
}

const uint8_t* Program::root_sha256() const { return state_->frame.header.root_hash; }

const uint8_t* Program::weights_sha256() const {
  static const uint8_t kNone[32] = {};
  const uint32_t segment = state_->frame.find(SegmentKind::kWeights, "");
  return segment == state_->frame.segment_count() ? kNone : state_->frame.directory[segment].sha256;
}

uint32_t Program::segment_count() const { return state_->frame.segment_count(); }
uint64_t Program::file_byte_size() const { return state_->frame.header.total_size; }

SegmentInfo Program::segment(uint32_t index) const {
  const SegmentEntry& entry = state_->frame.directory[index];
  return {entry.kind, entry.name, entry.size, state_->frame.offsets[index]};
}

Status Program::find_entry(const char* name, uint32_t* out_entry) const {
  const auto& entries = *state_->metadata->entries();
  for (uint32_t i = 0; i < entries.size(); ++i) {
    if (strcmp(entries.Get(i)->name()->c_str(), name) == 0) {
      *out_entry = i;
      return Status();
    }
  }
  Status status = Status::error(StatusCode::kNotFound, "there is no entry '%.200s'; the program has:", name);
  for (uint32_t i = 0; i < entries.size(); ++i)
    status.append("%s %s", i == 0 ? "" : ",", entries.Get(i)->name()->c_str());
  return status;
}

Status Program::find_variable(const char* name, uint32_t* out_variable) const {
  size_t low = 0, high = state_->variables.size();
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const int order = strcmp(state_->variables[middle].name, name);
    if (order == 0) {
      *out_variable = state_->variables[middle].variable;
      return Status();
    }
    if (order < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  Status status = Status::error(StatusCode::kNotFound, "there is no variable '%.200s'; the program has:", name);
  for (size_t i = 0; i < state_->variables.size(); ++i) {
    status.append("%s %s", i == 0 ? "" : ",", state_->variables[i].name);
  }
  return status;
}

Status Program::select_target(const char* name, uint32_t* out_target) {
  const auto& targets = *state_->metadata->targets();
  const bool any = name == nullptr || name[0] == '\0';
  Status reason;
  for (uint32_t i = targets.size(); i-- > 0;) {
    const schema::Target& target = *targets.Get(i);
    if (!any && strcmp(target.name()->c_str(), name) != 0) continue;
    if (state_->images[i].is_mapped()) {
      state_->mutex.lock();
      const Status status = state_->images[i].make_executable();
      state_->mutex.unlock();
      if (status.ok()) *out_target = i;
      return status;
    }
    reason = check_target_runs(target);
    if (reason.ok()) {
      reason =
          Status::error(StatusCode::kUnsupported, "the code for target '%s' was sliced away", target.name()->c_str());
    }
  }
  if (reason.ok() && !any) {
    reason = Status::error(StatusCode::kNotFound, "there is no target '%.100s'", name);
  } else if (reason.ok()) {
    reason = Status::error(StatusCode::kUnsupported, "the program has no code");
  }
  reason.append("; targets of the program:");
  for (uint32_t i = 0; i < targets.size(); ++i) {
    reason.append("%s %s (%s)", i == 0 ? "" : ",", targets.Get(i)->name()->c_str(),
                  state_->images[i].is_mapped() ? "runs here" : "does not run here");
  }
  return reason;
}

FerruleKernelFunction Program::kernel(uint32_t target, uint32_t kernel) const {
  const schema::CpuFunction* function = state_->metadata->kernels()->Get(kernel)->implementation_as_CpuFunction();
  const uint8_t* code = state_->images[target].data() + function->offsets()->Get(target);
  return reinterpret_cast<FerruleKernelFunction>(reinterpret_cast<uintptr_t>(code));
}

const ExternalKernel* Program::external_kernel(uint32_t kernel) const {
  if (state_->external_kernels.size() == 0) return nullptr;
  const ExternalKernel& external = state_->external_kernels[kernel];
  return external.function == nullptr ? nullptr : &external;
}

const char* Program::location(uint32_t location) const {
  if (location == 0 || state_->debug == nullptr || location > state_->debug->locations()->size()) return "";
  return state_->debug->locations()->Get(location - 1)->c_str();
}

}  // namespace ferrule::runtime
