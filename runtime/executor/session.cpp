#include "runtime/executor/session.h"

#include <new>

#include "runtime/program/layout.h"

namespace ferrule::runtime {
namespace {

// One name for all small ones: each name costs its letters in every product.
constexpr char kTables[] = "the tables of a session";

}  // namespace

Status Session::create(Program* program, const SessionOptions& options, Session** out_session) {
  if (options.share != nullptr && &options.share->program() != program)
    return Status::error(StatusCode::kInvalidArgument, "`share` is a session of another program");
  if (program->weights_are_sealed())
    return Status::error(StatusCode::kFailedPrecondition,
                         "the weights are encrypted with the key '%s', and the program was opened without `decrypt`",
                         program->metadata()->weights_encryption()->key_name()->c_str());
  FERRULE_RETURN_IF_ERROR(watch_forks());
  if (options.share != nullptr && !options.share->is_of_this_process())
    return Status::error(StatusCode::kInvalidArgument,
                         "`share` is a session of the process that this one was forked from");
  const Allocator& allocator = options.allocator;
  void* memory = allocator.allocate(allocator.context, sizeof(Session), alignof(Session));
  if (memory == nullptr) return Status::error(StatusCode::kOutOfMemory, "out of memory: the session");
  auto* session = new (memory) Session();
  program->retain();
  session->program_ = program;
  session->allocator_ = allocator;
  session->fork_count_ = fork_count();
  const Status status = session->initialize(options);
  if (!status.ok()) {
    destroy(session);
    return status;
  }
  *out_session = session;
  return Status();
}

void Session::destroy(Session* session) {
  if (session == nullptr) return;
  Program* program = session->program_;
  if (session->variables_ != nullptr) session->variables_->release();
  if (session->memory_ != nullptr) session->memory_->release();
  const Allocator allocator = session->allocator_;
  session->~Session();
  allocator.deallocate(allocator.context, session, sizeof(Session));
  program->release();
}

Status Session::initialize(const SessionOptions& options) {
  profile_.set_clock(options.clock);
  FERRULE_RETURN_IF_ERROR(program_->select_target(options.target, &target_));
  FERRULE_RETURN_IF_ERROR(parallel_.initialize(options.thread_count, options.thread_pool));
  FERRULE_RETURN_IF_ERROR(allocate_arenas(options.memory));
  FERRULE_RETURN_IF_ERROR(allocate_tables());
  if (options.share == nullptr) return VariableStore::create(program_, allocator_, &variables_);
  options.share->retain();
  variables_ = options.share;
  return Status();
}

Status Session::allocate_arenas(RunMemory* shared) {
  const schema::Program& program = *program_->metadata();
  FERRULE_RETURN_IF_ERROR(arena_offsets_.allocate(allocator_, program.arenas()->size(), kTables));
  uint64_t total = 0, alignment = kBlockAlignment;
  for (uint32_t a = 0; a < arena_offsets_.size(); ++a) {
    const schema::Arena& arena = *program.arenas()->Get(a);
    if (arena.alignment() > alignment) alignment = arena.alignment();
    if (!checked_align(total, arena.alignment() < kBlockAlignment ? kBlockAlignment : arena.alignment(), &total))
      return Status::error(StatusCode::kOutOfMemory, "out of memory: the arenas do not fit the address space");
    arena_offsets_[a] = total;
    if (!checked_add(total, arena.byte_size(), &total))
      return Status::error(StatusCode::kOutOfMemory, "out of memory: the arenas do not fit the address space");
  }

  // One line more than a kernel needs, so that neighbours never share one.
  uint64_t scratch_total = 0;
  if (program.scratch_bytes() != 0) {
    if (!checked_align(program.scratch_bytes() + kBlockAlignment, kBlockAlignment, &scratch_stride_) ||
        !checked_multiply(scratch_stride_, uint64_t{thread_count()}, &scratch_total))
      return Status::error(StatusCode::kOutOfMemory, "out of memory: %u threads x %llu bytes of scratch",
                           thread_count(), static_cast<unsigned long long>(program.scratch_bytes()));
  }
  if (shared == nullptr)
    FERRULE_RETURN_IF_ERROR(RunMemory::create(allocator_, &memory_));
  else
    (memory_ = shared)->retain();
  return memory_->reserve(total, alignment, scratch_total);
}

Status Session::allocate_tables() {
  const schema::Program& program = *program_->metadata();
  FERRULE_RETURN_IF_ERROR(kernels_.allocate(allocator_, program.kernels()->size(), kTables));
  for (uint32_t k = 0; k < kernels_.size(); ++k) {
    const ExternalKernel* external = program_->external_kernel(k);
    kernels_[k] = {external == nullptr ? program_->kernel(target_, k) : nullptr, external};
  }

  uint32_t dims = 0, values = 0, buffers = 0, inputs = 0, outputs = 0, operands = 0, kernel_dims = 0;
  const auto grow = [](uint32_t* size, uint32_t wanted) { *size = *size < wanted ? wanted : *size; };
  for (const schema::Entry* entry : *program.entries()) {
    grow(&dims, entry->dims()->size());
    grow(&values, entry->expressions()->size());
    grow(&buffers, entry->buffers()->size());
    grow(&inputs, entry->inputs()->size());
    grow(&outputs, entry->outputs()->size());
  }
  for (const schema::Kernel* kernel : *program.kernels()) {
    grow(&operands, kernel->operand_count());
    grow(&kernel_dims, kernel->dim_count());
  }
  FERRULE_RETURN_IF_ERROR(threads_.allocate(allocator_, thread_count(), kTables));
  FERRULE_RETURN_IF_ERROR(output_bytes_.allocate(allocator_, outputs, kTables));
  FERRULE_RETURN_IF_ERROR(dims_.allocate(allocator_, dims, kTables));
  FERRULE_RETURN_IF_ERROR(values_.allocate(allocator_, values, kTables));
  FERRULE_RETURN_IF_ERROR(buffers_.allocate(allocator_, buffers, kTables));
  FERRULE_RETURN_IF_ERROR(shapes_.allocate(allocator_, inputs, kTables));
  FERRULE_RETURN_IF_ERROR(input_ranks_.allocate(allocator_, inputs, kTables));
  FERRULE_RETURN_IF_ERROR(input_sizes_.allocate(allocator_, size_t{inputs} * kMaximumRank, kTables));
  FERRULE_RETURN_IF_ERROR(output_sizes_.allocate(allocator_, size_t{outputs} * kMaximumRank, kTables));
  FERRULE_RETURN_IF_ERROR(operands_.allocate(allocator_, operands, kTables));
  return kernel_dims_.allocate(allocator_, kernel_dims, kTables);
}

Status Session::check_process(uint32_t entry) const {
  if (fork_count_ == fork_count()) return Status();
  return Status::error(StatusCode::kFailedPrecondition,
                       "entry '%s' does not run: the session belongs to the process that this one was forked from; "
                       "create a session in this process, which may be of the same program",
                       this->entry(entry).name()->c_str());
}

Status Session::run(uint32_t entry_index, const TensorRef* inputs, uint32_t input_count, TensorRef* outputs,
                    uint32_t output_count) {
  const schema::Entry& entry = this->entry(entry_index);
  FERRULE_RETURN_IF_ERROR(check_process(entry_index));
  FERRULE_RETURN_IF_ERROR(bind(entry_index, inputs, input_count, output_count));
  FERRULE_RETURN_IF_ERROR(bind_outputs(entry, outputs));
  FERRULE_RETURN_IF_ERROR(check_overlap(entry, inputs, outputs));

  if (!memory_->begin_run())
    return Status::error(StatusCode::kFailedPrecondition,
                         "entry '%s' does not run: another session is running in the arena that they share",
                         entry.name()->c_str());
  Status status = variables_->lock(/*exclusive=*/entry.assigned_variables()->size() != 0);
  if (!status.ok()) {
    memory_->end_run();
    return status;
  }
  status = variables_->check_complete("entry ", entry.name()->c_str(), "does not run");
  if (status.ok()) {
    const EntryMap& map = program_->entry_map(entry_index);
    bind_buffers(entry, inputs, outputs);
    status = execute(entry, map);
    if (status.ok() && map.has_late_dims()) status = describe_outputs(entry, outputs);
  }
  variables_->unlock();
  memory_->end_run();
  return status;
}

}  // namespace ferrule::runtime
