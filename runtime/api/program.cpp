#include <stdlib.h>

#include <new>

#include "runtime/api/handles.h"
#include "runtime/program/layout.h"
#include "serialize/schema/artifact_header.h"

using namespace ferrule::runtime;
namespace schema = ferrule::schema;

namespace {

const schema::Program& metadata(const FerruleProgram* program) { return *program->program->metadata(); }

Status check_index(const char* what, uint32_t index, uint32_t count) {
  if (index < count) return Status();
  return Status::error(StatusCode::kInvalidArgument, "%s number %u does not exist: there are %u", what, index, count);
}

FerruleDataType to_c(const schema::DataType& dtype) { return {dtype.code(), dtype.bits(), dtype.lanes()}; }

void destroy(FerruleProgram* program) {
  if (program->descriptions != nullptr) program->descriptions->~ProgramDescriptions();
  free(program->descriptions);
  if (program->program != nullptr) program->program->release();
  program->~FerruleProgram();
  free(program);
}

Status read_kernels(const FerruleProgramOptions& options, Array<ExternalKernel>* out_kernels) {
  FERRULE_RETURN_IF_ERROR(
      out_kernels->allocate_zeroed(system_allocator(), options.kernel_count, "the table of the caller's kernels"));
  for (uint32_t i = 0; i < options.kernel_count; ++i) {
    const FerruleExternalKernel kernel = read_struct(element(options.kernels, i));
    if (kernel.name == nullptr || kernel.function == nullptr)
      return Status::error(StatusCode::kInvalidArgument, "number %u of the caller's kernels lacks `name` or `function`",
                           i);
    (*out_kernels)[i] = {kernel.name, kernel.context, kernel.function};
  }
  return Status();
}

bool is_accepted(void* context, const uint8_t* root_sha256) {
  const auto& options = *static_cast<const FerruleProgramOptions*>(context);
  return options.accept(options.accept_context, root_sha256) != 0;
}

StatusCode decrypt(void* context, const EncryptedWeights& weights) {
  const auto& options = *static_cast<const FerruleProgramOptions*>(context);
  const FerruleEncryptedWeights c = {sizeof c,    weights.key_name, weights.data,       weights.byte_size,
                                     weights.tag, weights.nonce,    weights.associated, weights.associated_byte_size};
  return static_cast<StatusCode>(options.decrypt(options.decrypt_context, &c));
}

// `open`: Program::open or Program::open_memory, bound to its other arguments.
template <typename Open>
FerruleStatus* open_program(const FerruleProgramOptions* options, FerruleProgram** out_program, const Open& open) {
  const FerruleProgramOptions known = read_struct(options);
  if (known.verify != kFerruleVerifyStructure && known.verify != kFerruleVerifyAll)
    return to_c(invalid_argument("verify must be kFerruleVerifyStructure or kFerruleVerifyAll"));
  OpenOptions open_options;
  open_options.verify_weights = known.verify == kFerruleVerifyAll;
  open_options.expected_sha256 = known.expected_sha256;
  const FerruleLogger logger = read_struct(known.logger);
  if (known.accept != nullptr) {
    open_options.accept = is_accepted;
    open_options.accept_context = const_cast<FerruleProgramOptions*>(&known);
  }
  if (known.decrypt != nullptr) {
    open_options.decrypt = decrypt;
    open_options.decrypt_context = const_cast<FerruleProgramOptions*>(&known);
  }
  Array<ExternalKernel> kernels;
  const Status read = read_kernels(known, &kernels);
  if (!read.ok()) return to_c(read, logger);
  open_options.kernels = kernels.data();
  open_options.kernel_count = static_cast<uint32_t>(kernels.size());
  void* memory = malloc(sizeof(FerruleProgram));
  if (memory == nullptr) return to_c(Status::error(StatusCode::kOutOfMemory, "out of memory: the program"));
  auto* program = new (memory) FerruleProgram();
  const Status status = open(open_options, known.in_place == 0, &program->program);
  if (!status.ok()) {
    destroy(program);
    return to_c(status, logger);
  }
  log_info(logger, "opened %llu bytes: %u entries, %u variables",
           static_cast<unsigned long long>(program->program->file_byte_size()), metadata(program).entries()->size(),
           metadata(program).variables()->size());
  *out_program = program;
  return nullptr;
}

uint64_t segment_bytes(const Program& program, ferrule::serialize::SegmentKind kind, const char* name) {
  uint64_t total = 0;
  for (uint32_t i = 0; i < program.segment_count(); ++i) {
    const SegmentInfo segment = program.segment(i);
    if (segment.kind == static_cast<uint32_t>(kind) && (name == nullptr || strcmp(segment.name, name) == 0))
      total += segment.byte_size;
  }
  return total;
}

FerruleStatus* tensor_info(const FerruleProgram* program, uint32_t entry_index, uint32_t index, bool output,
                           FerruleTensorInfo* out_info) {
  const Status found = check_index("entry", entry_index, metadata(program).entries()->size());
  if (!found.ok()) return to_c(found);
  const schema::Entry& entry = *metadata(program).entries()->Get(entry_index);
  const auto& specs = output ? *entry.outputs() : *entry.inputs();
  const Status status = check_index(output ? "output" : "input", index, specs.size());
  if (!status.ok()) return to_c(status);
  const schema::TensorSpec& spec = *specs.Get(index);
  const ProgramDescriptions* texts;
  const Status described = describe(*program, &texts);
  if (!described.ok()) return to_c(described);
  const size_t tensor = texts->first_tensor[entry_index] + (output ? entry.inputs()->size() : 0) + index;
  FerruleTensorInfo info{};
  info.name = spec.name()->c_str();
  info.dtype = to_c(*spec.dtype());
  info.rank = spec.shape()->size();
  info.shape = texts->tensor_shapes.data() + tensor * kMaximumRank;
  info.shape_text = texts->tensor_texts.data() + tensor * kShapeTextBytes;
  write_struct(info, out_info);
  return nullptr;
}

bool is_assigned(const schema::Program& program, uint32_t variable) {
  for (const schema::Entry* entry : *program.entries())
    for (const uint32_t assigned : *entry->assigned_variables())
      if (assigned == variable) return true;
  return false;
}

}  // namespace

