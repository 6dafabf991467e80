//===- BindSubscripts.cpp - Subscripts of ints and slices -----------------===//

#include "frontend/bindings/compiler/Bindings.h"
#include "frontend/bindings/compiler/UserCode.h"

namespace ferrule::frontend::python {
namespace {

/// What a subscript of ints, slices, None and an Ellipsis takes from a tensor:
/// a slice of each axis, then the shape that ints and None make of the rows.
struct PlainSubscript {
  llvm::SmallVector<int64_t, 6> starts, stops, steps;
  llvm::SmallVector<int64_t, 6> rows; ///< Sizes of the result.
  bool isCut = false, isReshaped = false;

  void takeAll(int64_t size) {
    starts.push_back(0);
    stops.push_back(size);
    steps.push_back(1);
    rows.push_back(size);
  }

  void addAxis() {
    rows.push_back(1);
    isReshaped = true;
  }

  void take(int64_t size, int64_t start, int64_t stop, int64_t step) {
    starts.push_back(start);
    stops.push_back(stop);
    steps.push_back(step);
    isCut |= start != 0 || stop != size || step != 1;
  }

  /// False if the index is out of range.
  bool takePosition(int64_t size, PyObject *index) {
    int overflow = 0;
    int64_t position = PyLong_AsLongLongAndOverflow(index, &overflow);
    if (overflow || position < -size || position >= size)
      return false;
    position += position < 0 ? size : 0;
    take(size, position, position + 1, 1);
    isReshaped = true;
    return true;
  }

  /// False for a bound or step that is no int, and for the step 0.
  bool takeSlice(int64_t size, PyObject *part) {
    auto *slice = reinterpret_cast<PySliceObject *>(part);
    auto isPlain = [](PyObject *bound) { return bound == Py_None || PyLong_CheckExact(bound); };
    Py_ssize_t start, stop, step;
    if (!isPlain(slice->start) || !isPlain(slice->stop) || !isPlain(slice->step))
      return false;
    if (PySlice_Unpack(part, &start, &stop, &step) < 0) {
      PyErr_Clear();
      return false;
    }
    Py_ssize_t count = PySlice_AdjustIndices(size, &start, &stop, step);
    if (count)
      take(size, start, stop, step);
    else
      take(size, 0, 0, 1);
    rows.push_back(count);
    return true;
  }
};

py::list toList(llvm::ArrayRef<int64_t> values) {
  py::list list(values.size());
  for (size_t index = 0; index < values.size(); ++index)
    PyList_SET_ITEM(list.ptr(), index, PyLong_FromLongLong(values[index]));
  return list;
}

/// Empty for a subscript of another kind, and for one that is wrong.
std::optional<PlainSubscript> parse(llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<PyObject *> parts,
                                    bool &out_hasEllipsis) {
  size_t named = llvm::count_if(parts, [](PyObject *part) { return part != Py_None && part != Py_Ellipsis; });
  size_t ellipses = llvm::count(parts, Py_Ellipsis);
  if (ellipses > 1 || named > sizes.size())
    return std::nullopt;
  out_hasEllipsis = ellipses == 1;
  PlainSubscript result;
  auto getSize = [&] { return sizes[result.starts.size()]; };
  auto takeUnnamed = [&] {
    for (size_t count = sizes.size() - named; count; --count)
      result.takeAll(getSize());
  };
  for (PyObject *part : parts) {
    if (part == Py_None)
      result.addAxis();
    else if (part == Py_Ellipsis)
      takeUnnamed();
    else if (PySlice_Check(part) ? !result.takeSlice(getSize(), part)
                                 : !PyLong_CheckExact(part) || !result.takePosition(getSize(), part))
      return std::nullopt;
  }
  if (!ellipses)
    takeUnnamed();
  return result;
}

Shape toConstantShape(llvm::ArrayRef<int64_t> sizes) { return Shape(sizes.begin(), sizes.end()); }

/// Records one op on `operand`. The attributes come as they are, not as a dict that would have to be read.
TensorRef recordOp(llvm::StringRef op, TensorRef operand, std::initializer_list<OpAttribute> attributes,
                   const UserLine &line) {
  OpCall call;
  call.op = op.str();
  call.operands.push_back(std::move(operand));
  call.attributes.append(attributes);
  call.location = line.location;
  call.modulePath = getModulePath();
  return unwrap(getFrontend().apply(call)).front();
}

TensorRef record(const PlainSubscript &subscript, TensorRef operand) {
  UserLine line = getUserLine();
  if (subscript.isCut)
    operand = recordOp("slice", std::move(operand),
                       {{"starts", toConstantShape(subscript.starts)},
                        {"stops", toConstantShape(subscript.stops)},
                        {"steps", std::vector<int64_t>(subscript.steps.begin(), subscript.steps.end())}},
                       line);
  if (subscript.isReshaped)
    operand = recordOp("reshape", std::move(operand), {{"shape", toConstantShape(subscript.rows)}}, line);
  return operand;
}

/// read_plain_subscript(handle, index)
PyObject *readSubscript(PyObject *, PyObject *const *arguments, Py_ssize_t count) {
  if (count != 2) {
    PyErr_Format(PyExc_TypeError, "read_plain_subscript takes 2 arguments, not %zd", count);
    return nullptr;
  }
  return callFromPython([&]() -> py::object {
    auto tensor = py::handle(arguments[0]).cast<TensorRef>();
    auto sizes = getStaticSizes(tensor->getShape());
    if (!sizes)
      return py::none();
    PyObject *index = arguments[1];
    bool isTuple = PyTuple_CheckExact(index);
    llvm::ArrayRef<PyObject *> parts(isTuple ? PySequence_Fast_ITEMS(index) : &index,
                                     isTuple ? PyTuple_GET_SIZE(index) : 1);
    bool hasEllipsis = false;
    std::optional<PlainSubscript> found = parse(*sizes, parts, hasEllipsis);
    if (!found)
      return py::none();
    bool isView = !found->rows.empty() || hasEllipsis || (!found->isCut && !found->isReshaped);
    py::object slice = py::none(), rows = py::none();
    if (found->isCut)
      slice = py::make_tuple(toList(found->starts), toList(found->stops), toList(found->steps));
    if (found->isReshaped)
      rows = toList(found->rows);
    return py::make_tuple(record(*found, std::move(tensor)), std::move(slice), std::move(rows), isView);
  });
}

PyMethodDef subscriptMethod{
    "read_plain_subscript", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(readSubscript)), METH_FASTCALL,
    "read_plain_subscript(handle, index)\n\n"
    "Records what an index of ints, slices, None and an Ellipsis takes of a value whose sizes are numbers:\n"
    "(the handle of it, (starts, stops, steps) or None where every axis is whole, the shape that ints and None make of "
    "that or None where it stays, whether the result is a view: one element is a copy). None, and nothing recorded, for "
    "any other index, among them all that are wrong."};

} // namespace

void bindSubscripts(py::module_ &module) {
  module.attr("read_plain_subscript") = py::reinterpret_steal<py::object>(PyCFunction_New(&subscriptMethod, nullptr));
}

} // namespace ferrule::frontend::python
