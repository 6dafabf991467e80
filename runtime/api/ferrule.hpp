// The C++17 face of runtime/api/ferrule.h: header only, no exceptions, no RTTI.
//
//   auto program = ferrule::Program::open("net.fer");
//   if (!program) return fail(program.status().message());
//   auto session = ferrule::Session::create(*program);
//   ferrule::Tensor loss;
//   ferrule::Status status = session->run("train_step", {image, label}, {&loss});
//
// What can fail returns a Status, or a Result that holds a value or a Status; both convert to bool (true: ok). Objects
// own what they name and move, but do not copy. The rules on threads and lifetimes are those of ferrule.h.
#ifndef FERRULE_RUNTIME_API_FERRULE_HPP_
#define FERRULE_RUNTIME_API_FERRULE_HPP_

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/api/ferrule.h"

namespace ferrule {

class [[nodiscard]] Status {
 public:
  Status() = default;
  // Takes over what a C function returned.
  explicit Status(FerruleStatus* status) : status_(status) {}

  bool ok() const { return status_ == nullptr; }
  explicit operator bool() const { return ok(); }
  FerruleStatusCode code() const { return ferrule_status_code(status_.get()); }
  const char* message() const { return ferrule_status_message(status_.get()); }

 private:
  struct Release {
    void operator()(FerruleStatus* status) const { ferrule_status_release(status); }
  };
  std::unique_ptr<FerruleStatus, Release> status_;
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Status status) : status_(std::move(status)) {}

  bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Status& status() const { return status_; }
  // Only if ok().
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  std::optional<T> value_;
  Status status_;
};

// The FerruleDataType of a C++ type. bool is one byte; float16 and bfloat16 have no C++ type here.
template <typename T>
struct DataTypeOf;
template <>
struct DataTypeOf<double> {
  static constexpr FerruleDataType value{2, 64, 1};
};
template <>
struct DataTypeOf<float> {
  static constexpr FerruleDataType value{2, 32, 1};
};
template <>
struct DataTypeOf<int64_t> {
  static constexpr FerruleDataType value{0, 64, 1};
};
template <>
struct DataTypeOf<int32_t> {
  static constexpr FerruleDataType value{0, 32, 1};
};
template <>
struct DataTypeOf<int16_t> {
  static constexpr FerruleDataType value{0, 16, 1};
};
template <>
struct DataTypeOf<int8_t> {
  static constexpr FerruleDataType value{0, 8, 1};
};
template <>
struct DataTypeOf<uint64_t> {
  static constexpr FerruleDataType value{1, 64, 1};
};
template <>
struct DataTypeOf<uint32_t> {
  static constexpr FerruleDataType value{1, 32, 1};
};
template <>
struct DataTypeOf<uint16_t> {
  static constexpr FerruleDataType value{1, 16, 1};
};
template <>
struct DataTypeOf<uint8_t> {
  static constexpr FerruleDataType value{1, 8, 1};
};
template <>
struct DataTypeOf<bool> {
  static constexpr FerruleDataType value{6, 8, 1};
};

// An owned dense row-major array.
class Tensor {
 public:
  Tensor() = default;
  // Zeros.
  Tensor(FerruleDataType dtype, std::vector<int64_t> shape)
      : dtype_(dtype), shape_(std::move(shape)), bytes_(byte_size_of(dtype_, shape_)) {}
  // A copy of `values`, as many as the shape says.
  template <typename T>
  static Tensor copy_of(std::vector<int64_t> shape, const T* values) {
    Tensor tensor(DataTypeOf<T>::value, std::move(shape));
    if (!tensor.bytes_.empty()) std::memcpy(tensor.bytes_.data(), values, tensor.bytes_.size());
    return tensor;
  }

  FerruleDataType dtype() const { return dtype_; }
  const std::vector<int64_t>& shape() const { return shape_; }
  uint64_t byte_size() const { return bytes_.size(); }
  int64_t element_count() const {
    int64_t count = 1;
    for (const int64_t size : shape_) count *= size;
    return count;
  }
  void* raw() { return bytes_.data(); }
  const void* raw() const { return bytes_.data(); }
  // Null if T is not the tensor's element type.
  template <typename T>
  T* data() {
    return is<T>() ? reinterpret_cast<T*>(bytes_.data()) : nullptr;
  }
  template <typename T>
  const T* data() const {
    return is<T>() ? reinterpret_cast<const T*>(bytes_.data()) : nullptr;
  }
  template <typename T>
  bool is() const {
    constexpr FerruleDataType wanted = DataTypeOf<T>::value;
    return dtype_.code == wanted.code && dtype_.bits == wanted.bits && dtype_.lanes == 1;
  }

