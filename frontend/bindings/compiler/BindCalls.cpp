//===- BindCalls.cpp - Composite functions whose calls are remembered -----===//

#include "frontend/bindings/compiler/Bindings.h"
#include "frontend/bindings/compiler/UserCode.h"
#include "frontend/core/CallPrototype.h"

#include "llvm/ADT/StringMap.h"

namespace ferrule::frontend::python {
namespace {

//===----------------------------------------------------------------------===//
// What makes two calls alike
//===----------------------------------------------------------------------===//

PyObject *getInterned(const char *name) {
  PyObject *text = PyUnicode_InternFromString(name);
  if (!text)
    throw py::error_already_set();
  return text;
}

/// The handle of a `ferrule.Tensor`.
TensorRef getHandle(PyObject *tensor) {
  static PyObject *const name = getInterned("_handle");
  auto handle = py::reinterpret_steal<py::object>(PyObject_GetAttr(tensor, name));
  if (!handle)
    throw py::error_already_set();
  return handle.cast<TensorRef>();
}

/// Everything that a call's ops may depend on, as bytes: the types and shapes of its tensors and which of them are the
/// same, and its other arguments by type and value.
class CallKey {
public:
  explicit CallKey(PyTypeObject *tensorType) : tensorType(tensorType) {}

  /// False for an argument of another kind than tensors, numbers, strings, None, and lists and tuples of these.
  bool add(PyObject *value) {
    if (PyType_IsSubtype(Py_TYPE(value), tensorType)) {
      objects.push_back(value);
      return addTensor(getHandle(value));
    }
    if (PyLong_CheckExact(value)) {
      int overflow = 0;
      int64_t number = PyLong_AsLongLongAndOverflow(value, &overflow);
      append('i', number);
      return !overflow;
    }
    if (PyFloat_CheckExact(value))
      return append('f', PyFloat_AS_DOUBLE(value));
    if (PyBool_Check(value))
      return append('b', value == Py_True);
    if (value == Py_None)
      return append('n', '\0');
    if (PyUnicode_CheckExact(value))
      return addText(value);
    if (PyTuple_CheckExact(value) || PyList_CheckExact(value))
      return addSequence(value);
    return false;
  }

  bool addNamed(PyObject *dict) {
    PyObject *name, *value;
    for (Py_ssize_t place = 0; PyDict_Next(dict, &place, &name, &value);)
      if (!addText(name) || !add(value))
        return false;
    return true;
  }

  llvm::StringRef getText() const { return {text.data(), text.size()}; }

  /// Each tensor once, in the order of the arguments.
  llvm::SmallVector<TensorRef, 4> tensors;
  /// The arguments, borrowed, that are tensors.
  llvm::SmallVector<PyObject *, 4> objects;

private:
  template <typename T> bool append(char kind, T value) {
    text.push_back(kind);
    const char *bytes = reinterpret_cast<const char *>(&value);
    text.append(bytes, bytes + sizeof(T));
    return true;
  }

  bool addTensor(TensorRef tensor) {
    size_t number = llvm::find(tensors, tensor) - tensors.begin();
    append('t', number);
    if (number < tensors.size())
      return true;
    append('d', tensor->getType());
    append('r', tensor->getShape().size());
    for (const DimExpr &size : tensor->getShape()) {
      std::optional<int64_t> constant = size.getConstant();
      if (!constant)
        return false;
      append('s', *constant);
    }
    tensors.push_back(std::move(tensor));
    return true;
  }

  bool addText(PyObject *string) {
    Py_ssize_t size = 0;
    const char *bytes = PyUnicode_AsUTF8AndSize(string, &size);
    if (!bytes)
      throw py::error_already_set();
    append('u', size);
    text.append(bytes, bytes + size);
    return true;
  }

  bool addSequence(PyObject *sequence) {
    Py_ssize_t size = PySequence_Fast_GET_SIZE(sequence);
    append(PyList_CheckExact(sequence) ? 'l' : 'p', size);
    for (Py_ssize_t index = 0; index < size; ++index)
      if (!add(PySequence_Fast_GET_ITEM(sequence, index)))
        return false;
    return true;
  }

  PyTypeObject *tensorType;
  llvm::SmallVector<char, 256> text;
};

//===----------------------------------------------------------------------===//
// One function
//===----------------------------------------------------------------------===//

/// How a call returns its tensors; without a prototype it has to run each time.
struct KnownCall {
  enum Form { Single, Tuple, List } form = Single;
  std::unique_ptr<CallPrototype> prototype;
};

/// A composite function and the calls of it that were recorded.
class RememberedFunction {
public:
  /// Another kind of call than these makes all be forgotten: a program whose sizes change all the time has no use for them.
  static constexpr unsigned maximumCalls = 1024;

  RememberedFunction(py::object function, py::object tensorType)
      : function(std::move(function)), tensorType(std::move(tensorType)), wrap(this->tensorType.attr("_wrap")) {}

