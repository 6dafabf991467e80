// A session: a program bound to memory and threads, ready to run its entries any number of times.
//
// create() allocates all that running needs: the arenas (one block, as long as the longest entry needs), threads x
// scratch, private variables, and tables as large as the largest entry. run() binds the dims, checks the call, and
// executes the plan's instructions; it allocates nothing, unless the session may grow (growth.h). Not thread-safe, except
// cancel().
#ifndef FERRULE_RUNTIME_EXECUTOR_SESSION_H_
#define FERRULE_RUNTIME_EXECUTOR_SESSION_H_

#include <stdint.h>

#include <atomic>

#include "runtime/executor/parallel.h"
#include "runtime/executor/placement.h"
#include "runtime/executor/profile.h"
#include "runtime/executor/run_memory.h"
#include "runtime/executor/variable_store.h"
#include "runtime/executor/watch.h"
#include "runtime/memory/memory_block.h"
#include "runtime/program/call.h"
#include "runtime/program/program.h"

namespace ferrule::runtime {

// A dense row-major array of the caller. As an output, `data` null asks for a view of the session's memory, and run()
// sets everything; `shape` then points into the session. Both stay valid until the next run. Where the entry itself
// finds out a size, `data` needs room for the most that output_shapes() tells, and run() sets what it came to.
struct TensorRef {
  void* data = nullptr;
  uint64_t byte_size = 0;  // of an input: at least what its shape needs; of an output: the room in `data`
  schema::DataType dtype;
  uint32_t rank = 0;
  const int64_t* shape = nullptr;
};

struct SessionOptions {
  uint32_t thread_count = 0;       // 0: as many as there are CPUs for this process
  const char* target = nullptr;    // null: the best that this machine supports
  VariableStore* share = nullptr;  // null: variables of its own
  RunMemory* memory = nullptr;     // null: arenas and scratch of its own
  Allocator allocator = system_allocator();
  const ThreadPoolInterface* thread_pool = nullptr;  // null: the process's pool
  Clock clock = {nullptr, monotonic_ns};             // of profiles
};

class Session {
 public:
  static Status create(Program* program, const SessionOptions& options, Session** out_session);
  // Frees the session. Null is allowed.
  static void destroy(Session* session);

  // `inputs` and `outputs` in the entry's order. Errors: kInvalidArgument (names the entry, tensor, dim, value and what
  // is allowed; nothing has happened), kFailedPrecondition (incomplete state), kKernelError, kCancelled.
  Status run(uint32_t entry, const TensorRef* inputs, uint32_t input_count, TensorRef* outputs, uint32_t output_count);
  // The checks of run(), and dtype, rank, shape and byte_size of the outputs; `data` is left alone. A size that the
  // entry itself finds out is the most that it can be for these inputs.
  Status output_shapes(uint32_t entry, const TensorRef* inputs, uint32_t input_count, TensorRef* outputs,
                       uint32_t output_count);
  // What a run checks first: that it is the process that made the session, and the numbers of tensors.
  Status check_process(uint32_t entry) const;
  Status check_counts(uint32_t entry, uint32_t input_count, uint32_t output_count) const;

  // The run in progress ends before its next instruction; so does each later one until clear_cancel().
  void clear_cancel() { cancelled_.store(false, std::memory_order_relaxed); }
  void cancel() { cancelled_.store(true, std::memory_order_relaxed); }

  // From here on runs add events to the profile.
  Status start_profile(uint64_t capacity);
  void stop_profile() { measure_ = nullptr; }
  const Profile& profile() const { return profile_; }

  // While it is on, a run ends at the first element that is not finite: of an input, a variable, or what a kernel wrote.
  void check_numerics(bool enabled);
  // Null: nobody. Must live as long as it is set.
  void set_watch(const Watch* watch) { watch_ = watch; }

  Program& program() const { return *program_; }
  VariableStore& variables() { return *variables_; }
  const VariableStore& variables() const { return *variables_; }
  const Allocator& allocator() const { return allocator_; }
  const char* target_name() const { return program_->metadata()->targets()->Get(target_)->name()->c_str(); }
  uint32_t thread_count() const { return parallel_.thread_count(); }
  uint64_t arena_byte_size() const { return memory_->arena_byte_size(); }
  uint64_t scratch_byte_size() const { return memory_->scratch_byte_size(); }

 private:
  friend class Growth;
  friend class MemoryCheck;
  friend class Paging;

  Session() = default;
  ~Session() = default;
  Status initialize(const SessionOptions& options);
  Status allocate_arenas(RunMemory* shared);
  Status allocate_tables();

  const schema::Entry& entry(uint32_t index) const { return *program_->metadata()->entries()->Get(index); }

  // Binding: bind.cpp.
  Status bind(uint32_t entry, const TensorRef* inputs, uint32_t input_count, uint32_t output_count);
  bool same_shapes_as_last_call(uint32_t entry, const TensorRef* inputs) const;
  void remember_shapes(const TensorRef* inputs, uint32_t input_count);
  Status describe_outputs(const schema::Entry& entry, TensorRef* outputs);
  Status bind_outputs(const schema::Entry& entry, TensorRef* outputs);
  Status view_outputs(const schema::Entry& entry, TensorRef* outputs);
  Status check_overlap(const schema::Entry& entry, const TensorRef* inputs, const TensorRef* outputs) const;
  void bind_buffers(const schema::Entry& entry, const TensorRef* inputs, const TensorRef* outputs);