 private:
  static size_t byte_size_of(FerruleDataType dtype, const std::vector<int64_t>& shape) {
    size_t bits = dtype.bits;
    for (const int64_t size : shape) bits *= static_cast<size_t>(size);
    return (bits + 7) / 8;
  }

  // Takes the type and shape of `like`; memory that is large enough is used again, and keeps its first elements.
  void resize(const FerruleTensor& like) {
    dtype_ = like.dtype;
    shape_.assign(like.shape, like.shape + like.rank);
    bytes_.resize(byte_size_of(dtype_, shape_));
  }
  friend class Session;

  FerruleDataType dtype_{2, 32, 1};
  std::vector<int64_t> shape_{0};
  std::vector<uint8_t> bytes_;
};

// An input: memory of the caller, or a Tensor. Nothing is copied; what it refers to must live as long as the call.
class TensorView {
 public:
  TensorView(const Tensor& tensor) : TensorView(tensor.dtype(), tensor.shape(), tensor.raw(), tensor.byte_size()) {}
  template <typename T>
  TensorView(const std::vector<int64_t>& shape, const T* data)
      : TensorView(DataTypeOf<T>::value, shape, data, sizeof(T) * product(shape)) {}
  TensorView(FerruleDataType dtype, const std::vector<int64_t>& shape, const void* data, uint64_t byte_size) {
    tensor_.struct_size = sizeof(tensor_);
    tensor_.data = const_cast<void*>(data);
    tensor_.byte_size = byte_size;
    tensor_.dtype = dtype;
    tensor_.rank = static_cast<uint32_t>(shape.size());
    tensor_.shape = shape.data();
  }
  const FerruleTensor& c() const { return tensor_; }

 private:
  static uint64_t product(const std::vector<int64_t>& shape) {
    uint64_t count = 1;
    for (const int64_t size : shape) count *= static_cast<uint64_t>(size);
    return count;
  }

  FerruleTensor tensor_{};
};

class Program {
 public:
  struct Options {
    FerruleVerify verify = kFerruleVerifyStructure;
    const uint8_t* expected_sha256 = nullptr;  // 32 bytes, or null
    // Null, or asked whether the artifact with this root hash may run.
    int32_t (*accept)(void* context, const uint8_t root_sha256[32]) = nullptr;
    void* accept_context = nullptr;
    std::vector<FerruleExternalKernel> kernels;  // struct_size is filled in
    const FerruleLogger* logger = nullptr;
    bool in_place = false;  // of open_bytes: the weights stay where they are
    // Null, or opens encrypted weights.
    FerruleStatusCode (*decrypt)(void* context, const FerruleEncryptedWeights* weights) = nullptr;
    void* decrypt_context = nullptr;
  };

  static Result<Program> open(const std::string& path) { return open(path, Options()); }
  static Result<Program> open(const std::string& path, const Options& options) {
    std::vector<FerruleExternalKernel> kernels;
    const FerruleProgramOptions c = to_c(options, &kernels);
    FerruleProgram* program = nullptr;
    Status status(ferrule_program_open(path.c_str(), &c, &program));
    if (!status) return Result<Program>(std::move(status));
    return Program(program);
  }
  static Result<Program> open_bytes(const void* data, uint64_t byte_size) {
    return open_bytes(data, byte_size, Options());
  }
  static Result<Program> open_bytes(const void* data, uint64_t byte_size, const Options& options) {
    std::vector<FerruleExternalKernel> kernels;
    const FerruleProgramOptions c = to_c(options, &kernels);
    FerruleProgram* program = nullptr;
    Status status(ferrule_program_open_bytes(data, byte_size, &c, &program));
    if (!status) return Result<Program>(std::move(status));
    return Program(program);
  }

  FerruleProgramInfo info() const { return query<FerruleProgramInfo>(ferrule_program_info); }
  // Indices below the counts in info() and in the entry's info.
  FerruleTargetInfo target(uint32_t index) const { return query<FerruleTargetInfo>(ferrule_program_target, index); }
  FerruleEntryInfo entry(uint32_t index) const { return query<FerruleEntryInfo>(ferrule_program_entry, index); }
  FerruleDimInfo dim(uint32_t entry, uint32_t index) const {
    return query<FerruleDimInfo>(ferrule_program_dim, entry, index);
  }
  FerruleTensorInfo input(uint32_t entry, uint32_t index) const {
    return query<FerruleTensorInfo>(ferrule_program_input, entry, index);
  }
  FerruleTensorInfo output(uint32_t entry, uint32_t index) const {
    return query<FerruleTensorInfo>(ferrule_program_output, entry, index);
  }
  FerruleVariableInfo variable(uint32_t index) const {
    return query<FerruleVariableInfo>(ferrule_program_variable, index);
  }
  Result<uint32_t> find_entry(const std::string& name) const { return find(ferrule_program_find_entry, name); }
  Result<uint32_t> find_variable(const std::string& name) const { return find(ferrule_program_find_variable, name); }

