#include <stdlib.h>

#include <new>

#include "runtime/api/handles.h"

using namespace ferrule::runtime;
namespace schema = ferrule::schema;

namespace {

void destroy(FerruleSession* session) {
  if (session->release_async != nullptr) session->release_async(session);
  if (session->release_paging != nullptr) session->release_paging(session);
  if (session->release_growth != nullptr) session->release_growth(session);
  Session::destroy(session->session);
  session->~FerruleSession();
  free(session);
}

Status allocate_tensors(FerruleSession& session) {
  uint32_t inputs = 0, outputs = 0;
  for (const schema::Entry* entry : *session.session->program().metadata()->entries()) {
    if (entry->inputs()->size() > inputs) inputs = entry->inputs()->size();
    if (entry->outputs()->size() > outputs) outputs = entry->outputs()->size();
  }
  FERRULE_RETURN_IF_ERROR(session.inputs.allocate(system_allocator(), inputs, "the table of inputs"));
  return session.outputs.allocate(system_allocator(), outputs, "the table of outputs");
}

// As many as the table holds; with another count the session refuses the call before it looks at them.
void read_tensors(const FerruleTensor* tensors, uint32_t count, Array<TensorRef>& out) {
  for (uint32_t i = 0; i < count && i < out.size(); ++i) {
    const FerruleTensor tensor = read_struct(element(tensors, i));
    out[i].data = tensor.data;
    out[i].byte_size = tensor.byte_size;
    out[i].dtype = schema::DataType(tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes);
    out[i].rank = tensor.rank;
    out[i].shape = tensor.shape;
  }
}

void write_tensors(const Array<TensorRef>& from, FerruleTensor* tensors, uint32_t count, bool with_data) {
  for (uint32_t i = 0; i < count; ++i) {
    FerruleTensor* out = element(tensors, i);
    FerruleTensor tensor = read_struct(out);
    if (with_data) tensor.data = from[i].data;
    tensor.byte_size = from[i].byte_size;
    tensor.dtype = {from[i].dtype.code(), from[i].dtype.bits(), from[i].dtype.lanes()};
    tensor.rank = from[i].rank;
    tensor.shape = from[i].shape;
    write_struct(tensor, out);
  }
}

Status call(FerruleSession& session, const char* entry, const FerruleTensor* inputs, uint32_t input_count,
            FerruleTensor* outputs, uint32_t output_count, bool run) {
  uint32_t index;
  FERRULE_RETURN_IF_ERROR(check_call(session, entry, inputs, input_count, outputs, output_count, &index));
  session.session->clear_cancel();
  return call_entry(session, index, inputs, input_count, outputs, output_count, run);
}

}  // namespace

namespace ferrule::runtime {

Status check_call(const FerruleSession& session, const char* entry, const FerruleTensor* inputs, uint32_t input_count,
                  const FerruleTensor* outputs, uint32_t output_count, uint32_t* out_entry) {
  FERRULE_RETURN_IF_ERROR(session.session->program().find_entry(entry, out_entry));
  if (session.async != nullptr && session.async_is_busy(session.async))
    return Status::error(StatusCode::kFailedPrecondition,
                         "entry '%s' does not run: an asynchronous run of the session is in progress", entry);
  // A forgotten struct_size would otherwise read one tensor again and again.
  if ((input_count != 0 && inputs->struct_size < sizeof(size_t)) ||
      (output_count != 0 && outputs->struct_size < sizeof(size_t)))
    return invalid_argument("struct_size of a FerruleTensor must be sizeof(FerruleTensor)");
  return Status();
}

Status call_entry(FerruleSession& session, uint32_t entry, const FerruleTensor* inputs, uint32_t input_count,
                  FerruleTensor* outputs, uint32_t output_count, bool run) {
  read_tensors(inputs, input_count, session.inputs);
  read_tensors(outputs, output_count, session.outputs);
  if (run)
    FERRULE_RETURN_IF_ERROR(
        session.session->run(entry, session.inputs.data(), input_count, session.outputs.data(), output_count));
  else
    FERRULE_RETURN_IF_ERROR(session.session->output_shapes(entry, session.inputs.data(), input_count,
                                                           session.outputs.data(), output_count));
  write_tensors(session.outputs, outputs, output_count, /*with_data=*/run);
  return Status();
}

}  // namespace ferrule::runtime

