// The variables of a session: read and set by name, saved and loaded.
#include "runtime/api/handles.h"
#include "runtime/executor/checkpoint.h"
#include "runtime/executor/named_variables.h"
#include "runtime/program/layout.h"

using namespace ferrule::runtime;

namespace {

// The variable of that name, whose values must have `byte_size` bytes.
Status find_variable(const FerruleSession& session, const char* name, uint64_t byte_size, uint32_t* out_variable) {
  const Program& program = session.session->program();
  FERRULE_RETURN_IF_ERROR(program.find_variable(name, out_variable));
  const uint64_t needed = logical_byte_size(*program.metadata()->variables()->Get(*out_variable));
  if (byte_size == needed) return Status();
  return Status::error(StatusCode::kInvalidArgument, "variable '%s' has %llu bytes, but the buffer has %llu", name,
                       static_cast<unsigned long long>(needed), static_cast<unsigned long long>(byte_size));
}

// `write`: save_checkpoint or save_delta.
FerruleStatus* save(FerruleSession* session, const char* path, const FerruleTrainingPosition* position,
                    Status (*write)(VariableStore&, const char*, const TrainingPosition&, const Allocator&)) {
  const FerruleTrainingPosition known = read_struct(position);
  const TrainingPosition inner{known.seed, known.epoch, known.sample, known.step};
  Session& target = *session->session;
  const Status status = write(target.variables(), path, inner, target.allocator());
  if (status.ok()) log_info(session->logger, "saved '%s'", path);
  return to_c(status, session->logger);
}

}  // namespace

FerruleStatus* ferrule_session_get_variable(FerruleSession* session, const char* name, void* data, uint64_t byte_size) {
  uint32_t variable;
  const Status status = find_variable(*session, name, byte_size, &variable);
  return to_c(status.ok() ? session->session->variables().get(variable, data) : status, session->logger);
}

FerruleStatus* ferrule_session_set_variable(FerruleSession* session, const char* name, const void* data,
                                            uint64_t byte_size) {
  uint32_t variable;
  const Status status = find_variable(*session, name, byte_size, &variable);
  return to_c(status.ok() ? session->session->variables().set(variable, data) : status, session->logger);
}

FerruleStatus* ferrule_session_save_checkpoint(FerruleSession* session, const char* path,
                                               const FerruleTrainingPosition* position) {
  return save(session, path, position, save_checkpoint);
}

FerruleStatus* ferrule_session_save_delta(FerruleSession* session, const char* path,
                                          const FerruleTrainingPosition* position) {
  return save(session, path, position, save_delta);
}

FerruleStatus* ferrule_session_load_checkpoint(FerruleSession* session, const char* path,
                                               FerruleTrainingPosition* out_position) {
  TrainingPosition inner;
  const Status status = load_checkpoint(session->session->variables(), path, &inner, session->session->allocator());
  if (!status.ok()) return to_c(status, session->logger);
  log_info(session->logger, "loaded '%s'", path);
  if (out_position != nullptr) {
    FerruleTrainingPosition position{};
    position.seed = inner.seed;
    position.epoch = inner.epoch;
    position.sample = inner.sample;
    position.step = inner.step;
    write_struct(position, out_position);
  }
  return nullptr;
}

FerruleStatus* ferrule_session_save_variables(FerruleSession* session, const char* path, const char* const* names,
                                              uint32_t name_count) {
  Session& target = *session->session;
  return to_c(save_variables(target.variables(), path, names, name_count, target.allocator()), session->logger);
}

FerruleStatus* ferrule_session_load_variables(FerruleSession* session, const char* path, uint32_t* out_count) {
  Session& target = *session->session;
  uint32_t count = 0;
  const Status status = load_variables(target.variables(), path, &count, target.allocator());
  if (status.ok()) log_info(session->logger, "set %u variables from '%s'", count, path);
  if (status.ok() && out_count != nullptr) *out_count = count;
  return to_c(status, session->logger);
}

FerruleStatus* ferrule_session_reset(FerruleSession* session) {
  return to_c(session->session->variables().reset(), session->logger);
}