  FerruleProgram* c() const { return program_.get(); }

 private:
  explicit Program(FerruleProgram* program) : program_(program) {}
  // `kernels` holds what the result points to.
  static FerruleProgramOptions to_c(const Options& options, std::vector<FerruleExternalKernel>* kernels) {
    *kernels = options.kernels;
    for (FerruleExternalKernel& kernel : *kernels) kernel.struct_size = sizeof(kernel);
    FerruleProgramOptions c{};
    c.struct_size = sizeof(c);
    c.verify = options.verify;
    c.expected_sha256 = options.expected_sha256;
    c.accept = options.accept;
    c.accept_context = options.accept_context;
    c.kernels = kernels->data();
    c.kernel_count = static_cast<uint32_t>(kernels->size());
    c.logger = options.logger;
    c.in_place = options.in_place;
    c.decrypt = options.decrypt;
    c.decrypt_context = options.decrypt_context;
    return c;
  }
  template <typename Info, typename Function, typename... Indices>
  Info query(Function function, Indices... indices) const {
    Info info{};
    info.struct_size = sizeof(info);
    ferrule_status_release(function(program_.get(), indices..., &info));
    return info;
  }
  template <typename Function>
  Result<uint32_t> find(Function function, const std::string& name) const {
    uint32_t index = 0;
    Status status(function(program_.get(), name.c_str(), &index));
    if (!status) return Result<uint32_t>(std::move(status));
    return index;
  }

  struct Release {
    void operator()(FerruleProgram* program) const { ferrule_program_release(program); }
  };
  std::unique_ptr<FerruleProgram, Release> program_;
};

// Memory that sessions run in, one at a time; see ferrule_arena_create.
class Arena {
 public:
  static Result<Arena> create(const FerruleAllocator* allocator = nullptr) {
    FerruleArena* arena = nullptr;
    Status status(ferrule_arena_create(allocator, &arena));
    if (!status) return Result<Arena>(std::move(status));
    return Arena(arena);
  }
  FerruleArenaInfo info() const {
    FerruleArenaInfo info{};
    info.struct_size = sizeof(info);
    ferrule_status_release(ferrule_arena_info(arena_.get(), &info));
    return info;
  }
  FerruleArena* c() const { return arena_.get(); }

 private:
  explicit Arena(FerruleArena* arena) : arena_(arena) {}
  struct Release {
    void operator()(FerruleArena* arena) const { ferrule_arena_release(arena); }
  };
  std::unique_ptr<FerruleArena, Release> arena_;
};

// A file that sessions keep memory in; see ferrule_swap_create. Must outlive the arenas and sessions that use it.
class Swap {
 public:
  static Result<Swap> create(const std::string& path, uint64_t byte_limit = 0) {
    FerruleSwap* swap = nullptr;
    Status status(ferrule_swap_create(path.c_str(), byte_limit, &swap));
    if (!status) return Result<Swap>(std::move(status));
    return Swap(swap);
  }
  const FerruleAllocator* allocator() const { return ferrule_swap_allocator(swap_.get()); }
  // See ferrule_swap_refusal: ok if the allocator never gave nothing.
  Status refusal() const { return Status(ferrule_swap_refusal(swap_.get())); }
  uint64_t byte_size() const {
    FerruleSwapInfo info{};
    info.struct_size = sizeof(info);
    ferrule_status_release(ferrule_swap_info(swap_.get(), &info));
    return info.byte_size;
  }
  FerruleSwap* c() const { return swap_.get(); }

 private:
  explicit Swap(FerruleSwap* swap) : swap_(swap) {}
  struct Release {
    void operator()(FerruleSwap* swap) const { ferrule_swap_release(swap); }
  };
  std::unique_ptr<FerruleSwap, Release> swap_;
};