uint32_t ferrule_format_version(void) { return ferrule::serialize::kFormatVersion; }
uint32_t ferrule_api_version(void) { return FERRULE_API_VERSION; }

FerruleStatus* ferrule_program_open(const char* path, const FerruleProgramOptions* options,
                                    FerruleProgram** out_program) {
  return open_program(options, out_program, [path](const OpenOptions& open_options, bool, Program** out) {
    return Program::open(path, open_options, out);
  });
}

FerruleStatus* ferrule_program_open_bytes(const void* data, uint64_t byte_size, const FerruleProgramOptions* options,
                                          FerruleProgram** out_program) {
  return open_program(options, out_program,
                      [data, byte_size](const OpenOptions& open_options, bool copy, Program** out) {
                        return Program::open_memory(data, byte_size, copy, open_options, out);
                      });
}

void ferrule_program_release(FerruleProgram* program) {
  if (program != nullptr) destroy(program);
}

FerruleStatus* ferrule_program_info(const FerruleProgram* program, FerruleProgramInfo* out_info) {
  const schema::Program& data = metadata(program);
  FerruleProgramInfo info{};
  info.producer = data.producer()->c_str();
  memcpy(info.root_sha256, program->program->root_sha256(), sizeof(info.root_sha256));
  info.entry_count = data.entries()->size();
  info.variable_count = data.variables()->size();
  info.target_count = data.targets()->size();
  for (const schema::Arena* arena : *data.arenas()) info.arena_bytes += arena->byte_size();
  info.scratch_bytes = data.scratch_bytes();
  info.file_bytes = program->program->file_byte_size();
  info.weight_bytes = program->program->weights_byte_size();
  info.code_bytes = segment_bytes(*program->program, ferrule::serialize::SegmentKind::kCode, nullptr);
  if (data.weights_encryption() != nullptr) info.weights_key_name = data.weights_encryption()->key_name()->c_str();
  write_struct(info, out_info);
  return nullptr;
}

