// Sessions that grow. A file of its own, so that a product without any does not link what they need.
#include "runtime/executor/growth.h"

#include "runtime/api/handles.h"

using namespace ferrule::runtime;

namespace {

void release_growth(FerruleSession* session) { Growth::destroy(session->growth); }

}  // namespace

FerruleStatus* ferrule_session_allow_growth(FerruleSession* session, uint64_t arena_byte_limit) {
  const uint64_t limit = arena_byte_limit == 0 ? UINT64_MAX : arena_byte_limit;
  if (session->paging != nullptr)
    return to_c(Status::error(StatusCode::kFailedPrecondition, "a session whose arena has a limit in memory does not grow"),
                session->logger);
  if (session->growth != nullptr) {
    session->growth->set_limit(limit);
    return nullptr;
  }
  const Status status = Growth::create(*session->session, limit, &session->growth);
  if (!status.ok()) return to_c(status, session->logger);
  session->release_growth = release_growth;
  return nullptr;
}
