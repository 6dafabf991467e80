//===- UserCode.cpp - Where in the user's program we are ------------------===//

// For the frames of the interpreter; the objects that Python makes of them cost
// more than all the rest of a walk.
#define Py_BUILD_CORE
#include <Python.h>
#include <internal/pycore_frame.h>

#include "frontend/bindings/compiler/UserCode.h"

#include "llvm/ADT/DenseMap.h"

#include <vector>

#if PY_VERSION_HEX < 0x030B0000 || PY_VERSION_HEX >= 0x030C0000
#error "UserCode.cpp knows the frames of Python 3.11; in 3.12 they are found through PyThreadState.current_frame"
#endif

namespace ferrule::frontend::python {
namespace {

/// What is known of code objects, which are kept alive, so that no address is
/// used twice.
struct Known {
  PyObject *isInternal = nullptr;
  llvm::DenseMap<PyCodeObject *, bool> internal;
  llvm::DenseMap<std::pair<PyCodeObject *, int>, UserLine> lines; ///< By the instruction.
};

Known &getKnown() {
  static auto *known = new Known;
  return *known;
}

/// 1, 0, or -1 with a Python error set.
int isInternal(PyCodeObject *code) {
  Known &known = getKnown();
  auto found = known.internal.find(code);
  if (found != known.internal.end())
    return found->second;
  int answer = 0;
  if (known.isInternal) {
    PyObject *result = PyObject_CallOneArg(known.isInternal, reinterpret_cast<PyObject *>(code));
    answer = result ? PyObject_IsTrue(result) : -1;
    Py_XDECREF(result);
    if (answer < 0)
      return -1;
  }
  if (known.internal.try_emplace(code, answer != 0).second)
    Py_INCREF(code);
  return answer;
}

/// Written with the file's base name, so that the same program compiles to the
/// same bytes wherever it lies. Without a text a Python error is set.
void describe(PyCodeObject *code, int instruction, UserLine &out_line) {
  const char *name = PyUnicode_AsUTF8(code->co_filename);
  if (!name)
    return;
  llvm::StringRef file(name);
  int number = PyCode_Addr2Line(code, instruction * static_cast<int>(sizeof(_Py_CODEUNIT)));
  std::string text = file.substr(file.rfind('/') + 1).str() + ":" + std::to_string(number);
  out_line.text = PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
  out_line.location = SourceLocation::parse(text);
}

} // namespace

void setInternalCode(PyObject *isInternal) {
  Known &known = getKnown();
  Py_XDECREF(known.isInternal);
  known.isInternal = Py_NewRef(isInternal);
  known.internal.clear(); // The code objects stay alive for `lines`.
}

UserLine findUserLine() {
  static const UserLine nobody{PyUnicode_FromString(""), {}};
  _PyInterpreterFrame *frame = PyThreadState_Get()->cframe->current_frame;
  for (; frame; frame = frame->previous) {
    if (_PyFrame_IsIncomplete(frame))
      continue;
    int internal = isInternal(frame->f_code);
    if (internal < 0)
      return {};
    if (internal)
      continue;
    int instruction = _PyInterpreterFrame_LASTI(frame);
    UserLine &line = getKnown().lines[{frame->f_code, instruction}];
    if (!line.text)
      describe(frame->f_code, instruction, line);
    return line;
  }
  return nobody;
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

namespace {

/// The path at each depth; the first is that outside of any module.
thread_local std::vector<std::string> modulePaths{""};

} // namespace

const std::string &getModulePath() { return modulePaths.back(); }

void pushModule(const std::string &name) {
  const std::string &outer = modulePaths.back();
  modulePaths.push_back(outer.empty() ? name : outer + "." + name);
}

void popModule() {
  if (modulePaths.size() > 1)
    modulePaths.pop_back();
}

} // namespace ferrule::frontend::python