FerruleStatus* ferrule_program_target(const FerruleProgram* program, uint32_t index, FerruleTargetInfo* out_info) {
  const Status status = check_index("target", index, metadata(program).targets()->size());
  if (!status.ok()) return to_c(status);
  FerruleTargetInfo info{};
  info.name = metadata(program).targets()->Get(index)->name()->c_str();
  info.code_bytes = segment_bytes(*program->program, ferrule::serialize::SegmentKind::kCode, info.name);
  uint32_t target;
  info.supported = program->program->select_target(info.name, &target).ok() ? 1 : 0;
  write_struct(info, out_info);
  return nullptr;
}

// They stand first; behind them are those that the entry itself counts or finds out.
static uint32_t count_input_dims(const schema::Entry& entry) {
  uint32_t count = 0;
  while (count < entry.dims()->size() && entry.dims()->Get(count)->source() == schema::DimSource_input) ++count;
  return count;
}

FerruleStatus* ferrule_program_entry(const FerruleProgram* program, uint32_t index, FerruleEntryInfo* out_info) {
  const Status status = check_index("entry", index, metadata(program).entries()->size());
  if (!status.ok()) return to_c(status);
  const schema::Entry& entry = *metadata(program).entries()->Get(index);
  FerruleEntryInfo info{};
  info.name = entry.name()->c_str();
  info.signature = entry.signature()->c_str();
  info.input_count = entry.inputs()->size();
  info.output_count = entry.outputs()->size();
  info.dim_count = count_input_dims(entry);
  info.assigned_count = entry.assigned_variables()->size();
  info.peak_bytes = entry.peak_bytes();
  info.lower_bound_bytes = entry.lower_bound_bytes();
  info.naive_bytes = entry.naive_bytes();
  write_struct(info, out_info);
  return nullptr;
}

FerruleStatus* ferrule_program_find_entry(const FerruleProgram* program, const char* name, uint32_t* out_index) {
  return to_c(program->program->find_entry(name, out_index));
}

FerruleStatus* ferrule_program_dim(const FerruleProgram* program, uint32_t entry_index, uint32_t index,
                                   FerruleDimInfo* out_info) {
  const Status found = check_index("entry", entry_index, metadata(program).entries()->size());
  if (!found.ok()) return to_c(found);
  const schema::Entry& entry = *metadata(program).entries()->Get(entry_index);
  const Status status = check_index("dim", index, count_input_dims(entry));
  if (!status.ok()) return to_c(status);
  const schema::Dim& dim = *entry.dims()->Get(index);
  FerruleDimInfo info{};
  info.name = dim.name()->c_str();
  info.min = dim.min();
  info.max = dim.max();
  info.multiple_of = dim.multiple_of();
  write_struct(info, out_info);
  return nullptr;
}

FerruleStatus* ferrule_program_input(const FerruleProgram* program, uint32_t entry, uint32_t index,
                                     FerruleTensorInfo* out_info) {
  return tensor_info(program, entry, index, /*output=*/false, out_info);
}

FerruleStatus* ferrule_program_output(const FerruleProgram* program, uint32_t entry, uint32_t index,
                                      FerruleTensorInfo* out_info) {
  return tensor_info(program, entry, index, /*output=*/true, out_info);
}

FerruleStatus* ferrule_program_variable(const FerruleProgram* program, uint32_t index, FerruleVariableInfo* out_info) {
  const Status status = check_index("variable", index, metadata(program).variables()->size());
  if (!status.ok()) return to_c(status);
  const schema::Variable& variable = *metadata(program).variables()->Get(index);
  const ProgramDescriptions* texts;
  const Status described = describe(*program, &texts);
  if (!described.ok()) return to_c(described);
  FerruleVariableInfo info{};
  info.name = variable.name()->c_str();
  info.role = variable.role()->c_str();
  info.dtype = to_c(*variable.dtype());
  info.rank = variable.shape()->size();
  info.shape = texts->variable_shapes.data() + size_t{index} * kMaximumRank;
  info.byte_size = logical_byte_size(variable);
  info.trainable = variable.trainable() ? 1 : 0;
  info.assigned = is_assigned(metadata(program), index) ? 1 : 0;
  info.alias_count = variable.aliases()->size();
  info.aliases = texts->aliases.data() + texts->first_alias[index];
  write_struct(info, out_info);
  return nullptr;
}

FerruleStatus* ferrule_program_find_variable(const FerruleProgram* program, const char* name, uint32_t* out_index) {
  return to_c(program->program->find_variable(name, out_index));
}