FerruleStatus* ferrule_session_create(FerruleProgram* program, const FerruleSessionOptions* options,
                                      FerruleSession** out_session) {
  const FerruleSessionOptions known = read_struct(options);
  SessionOptions session_options;
  session_options.thread_count = known.thread_count;
  session_options.target = known.target;
  if (known.share != nullptr) session_options.share = &known.share->session->variables();
  if (known.arena != nullptr) session_options.memory = known.arena->memory;
  const Status readable = read_allocator(known.allocator, &session_options.allocator);
  if (!readable.ok()) return to_c(readable);
  if (known.clock != nullptr) {
    if (known.clock->now_ns == nullptr) return to_c(invalid_argument("the caller's clock lacks `now_ns`"));
    session_options.clock = {known.clock->context, known.clock->now_ns};
  }
  ThreadPoolInterface pool{};
  if (known.thread_pool != nullptr) {
    pool = {known.thread_pool->context, known.thread_pool->thread_count, known.thread_pool->parallel_for};
    session_options.thread_pool = &pool;
  }
  void* memory = malloc(sizeof(FerruleSession));
  if (memory == nullptr) return to_c(Status::error(StatusCode::kOutOfMemory, "out of memory: the session"));
  auto* session = new (memory) FerruleSession();
  session->logger = read_struct(known.logger);
  Status status = Session::create(program->program, session_options, &session->session);
  if (status.ok()) status = allocate_tensors(*session);
  if (!status.ok()) {
    const FerruleLogger logger = session->logger;
    destroy(session);
    return to_c(status, logger);
  }
  log_info(session->logger, "session for target %s: %u threads, %llu bytes of arena, %llu of variables",
           session->session->target_name(), session->session->thread_count(),
           static_cast<unsigned long long>(session->session->arena_byte_size()),
           static_cast<unsigned long long>(session->session->variables().private_byte_size()));
  *out_session = session;
  return nullptr;
}

void ferrule_session_release(FerruleSession* session) {
  if (session != nullptr) destroy(session);
}

FerruleStatus* ferrule_session_info(const FerruleSession* session, FerruleSessionInfo* out_info) {
  const Session& inner = *session->session;
  FerruleSessionInfo info{};
  info.target = inner.target_name();
  info.thread_count = inner.thread_count();
  info.arena_bytes = inner.arena_byte_size();
  info.scratch_bytes = inner.scratch_byte_size();
  info.variable_bytes = inner.variables().private_byte_size();
  info.state_complete = inner.variables().complete() ? 1 : 0;
  write_struct(info, out_info);
  return nullptr;
}

FerruleStatus* ferrule_session_run(FerruleSession* session, const char* entry, const FerruleTensor* inputs,
                                   uint32_t input_count, FerruleTensor* outputs, uint32_t output_count) {
  return to_c(call(*session, entry, inputs, input_count, outputs, output_count, /*run=*/true), session->logger);
}

FerruleStatus* ferrule_session_output_shapes(FerruleSession* session, const char* entry, const FerruleTensor* inputs,
                                             uint32_t input_count, FerruleTensor* outputs, uint32_t output_count) {
  return to_c(call(*session, entry, inputs, input_count, outputs, output_count, /*run=*/false), session->logger);
}

void ferrule_session_cancel(FerruleSession* session) { session->session->cancel(); }

FerruleStatus* ferrule_session_start_profile(FerruleSession* session, uint64_t capacity) {
  return to_c(session->session->start_profile(capacity));
}

void ferrule_session_stop_profile(FerruleSession* session) { session->session->stop_profile(); }

FerruleStatus* ferrule_session_profile_info(const FerruleSession* session, FerruleProfileInfo* out_info) {
  FerruleProfileInfo info{};
  info.event_count = session->session->profile().count();
  info.dropped_count = session->session->profile().dropped();
  write_struct(info, out_info);
  return nullptr;
}

FerruleStatus* ferrule_session_profile_event(const FerruleSession* session, uint64_t index,
                                             FerruleProfileEvent* out_event) {
  const Profile& profile = session->session->profile();
  if (index >= profile.count())
    return to_c(Status::error(StatusCode::kInvalidArgument, "the profile has no event %llu; it has %llu",
                              static_cast<unsigned long long>(index), static_cast<unsigned long long>(profile.count())));
  const Program& program = session->session->program();
  const ProfileEvent& event = profile.event(index);
  FerruleProfileEvent out{};
  out.entry = program.metadata()->entries()->Get(event.entry)->name()->c_str();
  out.kernel = event.kernel == ProfileEvent::kCopy ? "copy" : program.metadata()->kernels()->Get(event.kernel)->name()->c_str();
  out.location = program.location(event.location);
  out.begin_ns = event.begin;
  out.end_ns = event.end;
  out.byte_size = event.byte_size;
  out.thread_count = event.thread_count;
  out.flops = event.flops;
  out.read_bytes = event.read_bytes;
  out.written_bytes = event.written_bytes;
  write_struct(out, out_event);
  return nullptr;
}

void ferrule_session_check_numerics(FerruleSession* session, int32_t enabled) {
  session->session->check_numerics(enabled != 0);
}
