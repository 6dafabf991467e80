// The instruction loop.
#include <string.h>

#include "runtime/device/cpu/floating_point.h"
#include "runtime/executor/session.h"
#include "runtime/executor/tile_shares.h"

namespace ferrule::runtime {

// What the threads of one kernel call share.
struct Session::Launch {
  KernelEntry kernel;
  FerruleKernelArgs args;  // but for thread, tile range, scratch and error
  TileShares shares;
  uint8_t* scratch;
  uint64_t scratch_stride;
  ThreadState* threads;

  static void run_thread(void* context, uint32_t index) {
    const Launch& launch = *static_cast<const Launch*>(context);
    // The calling thread is in the scope of the whole run; a worker has its own state, or its owner's.
    FloatingPointScope scope;
    FerruleKernelArgs args = launch.args;
    args.thread = index;
    args.scratch = launch.scratch == nullptr ? nullptr : launch.scratch + launch.scratch_stride * index;
    ThreadState& state = launch.threads[index];
    FerruleKernelError error{};
    args.error = &error;
    const KernelEntry& kernel = launch.kernel;
    const uint32_t thread_count = launch.shares.thread_count(), chunk_count = launch.shares.chunk_count();
    for (uint32_t k = 0; k < thread_count; ++k) {
      const uint32_t owner = index + k < thread_count ? index + k : index + k - thread_count;
      std::atomic<uint32_t>& taken = launch.threads[owner].taken;
      // Looked at first: taking moves the cache line away from the others.
      while (taken.load(std::memory_order_relaxed) < chunk_count) {
        const uint32_t number = taken.fetch_add(1, std::memory_order_relaxed);
        if (number >= chunk_count) break;
        const TileRange chunk = launch.shares.chunk(owner, number);
        args.tile_begin = chunk.begin;
        args.tile_end = chunk.end;
        const int32_t result = kernel.function != nullptr ? kernel.function(&args)
                                                          : kernel.external->function(kernel.external->context, &args);
        if (result == 0) continue;
        if (state.result == 0 || error.position < state.error.position) {
          state.error = error;
          state.result = result;
        }
        // What was not taken lies behind this chunk in its owner's row: at higher positions, unless the row descends.
        if (!launch.shares.descending()) return;
      }
    }
  }
};

// One run of an entry. The status is here, not in each of the functions that call one another for blocks in blocks, to
// keep their frames small.
struct Session::Run {
  const schema::Entry& entry;
  const EntryMap& map;
  Status status;
  bool changed_state = false;
};

Status Session::execute(const schema::Entry& entry, const EntryMap& map) {
  FloatingPointScope scope;
  parallel_.begin_run();
  Run run{entry, map, Status()};
  if (numerics_ != nullptr) run.status = (this->*numerics_->arguments)(entry);
  const bool watched = watch_ == nullptr || watch_->begin(watch_->context, bound_entry_, &run.status);
  const bool done = watched && run.status.ok() && run_block(run, 0);
  parallel_.end_run();
  if (!done && run.changed_state) {
    variables_->mark_incomplete();
    run.status.append(
        "; variables had been changed already, so the state is incomplete: load a checkpoint or reset the "
        "session");
  }
  return run.status;
}

bool Session::go_on(Run& run) {
  if (!cancelled_.load(std::memory_order_relaxed)) return true;
  run.status = Status::error(StatusCode::kCancelled, "entry '%s' was cancelled", run.entry.name()->c_str());
  return false;
}

bool Session::run_block(Run& run, uint32_t block) {
  const uint32_t count = run.entry.blocks()->Get(block)->instructions()->size();
  for (uint32_t i = 0; i < count; ++i) {
    if (!run_instruction(run, block, i)) return false;
  }
  return true;
}

bool Session::run_instruction(Run& run, uint32_t block, uint32_t position) {
  if (!go_on(run)) return false;
  if (run.map.changes(run.map.instruction(block, position))) {
    run.status = check_instruction(run.entry, run.map, block, position, call_values());
    if (!run.status.ok()) return false;
  }
  if (watch_ == nullptr) return run_unwatched(run, block, position);
  return watch_->before(watch_->context, block, position, &run.status) && run_unwatched(run, block, position) &&
         watch_->after(watch_->context, block, position, &run.status);
}

bool Session::run_unwatched(Run& run, uint32_t block, uint32_t position) {
  const schema::InstructionNode& node = *run.entry.blocks()->Get(block)->instructions()->Get(position);
  if (const schema::If* branch = node.instruction_as_If()) {
    return run_block(run, is_set(*branch->condition()) ? branch->then_block() : branch->else_block());
  }
  if (const schema::While* loop = node.instruction_as_While()) return run_while(run, *loop);
  if (const schema::Loop* loop = node.instruction_as_Loop()) return run_loop(run, *loop);
  if (const schema::BindDim* bind = node.instruction_as_BindDim()) return run_bind(run, *bind);
  run.changed_state |= writes_variable(run.entry, node);
  if (measure_ != nullptr)
    run.status = (this->*measure_)(run.entry, node);
  else if (const schema::KernelCall* call = node.instruction_as_KernelCall())
    run.status = call_kernel(run.entry, *call);
  else
    copy(*node.instruction_as_Copy());
  if (numerics_ != nullptr && run.status.ok()) run.status = (this->*numerics_->results)(run.entry, node);
  return run.status.ok();
}

// Every second turn of a loop runs the tiles of a kernel from the last ones to the first. What the loop reads in each
// turn and is a little larger than a cache (the weights of a recurrent layer) is not evicted as a whole then, just
// before it is read again: what the last turn read last comes first.
class TurnsOfLoop {
 public:
  explicit TurnsOfLoop(bool* descending) : descending_(descending), before_(*descending) { *descending_ = false; }
  ~TurnsOfLoop() { *descending_ = before_; }
  TurnsOfLoop(const TurnsOfLoop&) = delete;
  TurnsOfLoop& operator=(const TurnsOfLoop&) = delete;

