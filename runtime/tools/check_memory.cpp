#include "runtime/tools/check_memory.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "runtime/api/handles.h"
#include "runtime/check/memory_check.h"
#include "runtime/check/guarded_allocator.h"
#include "runtime/tools/text.h"

namespace ferrule::tools {
namespace {

const FerruleAllocator kGuarded = {
    sizeof(FerruleAllocator), nullptr,
    [](void*, uint64_t byte_size, uint64_t alignment) {
      return runtime::guarded_allocator().allocate(nullptr, byte_size, alignment);
    },
    [](void*, void* memory, uint64_t byte_size) {
      runtime::guarded_allocator().deallocate(nullptr, memory, byte_size);
    }};

// Of the check whose session runs: a fault is its doing.
const runtime::MemoryCheck* g_running = nullptr;

void write_text(const char* text) { [[maybe_unused]] const ssize_t written = write(2, text, std::strlen(text)); }

[[noreturn]] void report_fault(int) {
  write_text("ferrule-run: --check-memory: ");
  write_text(g_running->current());
  write_text(" touched memory outside of what was planned\n");
  _exit(1);
}

// Sends faults to `report_fault` while it lives.
class FaultHandler {
 public:
  explicit FaultHandler(const runtime::MemoryCheck& check) {
    g_running = &check;
    struct sigaction action {};
    action.sa_handler = report_fault;
    sigaction(SIGSEGV, &action, &segmentation_);
    sigaction(SIGBUS, &action, &bus_);
  }
  ~FaultHandler() {
    sigaction(SIGSEGV, &segmentation_, nullptr);
    sigaction(SIGBUS, &bus_, nullptr);
    g_running = nullptr;
  }
  FaultHandler(const FaultHandler&) = delete;
  FaultHandler& operator=(const FaultHandler&) = delete;

 private:
  struct sigaction segmentation_ {}, bus_ {};
};

// Copies of inputs that end at a guard page.
class GuardedInputs {
 public:
  explicit GuardedInputs(const std::vector<TensorView>& inputs) {
    for (const TensorView& input : inputs) {
      FerruleTensor tensor = input.c();
      if (tensor.byte_size != 0) {
        const size_t alignment = tensor.dtype.bits >= 16 ? tensor.dtype.bits / 8u : 1;
        void* copy = runtime::guarded_allocator().allocate(nullptr, tensor.byte_size, alignment);
        if (copy == nullptr) {
          is_complete_ = false;
          return;
        }
        std::memcpy(copy, tensor.data, tensor.byte_size);
        tensor.data = copy;
      }
      tensors_.push_back(tensor);
    }
  }
  ~GuardedInputs() {
    for (const FerruleTensor& tensor : tensors_)
      if (tensor.byte_size != 0) runtime::guarded_allocator().deallocate(nullptr, tensor.data, tensor.byte_size);
  }
  GuardedInputs(const GuardedInputs&) = delete;
  GuardedInputs& operator=(const GuardedInputs&) = delete;

  bool is_complete() const { return is_complete_; }
  const std::vector<FerruleTensor>& tensors() const { return tensors_; }

 private:
  std::vector<FerruleTensor> tensors_;
  bool is_complete_ = true;
};

Status run(Session& session, const char* entry, const std::vector<FerruleTensor>& inputs,
           std::vector<FerruleTensor>* outputs) {
  for (FerruleTensor& output : *outputs) {
    output = FerruleTensor{};
    output.struct_size = sizeof(FerruleTensor);
  }
  return Status(ferrule_session_run(session.c(), entry, inputs.data(), static_cast<uint32_t>(inputs.size()),
                                    outputs->data(), static_cast<uint32_t>(outputs->size())));
}

std::string compare(const std::string& what, const uint8_t* wanted, const uint8_t* found, uint64_t byte_size) {
  for (uint64_t i = 0; i < byte_size; ++i)
    if (wanted[i] != found[i])
      return format("%s depends on memory that holds no value: its byte %llu is %u where that memory is zero, and %u "
                    "where it is NaN",
                    what.c_str(), static_cast<unsigned long long>(i), wanted[i], found[i]);
  return "";
}

std::string compare_outputs(const Program& program, uint32_t entry, const std::vector<FerruleTensor>& wanted,
                            const std::vector<FerruleTensor>& found) {
  for (uint32_t i = 0; i < wanted.size(); ++i) {
    const std::string what = format("entry '%s': output '%s'", program.entry(entry).name, program.output(entry, i).name);
    if (wanted[i].byte_size != found[i].byte_size) return what + " has a size that depends on memory that holds no value";
    const std::string error = compare(what, static_cast<const uint8_t*>(wanted[i].data),
                                      static_cast<const uint8_t*>(found[i].data), wanted[i].byte_size);
    if (!error.empty()) return error;
  }
  return "";
}

std::string compare_variables(const Program& program, const Session& wanted, const Session& found) {
  std::vector<uint8_t> first, second;
  for (uint32_t v = 0; v < program.info().variable_count; ++v) {
    const FerruleVariableInfo variable = program.variable(v);
    if (variable.assigned == 0) continue;
    first.resize(variable.byte_size);
    second.resize(variable.byte_size);
    for (auto [session, values] : {std::pair(&wanted, &first), std::pair(&found, &second)}) {
      const Status status = session->get_variable(variable.name, values->data(), values->size());
      if (!status) return status.message();
    }
    const std::string error =
        compare(format("variable '%s'", variable.name), first.data(), second.data(), first.size());
    if (!error.empty()) return error;
  }
  return "";
}

}  // namespace

std::string check_memory(const Program& program, uint32_t entry, const std::vector<TensorView>& inputs,
                         Session::Options options, const std::string& checkpoint, uint64_t repeat,
                         MemoryReport* out_report) {
  options.allocator = &kGuarded;
  Result<Session> reference = Session::create(program, options), checked = Session::create(program, options);
  if (!reference || !checked) return (reference ? checked : reference).status().message();
  for (Session* session : {&*reference, &*checked}) {
    Status status = session->allow_growth();
    if (status && !checkpoint.empty()) status = session->load_checkpoint(checkpoint);
    if (!status) return status.message();
  }
  const GuardedInputs guarded(inputs);
  if (!guarded.is_complete()) return "out of memory: the copies of the inputs";

  const FerruleEntryInfo info = program.entry(entry);
  runtime::MemoryCheck check(*checked->c()->session);
  std::vector<FerruleTensor> wanted(info.output_count), found(info.output_count);
  for (uint64_t i = 0; i < repeat; ++i) {
    Status status;
    {
      const FaultHandler handler(check);
      status = run(*checked, info.name, guarded.tensors(), &found);
    }
    if (status) status = run(*reference, info.name, guarded.tensors(), &wanted);
    if (!status) return status.message();
    const std::string error = compare_outputs(program, entry, wanted, found);
    if (!error.empty()) return error;
  }
  *out_report = {info.peak_bytes, check.used_bytes(), check.instruction_count()};
  return compare_variables(program, *reference, *checked);
}

}  // namespace ferrule::tools
