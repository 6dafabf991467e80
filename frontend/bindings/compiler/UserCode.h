//===- UserCode.h - Where in the user's program we are --------------------===//
//
// Every op that is recorded gets the line of the innermost frame that is the
// user's own, so the frames are walked here and not in Python.
//
//===----------------------------------------------------------------------===//
#ifndef FERRULE_FRONTEND_BINDINGS_COMPILER_USERCODE_H
#define FERRULE_FRONTEND_BINDINGS_COMPILER_USERCODE_H

#include "frontend/core/SourceLocation.h"

#include <string>

typedef struct _object PyObject;

namespace ferrule::frontend::python {

/// A line of the user's program: the core's form, and "file.py:12" as Python's
/// str, which lives as long as the process; "" where no frame is the user's.
struct UserLine {
  PyObject *text = nullptr;
  SourceLocation location;
};

/// A callable that says of a code object whether its frames are passed over;
/// asked once for each. Without one every frame is the user's.
void setInternalCode(PyObject *isInternal);

/// The line of the innermost frame of this thread that is the user's; without a
/// text a Python error is set.
UserLine findUserLine();

/// This thread's modules being called, outermost first: "net.block1.conv".
const std::string &getModulePath();
void pushModule(const std::string &name);
void popModule();

} // namespace ferrule::frontend::python

#endif // FERRULE_FRONTEND_BINDINGS_COMPILER_USERCODE_H