  void next() const { *descending_ = !*descending_; }

 private:
  bool* descending_;
  bool before_;
};

// A loop whose blocks are empty can be cancelled too.
bool Session::run_while(Run& run, const schema::While& loop) {
  const TurnsOfLoop turns(&descending_);
  for (;; turns.next()) {
    if (!go_on(run) || !run_block(run, loop.condition_block())) return false;
    if (!is_set(*loop.condition())) return true;
    if (!run_block(run, loop.body_block())) return false;
  }
}

bool Session::run_loop(Run& run, const schema::Loop& loop) {
  const int64_t count = values_[loop.count()];
  const TurnsOfLoop turns(&descending_);
  for (int64_t i = 0; i < count; ++i, turns.next()) {
    if (!go_on(run) || !assign(run, loop.dim(), i, loop.location())) return false;
    if (!run_block(run, loop.body_block())) return false;
  }
  return true;
}

bool Session::run_bind(Run& run, const schema::BindDim& bind) {
  int64_t value;
  memcpy(&value, address(*bind.value()), sizeof(value));
  return assign(run, bind.dim(), value, bind.location());
}

bool Session::assign(Run& run, uint32_t dim, int64_t value, uint32_t location) {
  run.status = assign_dim(run.entry, run.map, dim, value, call_values());
  if (run.status.ok()) return true;
  const char* line = program_->location(location);
  if (line[0] != '\0') run.status.append(" (at %s)", line);
  return false;
}

Status Session::call_kernel(const schema::Entry& entry, const schema::KernelCall& call) {
  const int64_t tiles = values_[call.tiles()];
  if (tiles == 0) return Status();
  for (uint32_t i = 0; i < call.operands()->size(); ++i) operands_[i] = address(*call.operands()->Get(i));
  for (uint32_t i = 0; i < call.dims()->size(); ++i) kernel_dims_[i] = values_[call.dims()->Get(i)];

  Launch launch{kernels_[call.kernel()],
                {},
                TileShares(tiles, parallel_.width(), descending_),
                memory_->scratch(),
                scratch_stride_,
                threads_.data()};
  launch.args.size = sizeof(FerruleKernelArgs);
  launch.args.buffers = operands_.data();
  launch.args.dims = kernel_dims_.data();
  launch.args.params = call.params()->size() == 0 ? nullptr : call.params()->data();
  const uint32_t thread_count = launch.shares.thread_count();
  for (uint32_t i = 0; i < thread_count; ++i) threads_[i].start();
  parallel_.run(thread_count, Launch::run_thread, &launch);

  for (uint32_t i = 0; i < thread_count; ++i)
    if (threads_[i].result != 0) return kernel_error(entry, call, thread_count);
  return Status();
}

// Of all chunks that failed, the one with the lowest position: the same one for every number of threads.
Status Session::kernel_error(const schema::Entry& entry, const schema::KernelCall& call, uint32_t thread_count) const {
  const ThreadState* first = nullptr;
  for (uint32_t i = 0; i < thread_count; ++i) {
    if (threads_[i].result == 0) continue;
    if (first == nullptr || threads_[i].error.position < first->error.position) first = &threads_[i];
  }
  const char* name = program_->metadata()->kernels()->Get(call.kernel())->name()->c_str();
  const char* location = program_->location(call.location());
  const char* prefix = location[0] == '\0' ? "" : " at ";
  Status status = Status::error(StatusCode::kKernelError, "entry '%s', kernel '%s'%s%s", entry.name()->c_str(), name,
                                prefix, location);
  const auto limit = static_cast<long long>(first->error.limit);
  const bool of_axis = first->result == kFerruleKernelIndexOutOfAxis;
  if (!of_axis && first->result != kFerruleKernelIndexOutOfRange) {
    status.append(" failed with code %d", first->result);
    return status;
  }
  status.append(": the index %lld at position %lld is out of range", static_cast<long long>(first->error.value),
                static_cast<long long>(first->error.position));
  if (of_axis)
    status.append(" for an axis of size %lld: it must be from %lld to %lld", limit, -limit, limit - 1);
  else
    status.append(": it must be below %lld", limit);
  return status;
}

void Session::copy(const schema::Copy& copy) {
  uint8_t* target = address(*copy.target());
  const uint8_t* source = address(*copy.source());
  const int64_t byte_size = values_[copy.byte_size()];
  if (target != source && byte_size > 0) memcpy(target, source, static_cast<size_t>(byte_size));
}

bool Session::writes_variable(const schema::Entry& entry, const schema::InstructionNode& node) const {
  const auto is_variable = [&entry](const schema::Operand& operand) {
    return entry.buffers()->Get(operand.buffer())->storage() == schema::Storage_variable;
  };
  if (const schema::KernelCall* call = node.instruction_as_KernelCall()) {
    for (uint32_t i = 0; i < call->output_count(); ++i)
      if (is_variable(*call->operands()->Get(i))) return true;
    return false;
  }
  return is_variable(*node.instruction_as_Copy()->target());
}

}  // namespace ferrule::runtime