  // Execution: execute.cpp. Those of control flow return whether the run goes on; if not, run.status says why.
  struct Run;
  Status execute(const schema::Entry& entry, const EntryMap& map);
  bool run_block(Run& run, uint32_t block);
  bool run_instruction(Run& run, uint32_t block, uint32_t position);
  bool run_unwatched(Run& run, uint32_t block, uint32_t position);
  bool run_while(Run& run, const schema::While& loop);
  bool run_loop(Run& run, const schema::Loop& loop);
  bool run_bind(Run& run, const schema::BindDim& bind);
  bool assign(Run& run, uint32_t dim, int64_t value, uint32_t location);
  bool go_on(Run& run);
  Status call_kernel(const schema::Entry& entry, const schema::KernelCall& call);
  Status run_and_measure(const schema::Entry& entry, const schema::InstructionNode& node);
  uint64_t operand_byte_size(const schema::Entry& entry, const schema::KernelCall& call) const;
  Status kernel_error(const schema::Entry& entry, const schema::KernelCall& call, uint32_t thread_count) const;
  void copy(const schema::Copy& copy);
  bool writes_variable(const schema::Entry& entry, const schema::InstructionNode& node) const;
  uint8_t* address(const schema::Operand& operand) const {
    return buffers_[operand.buffer()] + values_[operand.offset()];
  }
  // Of buffer number `b` of the bound entry, in the arena.
  uint64_t arena_position(uint32_t b, const schema::Buffer& buffer) const {
    return placement_.offsets != nullptr ? placement_.offsets[b] : arena_offsets_[buffer.index()] + buffer.offset();
  }
  bool is_set(const schema::Operand& condition) const { return *address(condition) != 0; }
  CallValues call_values() { return {dims_.data(), values_.data(), output_bytes_.data(), placement_.capacities}; }

  // Numerics: numerics.cpp.
  Status check_arguments(const schema::Entry& entry) const;
  Status check_results(const schema::Entry& entry, const schema::InstructionNode& node) const;

  // What one thread has of a kernel call, on a cache line of its own.
  struct alignas(64) ThreadState {
    FerruleKernelError error;     // of the chunk that failed
    int32_t result;               // 0: none has failed
    std::atomic<uint32_t> taken;  // of its share of the chunks

    void start() {
      error = FerruleKernelError{};
      result = 0;
      taken.store(0, std::memory_order_relaxed);
    }
  };
  struct Launch;

  Program* program_ = nullptr;
  VariableStore* variables_ = nullptr;
  Allocator allocator_{};
  uint32_t target_ = 0;
  uint32_t fork_count_ = 0;  // of the process that the session belongs to
  Parallel parallel_;
  std::atomic<bool> cancelled_{false};
  bool descending_ = false;  // in every second turn of a loop, from the last tile to the first
  Profile profile_;
  // Null while they are off. Through pointers, so that a product that never turns them on does not link them.
  Status (Session::*measure_)(const schema::Entry& entry, const schema::InstructionNode& node) = nullptr;
  struct NumericsCheck {
    Status (Session::*arguments)(const schema::Entry& entry) const;
    Status (Session::*results)(const schema::Entry& entry, const schema::InstructionNode& node) const;
  };
  const NumericsCheck* numerics_ = nullptr;
  const Watch* watch_ = nullptr;
  Grower* grower_ = nullptr;

  RunMemory* memory_ = nullptr;
  MemoryBlock output_views_;       // where outputs without a buffer of the caller go
  uint64_t scratch_stride_ = 0;    // bytes from one thread's scratch to the next
  Array<uint64_t> arena_offsets_;  // one an arena, into memory_->arena()
  // One of the two is set.
  struct KernelEntry {
    FerruleKernelFunction function;
    const ExternalKernel* external;
  };
  Array<KernelEntry> kernels_;
  Array<ThreadState> threads_;

  // Tables of the call in progress, as long as the largest entry needs.
  static constexpr uint32_t kNoEntry = UINT32_MAX;
  uint32_t bound_entry_ = kNoEntry;  // whose dims and values the tables hold
  Placement placement_;              // of that entry
  Array<int64_t> dims_;
  Array<int64_t> values_;       // of the expressions
  Array<uint64_t> output_bytes_;
  Array<uint8_t*> buffers_;     // base addresses
  Array<Shape> shapes_;         // of the inputs
  Array<int64_t> input_sizes_;  // the shapes of the bound call, kMaximumRank an input
  Array<uint32_t> input_ranks_;
  Array<int64_t> output_sizes_;  // the shapes of the outputs, kMaximumRank an output
  Array<void*> operands_;        // of one kernel call
  Array<int64_t> kernel_dims_;
};

}  // namespace ferrule::runtime

#endif  // FERRULE_RUNTIME_EXECUTOR_SESSION_H_