class Session {
 public:
  struct Options {
    uint32_t thread_count = 0;       // 0: as many as the CPUs of the process
    const char* target = nullptr;    // null: the best that the machine supports
    const Session* share = nullptr;  // null, or a session whose variables this one uses
    const FerruleAllocator* allocator = nullptr;
    const FerruleThreadPool* thread_pool = nullptr;
    const Arena* arena = nullptr;  // null: of its own
    const FerruleLogger* logger = nullptr;
    const FerruleClock* clock = nullptr;
  };

  static Result<Session> create(const Program& program) { return create(program, Options()); }
  static Result<Session> create(const Program& program, const Options& options) {
    FerruleSessionOptions c{};
    c.struct_size = sizeof(c);
    c.thread_count = options.thread_count;
    c.target = options.target;
    c.share = options.share == nullptr ? nullptr : options.share->c();
    c.allocator = options.allocator;
    c.thread_pool = options.thread_pool;
    c.arena = options.arena == nullptr ? nullptr : options.arena->c();
    c.logger = options.logger;
    c.clock = options.clock;
    FerruleSession* session = nullptr;
    Status status(ferrule_session_create(program.c(), &c, &session));
    if (!status) return Result<Session>(std::move(status));
    return Session(session);
  }

  // Inputs and outputs in the entry's order; the outputs get dtype, shape and values.
  Status run(const std::string& entry, std::initializer_list<TensorView> inputs,
             std::initializer_list<Tensor*> outputs) {
    return run(entry, inputs.begin(), inputs.size(), std::vector<Tensor*>(outputs));
  }
  Status run(const std::string& entry, const std::vector<TensorView>& inputs, const std::vector<Tensor*>& outputs) {
    return run(entry, inputs.data(), inputs.size(), outputs);
  }
  void cancel() { ferrule_session_cancel(session_.get()); }

  // See ferrule_session_run_async: `done(Status)` is called by the session's background thread when the outputs have
  // their values. The inputs' memory and the outputs belong to the run until then.
  template <typename Done>
  Status run_async(const std::string& entry, const std::vector<TensorView>& inputs, const std::vector<Tensor*>& outputs,
                   Done done) {
    auto call = std::make_unique<AsyncCall<Done>>(AsyncCall<Done>{{}, outputs, std::move(done)});
    Status status = call->tensors.prepare(session_.get(), entry, inputs.data(), inputs.size(), outputs);
    if (!status) return status;
    status = Status(ferrule_session_run_async(session_.get(), entry.c_str(), call->tensors.in.data(),
                                              call->tensors.in_count(), call->tensors.out.data(),
                                              call->tensors.out_count(), AsyncCall<Done>::finish, call.get()));
    if (status) static_cast<void>(call.release());  // finish() owns it now
    return status;
  }
  void wait() { ferrule_session_wait(session_.get()); }

  // See ferrule_session_start_profile.
  Status start_profile(uint64_t capacity) { return Status(ferrule_session_start_profile(session_.get(), capacity)); }
  void stop_profile() { ferrule_session_stop_profile(session_.get()); }
  FerruleProfileInfo profile_info() const {
    FerruleProfileInfo info{};
    info.struct_size = sizeof(info);
    ferrule_status_release(ferrule_session_profile_info(session_.get(), &info));
    return info;
  }
  // `index` below profile_info().event_count.
  FerruleProfileEvent profile_event(uint64_t index) const {
    FerruleProfileEvent event{};
    event.struct_size = sizeof(event);
    ferrule_status_release(ferrule_session_profile_event(session_.get(), index, &event));
    return event;
  }

  // See ferrule_session_allow_growth. 0: no limit but the allocator's.
  Status allow_growth(uint64_t arena_byte_limit = 0) {
    return Status(ferrule_session_allow_growth(session_.get(), arena_byte_limit));
  }

  // See ferrule_session_limit_arena.
  Status limit_arena(const Swap& swap, uint64_t resident_bytes) {
    return Status(ferrule_session_limit_arena(session_.get(), swap.c(), resident_bytes));
  }
  FerrulePagingInfo paging_info() const {
    FerrulePagingInfo info{};
    info.struct_size = sizeof(info);
    ferrule_status_release(ferrule_session_paging_info(session_.get(), &info));
    return info;
  }

  // See ferrule_session_check_numerics.
  void check_numerics(bool enabled) { ferrule_session_check_numerics(session_.get(), enabled ? 1 : 0); }

  FerruleSessionInfo info() const {
    FerruleSessionInfo info{};
    info.struct_size = sizeof(info);
    ferrule_status_release(ferrule_session_info(session_.get(), &info));
    return info;
  }

