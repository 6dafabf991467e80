//===- CallWatch.h - Which Python functions are entered -------------------===//
//
// A recording has to know each function of the user that runs in it. Python's
// own means, a profile function, makes all code run about twice as slowly, and
// most of what runs is this package's. So the profile function stays on while
// the user's functions run and is off inside the package's.
//
//===----------------------------------------------------------------------===//
#ifndef FERRULE_FRONTEND_BINDINGS_COMPILER_CALLWATCH_H
#define FERRULE_FRONTEND_BINDINGS_COMPILER_CALLWATCH_H

typedef struct _object PyObject;

namespace ferrule::frontend::python {

/// From here on `isInternal(code)` says of each code object, once, whether it is
/// one that may run unwatched, and `onEnter(frame)` is called when this thread
/// enters one of the others for the first time. A profile function that is set
/// goes on and sees everything. One watch at a time; the interpreter's lock is
/// held. Returns false with a Python error set.
bool startCallWatch(PyObject *onEnter, PyObject *isInternal);

/// Ends it, on the thread that started it.
void stopCallWatch();

} // namespace ferrule::frontend::python

#endif // FERRULE_FRONTEND_BINDINGS_COMPILER_CALLWATCH_H
