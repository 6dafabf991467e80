// Runs on a background thread of the session. In a file of its own: a product that starts none does not link it.
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include <new>

#include "runtime/api/handles.h"
#include "runtime/base/fork.h"

using namespace ferrule::runtime;

// One thread, one place for the run that comes next: it is filled when the runner is idle, or by `done` itself.
struct FerruleAsyncRunner {
  enum class State {
    kIdle,
    kPosted,   // a run waits for the thread
    kRunning,  // the run, up to the call of `done`
    kTelling,  // `done` is being called; it may post the next run
    kStopped   // the session is being released
  };

  FerruleSession* session = nullptr;
  pthread_t thread;
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
  State state = State::kIdle;
  uint32_t fork_count = 0;  // of the process that has the thread

  uint32_t entry = 0;
  const FerruleTensor* inputs = nullptr;
  uint32_t input_count = 0;
  FerruleTensor* outputs = nullptr;
  uint32_t output_count = 0;
  FerruleDone done = nullptr;
  void* done_context = nullptr;
};

namespace {

using State = FerruleAsyncRunner::State;

bool is_busy(const FerruleAsyncRunner* const_runner) {
  auto* runner = const_cast<FerruleAsyncRunner*>(const_runner);
  if (runner->fork_count != fork_count()) return false;
  pthread_mutex_lock(&runner->mutex);
  // Not while `done` is called: it is the session's user then.
  const bool busy = runner->state == State::kPosted || runner->state == State::kRunning;
  pthread_mutex_unlock(&runner->mutex);
  return busy;
}

void* thread_main(void* argument) {
  auto* runner = static_cast<FerruleAsyncRunner*>(argument);
  pthread_mutex_lock(&runner->mutex);
  for (;;) {
    while (runner->state == State::kIdle) pthread_cond_wait(&runner->changed, &runner->mutex);
    if (runner->state == State::kStopped) break;
    runner->state = State::kRunning;
    const FerruleDone done = runner->done;
    void* const context = runner->done_context;
    pthread_mutex_unlock(&runner->mutex);

    FerruleSession& session = *runner->session;
    const Status status = call_entry(session, runner->entry, runner->inputs, runner->input_count, runner->outputs,
                                     runner->output_count, /*run=*/true);
    pthread_mutex_lock(&runner->mutex);
    if (runner->state == State::kRunning) runner->state = State::kTelling;
    pthread_mutex_unlock(&runner->mutex);
    done(context, to_c(status, session.logger));

    pthread_mutex_lock(&runner->mutex);
    if (runner->state == State::kTelling) runner->state = State::kIdle;
    pthread_cond_broadcast(&runner->changed);
  }
  pthread_mutex_unlock(&runner->mutex);
  return nullptr;
}

void destroy(FerruleAsyncRunner* runner) {
  pthread_cond_destroy(&runner->changed);
  pthread_mutex_destroy(&runner->mutex);
  free(runner);
}

// Cancels the run, if any, and waits for its `done`. In a forked child there is no thread to wait for.
void release_async(FerruleSession* session) {
  FerruleAsyncRunner* runner = session->async;
  if (runner->fork_count == fork_count()) {
    pthread_mutex_lock(&runner->mutex);
    // Again after each `done`, which may have posted the next run.
    while (runner->state != State::kIdle) {
      session->session->cancel();
      pthread_cond_wait(&runner->changed, &runner->mutex);
    }
    runner->state = State::kStopped;
    pthread_cond_broadcast(&runner->changed);
    pthread_mutex_unlock(&runner->mutex);
    pthread_join(runner->thread, nullptr);
  }
  destroy(runner);
}

// The session's runner, started if it has none yet.
Status start_runner(FerruleSession* session) {
  if (session->async != nullptr) return Status();
  void* memory = malloc(sizeof(FerruleAsyncRunner));
  if (memory == nullptr) return Status::error(StatusCode::kOutOfMemory, "out of memory: the asynchronous run");
  auto* runner = new (memory) FerruleAsyncRunner();
  runner->session = session;
  runner->fork_count = fork_count();
  // Signals belong to the threads of the application.
  sigset_t all, previous;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &previous);
  const int error = pthread_create(&runner->thread, nullptr, thread_main, runner);
  pthread_sigmask(SIG_SETMASK, &previous, nullptr);
  if (error != 0) {
    destroy(runner);
    return Status::error(StatusCode::kOutOfMemory, "the system starts no thread for an asynchronous run");
  }
  session->async = runner;
  session->async_is_busy = is_busy;
  session->release_async = release_async;
  return Status();
}

Status start_run(FerruleSession* session, const char* entry, const FerruleTensor* inputs, uint32_t input_count,
                 FerruleTensor* outputs, uint32_t output_count, FerruleDone done, void* done_context) {
  if (done == nullptr) return invalid_argument("an asynchronous run needs a function to call when it is done");
  uint32_t index;
  FERRULE_RETURN_IF_ERROR(check_call(*session, entry, inputs, input_count, outputs, output_count, &index));
  FERRULE_RETURN_IF_ERROR(session->session->check_process(index));
  FERRULE_RETURN_IF_ERROR(session->session->check_counts(index, input_count, output_count));
  FERRULE_RETURN_IF_ERROR(start_runner(session));
  FerruleAsyncRunner& runner = *session->async;
  // Here, not when the thread begins: a cancel between the two is meant for this run.
  session->session->clear_cancel();
  pthread_mutex_lock(&runner.mutex);
  runner.entry = index;
  runner.inputs = inputs;
  runner.input_count = input_count;
  runner.outputs = outputs;
  runner.output_count = output_count;
  runner.done = done;
  runner.done_context = done_context;
  runner.state = State::kPosted;
  pthread_cond_broadcast(&runner.changed);
  pthread_mutex_unlock(&runner.mutex);
  return Status();
}

}  // namespace

FerruleStatus* ferrule_session_run_async(FerruleSession* session, const char* entry, const FerruleTensor* inputs,
                                         uint32_t input_count, FerruleTensor* outputs, uint32_t output_count,
                                         FerruleDone done, void* done_context) {
  return to_c(start_run(session, entry, inputs, input_count, outputs, output_count, done, done_context),
              session->logger);
}

void ferrule_session_wait(FerruleSession* session) {
  FerruleAsyncRunner* runner = session->async;
  if (runner == nullptr || runner->fork_count != fork_count()) return;
  pthread_mutex_lock(&runner->mutex);
  while (runner->state != State::kIdle) pthread_cond_wait(&runner->changed, &runner->mutex);
  pthread_mutex_unlock(&runner->mutex);
}
