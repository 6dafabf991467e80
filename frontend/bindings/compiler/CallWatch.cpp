//===- CallWatch.cpp - Which Python functions are entered -----------------===//
//
// Weakness: a `__getitem__` of the user's that a function of this package runs
// by a subscript may be inlined there by the interpreter (3.11 does it for code
// that has run often) and is then not seen.
//
//===----------------------------------------------------------------------===//

// For the frame's code object, the only member that is read.
#define Py_BUILD_CORE
#include <Python.h>
#include <internal/pycore_frame.h>

#include "frontend/bindings/compiler/CallWatch.h"

#include "llvm/ADT/DenseMap.h"

#include <memory>

#if PY_VERSION_HEX < 0x030B0000 || PY_VERSION_HEX >= 0x030C0000
#error "CallWatch.cpp knows the frames of Python 3.11; 3.12 and later have sys.monitoring for this"
#endif

namespace ferrule::frontend::python {
namespace {

/// What is known of a code object; it is kept alive, so that no address is used
/// twice.
enum class CodeState { Internal, New, Entered };

struct Watch {
  PyThreadState *thread = nullptr;
  PyObject *onEnter = nullptr, *isInternal = nullptr;
  llvm::DenseMap<PyCodeObject *, CodeState> codes;
  Py_tracefunc previousProfile = nullptr;
  PyObject *previousProfileObject = nullptr;
  _PyFrameEvalFunction previousEvaluate = nullptr;
  bool isAsking = false; ///< `isInternal` runs, about whose own code it is not asked.

  ~Watch() {
    for (auto &entry : codes)
      Py_DECREF(entry.first);
    Py_XDECREF(onEnter);
    Py_XDECREF(isInternal);
    Py_XDECREF(previousProfileObject);
  }

  /// Somebody else looks at every call or line, also inside the package.
  bool isShared() const { return previousProfile || thread->c_tracefunc; }
};

std::unique_ptr<Watch> watch;

/// Sets the error of a frame that is thrown into (a generator that is closed) aside while others are asked about it: no
/// Python function may be called with an error set.
class PendingError {
public:
  PendingError() { PyErr_Fetch(&type, &value, &traceback); }
  ~PendingError() {
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
  }
  PendingError(const PendingError &) = delete;
  PendingError &operator=(const PendingError &) = delete;

  void restore() {
    if (type)
      PyErr_Restore(type, value, traceback);
    type = value = traceback = nullptr;
  }

private:
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
};

/// Null with a Python error set.
CodeState *findState(PyCodeObject *code) {
  auto found = watch->codes.find(code);
  if (found != watch->codes.end())
    return &found->second;
  watch->isAsking = true;
  PyObject *answer = PyObject_CallOneArg(watch->isInternal, reinterpret_cast<PyObject *>(code));
  watch->isAsking = false;
  int isInternal = answer ? PyObject_IsTrue(answer) : -1;
  Py_XDECREF(answer);
  if (isInternal < 0)
    return nullptr;
  Py_INCREF(code);
  return &watch->codes.try_emplace(code, isInternal ? CodeState::Internal : CodeState::New).first->second;
}

/// The profile function: sees the calls of all frames that run watched.
int noteCall(PyObject *, PyFrameObject *frame, int event, PyObject *argument) {
  if (event == PyTrace_CALL && !watch->isAsking) {
    PendingError pending;
    PyCodeObject *code = PyFrame_GetCode(frame);
    CodeState *state = findState(code);
    Py_DECREF(code); // The frame has it.
    if (!state)
      return -1;
    if (*state == CodeState::New) {
      *state = CodeState::Entered;
      PyObject *result = PyObject_CallOneArg(watch->onEnter, reinterpret_cast<PyObject *>(frame));
      if (!result)
        return -1;
      Py_DECREF(result);
    }
    pending.restore();
  }
  return watch->previousProfile ? watch->previousProfile(watch->previousProfileObject, frame, event, argument) : 0;
}

/// Runs a frame with or without events for the profile function.
PyObject *runFrame(PyThreadState *thread, _PyInterpreterFrame *frame, int isThrow) {
  if (!watch)
    return _PyEval_EvalFrameDefault(thread, frame, isThrow);
  _PyFrameEvalFunction run = watch->previousEvaluate;
  if (thread != watch->thread || thread->tracing || watch->isAsking || watch->isShared())
    return run(thread, frame, isThrow);
  PendingError pending;
  const CodeState *state = findState(frame->f_code);
  if (!state)
    return run(thread, frame, /*isThrow=*/1);
  pending.restore();
  // A frame takes the flag of the one that calls it, and leaves its own there.
  uint8_t before = thread->cframe->use_tracing;
  thread->cframe->use_tracing = *state == CodeState::Internal ? 0 : 255;
  PyObject *result = run(thread, frame, isThrow);
  thread->cframe->use_tracing = thread->c_profilefunc || thread->c_tracefunc ? before : 0;
  return result;
}

} // namespace

bool startCallWatch(PyObject *onEnter, PyObject *isInternal) {
  if (watch) {
    PyErr_SetString(PyExc_RuntimeError, "a call watch is active already");
    return false;
  }
  watch = std::make_unique<Watch>();
  watch->thread = PyThreadState_Get();
  watch->onEnter = Py_NewRef(onEnter);
  watch->isInternal = Py_NewRef(isInternal);
  watch->previousProfile = watch->thread->c_profilefunc;
  watch->previousProfileObject = Py_XNewRef(watch->thread->c_profileobj);
  PyInterpreterState *interpreter = PyThreadState_GetInterpreter(watch->thread);
  watch->previousEvaluate = _PyInterpreterState_GetEvalFrameFunc(interpreter);
  _PyInterpreterState_SetEvalFrameFunc(interpreter, runFrame);
  PyEval_SetProfile(noteCall, nullptr);
  return true;
}

void stopCallWatch() {
  if (!watch)
    return;
  std::unique_ptr<Watch> ended = std::move(watch);
  PyEval_SetProfile(ended->previousProfile, ended->previousProfileObject);
  _PyInterpreterState_SetEvalFrameFunc(PyThreadState_GetInterpreter(ended->thread), ended->previousEvaluate);
}

} // namespace ferrule::frontend::python