  // Logical row-major values; the byte size must be the variable's.
  Status get_variable(const std::string& name, void* data, uint64_t byte_size) const {
    return Status(ferrule_session_get_variable(session_.get(), name.c_str(), data, byte_size));
  }
  Status set_variable(const std::string& name, const void* data, uint64_t byte_size) {
    return Status(ferrule_session_set_variable(session_.get(), name.c_str(), data, byte_size));
  }
  Status save_checkpoint(const std::string& path, FerruleTrainingPosition position = {}) const {
    position.struct_size = sizeof(position);
    return Status(ferrule_session_save_checkpoint(session_.get(), path.c_str(), &position));
  }
  Status load_checkpoint(const std::string& path, FerruleTrainingPosition* out_position = nullptr) {
    if (out_position != nullptr) out_position->struct_size = sizeof(*out_position);
    return Status(ferrule_session_load_checkpoint(session_.get(), path.c_str(), out_position));
  }
  // See ferrule_session_save_delta.
  Status save_delta(const std::string& path, FerruleTrainingPosition position = {}) const {
    position.struct_size = sizeof(position);
    return Status(ferrule_session_save_delta(session_.get(), path.c_str(), &position));
  }
  // A safetensors file of the named variables; and back: every variable that the file holds.
  Status save_variables(const std::string& path, const std::vector<std::string>& names) const {
    std::vector<const char*> c;
    for (const std::string& name : names) c.push_back(name.c_str());
    static const char* const kNone[] = {nullptr};
    return Status(ferrule_session_save_variables(session_.get(), path.c_str(), c.empty() ? kNone : c.data(),
                                                 static_cast<uint32_t>(c.size())));
  }
  Result<uint32_t> load_variables(const std::string& path) {
    uint32_t count = 0;
    Status status(ferrule_session_load_variables(session_.get(), path.c_str(), &count));
    if (!status) return Result<uint32_t>(std::move(status));
    return count;
  }
  Status reset() { return Status(ferrule_session_reset(session_.get())); }

  FerruleSession* c() const { return session_.get(); }

 private:
  explicit Session(FerruleSession* session) : session_(session) {}

  // The tensors of one call as the C API takes them.
  struct Tensors {
    std::vector<FerruleTensor> in, out;

    uint32_t in_count() const { return static_cast<uint32_t>(in.size()); }
    uint32_t out_count() const { return static_cast<uint32_t>(out.size()); }
    // Gives the outputs the room that they need.
    Status prepare(FerruleSession* session, const std::string& entry, const TensorView* inputs, size_t input_count,
                   const std::vector<Tensor*>& outputs) {
      in.reserve(input_count);
      for (size_t i = 0; i < input_count; ++i) in.push_back(inputs[i].c());
      out.resize(outputs.size());
      for (FerruleTensor& tensor : out) tensor.struct_size = sizeof(tensor);
      Status status(
          ferrule_session_output_shapes(session, entry.c_str(), in.data(), in_count(), out.data(), out_count()));
      for (size_t i = 0; i < outputs.size() && status; ++i) {
        outputs[i]->resize(out[i]);
        out[i].data = outputs[i]->raw();
        out[i].byte_size = outputs[i]->byte_size();
      }
      return status;
    }
    // Some have become smaller than their room.
    void finish(const std::vector<Tensor*>& outputs) const {
      for (size_t i = 0; i < outputs.size(); ++i) outputs[i]->resize(out[i]);
    }
  };

  template <typename Done>
  struct AsyncCall {
    Tensors tensors;
    std::vector<Tensor*> outputs;
    Done done;

    static void finish(void* context, FerruleStatus* status) {
      const std::unique_ptr<AsyncCall> call(static_cast<AsyncCall*>(context));
      if (status == nullptr) call->tensors.finish(call->outputs);
      call->done(Status(status));
    }
  };

  Status run(const std::string& entry, const TensorView* inputs, size_t input_count,
             const std::vector<Tensor*>& outputs) {
    Tensors tensors;
    Status status = tensors.prepare(session_.get(), entry, inputs, input_count, outputs);
    if (!status) return status;
    status = Status(ferrule_session_run(session_.get(), entry.c_str(), tensors.in.data(), tensors.in_count(),
                                        tensors.out.data(), tensors.out_count()));
    if (status) tensors.finish(outputs);
    return status;
  }

  struct Release {
    void operator()(FerruleSession* session) const { ferrule_session_release(session); }
  };
  std::unique_ptr<FerruleSession, Release> session_;
};

}  // namespace ferrule

#endif  // FERRULE_RUNTIME_API_FERRULE_HPP_