  py::object call(PyObject *arguments, PyObject *named) {
    LazyRecorder &recorder = getFrontend().getRecorder();
    CallKey key(reinterpret_cast<PyTypeObject *>(tensorType.ptr()));
    if (getFrontend().getTrace() || recorder.isInRegion() || !key.add(arguments) || !key.addNamed(named))
      return run(arguments, named);
    auto found = calls.find(key.getText());
    if (found == calls.end())
      return record(key, arguments, named);
    if (!found->second.prototype)
      return run(arguments, named);
    CallSite site{getUserLine().location, getModulePath()};
    auto results = unwrap(found->second.prototype->record(recorder, key.tensors, site));
    return give(found->second.form, results);
  }

private:
  py::object run(PyObject *arguments, PyObject *named) {
    auto result = py::reinterpret_steal<py::object>(PyObject_Call(function.ptr(), arguments, named));
    if (!result)
      throw py::error_already_set();
    return result;
  }

  /// Runs the function and remembers what it recorded.
  py::object record(const CallKey &key, PyObject *arguments, PyObject *named) {
    LazyRecorder &recorder = getFrontend().getRecorder();
    RecordMark mark(recorder);
    py::object result = run(arguments, named);
    KnownCall known;
    llvm::SmallVector<TensorRef, 2> handles;
    if (collect(result, key, known.form, handles))
      known.prototype = CallPrototype::take(recorder, mark, key.tensors, handles);
    if (calls.size() == maximumCalls)
      calls.clear();
    calls[key.getText()] = std::move(known);
    return result;
  }

  /// The handles of `result`; false unless it is new tensors that share no elements with others.
  bool collect(py::handle result, const CallKey &key, KnownCall::Form &out_form,
               llvm::SmallVectorImpl<TensorRef> &out_handles) {
    auto collectOne = [&](PyObject *item) {
      py::handle tensor(item);
      bool isNew = Py_TYPE(item) == reinterpret_cast<PyTypeObject *>(tensorType.ptr()) &&
                   !llvm::is_contained(key.objects, item) && tensor.attr("_variable").is_none() &&
                   tensor.attr("_name").is_none();
      if (py::object view = isNew ? py::object(tensor.attr("_view")) : py::none(); !view.is_none())
        isNew = view.attr("is_alone")().cast<bool>();
      if (isNew)
        out_handles.push_back(getHandle(item));
      return isNew;
    };
    bool isTuple = PyTuple_CheckExact(result.ptr());
    if (!isTuple && !PyList_CheckExact(result.ptr()))
      return collectOne(result.ptr());
    out_form = isTuple ? KnownCall::Tuple : KnownCall::List;
    llvm::ArrayRef<PyObject *> items(PySequence_Fast_ITEMS(result.ptr()), PySequence_Fast_GET_SIZE(result.ptr()));
    return llvm::all_of(items, collectOne);
  }

  py::object give(KnownCall::Form form, llvm::ArrayRef<TensorRef> handles) {
    if (form == KnownCall::Single)
      return wrap(handles.front());
    py::list results(handles.size());
    for (auto [index, handle] : llvm::enumerate(handles))
      results[index] = wrap(handle);
    return form == KnownCall::List ? py::object(results) : py::object(py::tuple(results));
  }

  py::object function, tensorType, wrap;
  llvm::StringMap<KnownCall> calls;
};

constexpr const char *capsuleName = "ferrule.RememberedFunction";

/// call(args, kwargs)
PyObject *callRemembered(PyObject *self, PyObject *const *arguments, Py_ssize_t count) {
  if (count != 2 || !PyTuple_CheckExact(arguments[0]) || !PyDict_CheckExact(arguments[1])) {
    PyErr_SetString(PyExc_TypeError, "a remembered function takes a tuple and a dict of arguments");
    return nullptr;
  }
  auto &function = *static_cast<RememberedFunction *>(PyCapsule_GetPointer(self, capsuleName));
  return callFromPython([&] { return function.call(arguments[0], arguments[1]); });
}

PyMethodDef callMethod{"call",
                       reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(callRemembered)), METH_FASTCALL,
                       "call(args, kwargs): the function's result for these arguments."};

} // namespace

void bindCalls(py::module_ &module) {
  module.def(
      "remember_calls",
      [](py::object function, py::object tensorType) {
        // Kept for the life of the process, as functions of a package are.
        auto *remembered = new RememberedFunction(std::move(function), std::move(tensorType));
        auto self = py::reinterpret_steal<py::object>(PyCapsule_New(remembered, capsuleName, nullptr));
        return py::reinterpret_steal<py::object>(PyCFunction_New(&callMethod, self.ptr()));
      },
      py::arg("function"), py::arg("tensor_type"),
      "A callable (args, kwargs) that calls `function`, and in dynamic mode records calls like earlier ones without it.\n\n"
      "What the function records must follow from its arguments: the dtypes and shapes of tensors, and the others' types "
      "and values. It neither writes tensors nor draws random numbers nor looks at values.");
}

} // namespace ferrule::frontend::python
