// Kernels that a Python process brings for external ops: a function of arrays, or the address of one in C.
#include <memory>

#include "frontend/bindings/runtime/Arrays.h"
#include "frontend/bindings/runtime/Classes.h"
#include "runtime/api/external_tensor.h"

namespace py = pybind11;

namespace ferrule::python {
namespace {

// What the runtime is told when a function in Python raises. Its traceback goes to sys.unraisablehook: a kernel's error is
// a number.
constexpr int32_t kRaised = 1000;

py::array arrayOf(const FerruleExternalTensor &tensor, bool writable) {
  const FerruleDataType dtype{static_cast<uint8_t>(tensor.code), static_cast<uint8_t>(tensor.bits), 1};
  const std::vector<py::ssize_t> shape(tensor.shape, tensor.shape + tensor.rank);
  // With a base NumPy copies nothing; the memory is the session's and valid for the call.
  py::array array(toNumpy(dtype), shape, tensor.data, py::none());
  if (!writable)
    array.attr("setflags")(py::arg("write") = false);
  return array;
}

class Kernel {
public:
  Kernel(std::string symbol, const py::object &implementation) : symbol(std::move(symbol)) { set(implementation); }

  // The function, or an address of `int32_t f(void* context, const FerruleKernelArgs*)`, called with a null context.
  void set(const py::object &implementation) {
    if (PyLong_Check(implementation.ptr())) {
      address = reinterpret_cast<Address>(implementation.cast<uintptr_t>());
      callable = py::none();
    } else {
      callable = implementation;
      address = nullptr;
    }
  }

  uintptr_t context() const { return reinterpret_cast<uintptr_t>(this); }
  static uintptr_t function() { return reinterpret_cast<uintptr_t>(&Kernel::call); }
  const std::string &name() const { return symbol; }

private:
  using Address = int32_t (*)(void *context, const FerruleKernelArgs *args);

  static int32_t call(void *context, const FerruleKernelArgs *args) {
    auto &kernel = *static_cast<Kernel *>(context);
    if (kernel.address != nullptr)
      return kernel.address(nullptr, args);
    // A function of whole arrays computes them in the call that has the first tile.
    if (args->tile_begin != 0)
      return 0;
    const py::gil_scoped_acquire acquire;
    try {
      kernel.callPython(args);
      return 0;
    } catch (py::error_already_set &error) {
      error.restore();
    } catch (const std::exception &error) {
      PyErr_SetString(PyExc_RuntimeError, error.what());
    }
    PyErr_WriteUnraisable(kernel.callable.ptr());
    return kRaised;
  }

  void callPython(const FerruleKernelArgs *args) const {
    const int64_t resultCount = ferrule_external_result_count(args);
    py::list operands;
    for (int64_t i = 0; i < ferrule_external_operand_count(args); ++i)
      operands.append(arrayOf(ferrule_external_tensor(args, resultCount + i), false));
    py::object made = callable(*operands);
    if (resultCount == 1 && !py::isinstance<py::tuple>(made) && !py::isinstance<py::list>(made))
      made = py::make_tuple(made);
    const py::tuple results(made);
    if (static_cast<int64_t>(results.size()) != resultCount)
      throw py::value_error(symbol + " returned " + std::to_string(results.size()) + " arrays; its op has " +
                            std::to_string(resultCount) + " results");
    for (int64_t i = 0; i < resultCount; ++i)
      store(results[i], arrayOf(ferrule_external_tensor(args, i), true), i);
  }

  void store(const py::object &value, const py::array &place, int64_t number) const {
    const auto array = py::module_::import("numpy").attr("asarray")(value);
    if (!array.attr("shape").equal(place.attr("shape")) || !array.attr("dtype").equal(place.attr("dtype")))
      throw py::value_error(symbol + " returned " + text(array) + " as result " + std::to_string(number) +
                            "; its op says " + text(place));
    place[py::ellipsis()] = array;
  }

  static std::string text(const py::object &array) {
    return py::str(array.attr("dtype")).cast<std::string>() + py::str(array.attr("shape")).cast<std::string>();
  }

  std::string symbol;
  py::object callable;
  Address address = nullptr;
};

} // namespace

std::vector<FerruleExternalKernel> kernelTable(const py::iterable &kernels) {
  std::vector<FerruleExternalKernel> table;
  for (const py::handle &handle : kernels) {
    const auto &kernel = handle.cast<const Kernel &>();
    table.push_back({sizeof(FerruleExternalKernel), kernel.name().c_str(), reinterpret_cast<void *>(kernel.context()),
                     reinterpret_cast<int32_t (*)(void *, const FerruleKernelArgs *)>(Kernel::function())});
  }
  return table;
}

void bindKernel(py::module_ &module) {
  py::class_<Kernel>(module, "Kernel",
                     "What stands in for an external op: Kernel(symbol, function of arrays or the address of a C function).")
      .def(py::init<std::string, const py::object &>(), py::arg("symbol"), py::arg("implementation"))
      .def("set", &Kernel::set, py::arg("implementation"), "Another one, for programs that are open, too.")
      .def_property_readonly("symbol", &Kernel::name)
      .def_property_readonly("context", &Kernel::context, "The address that `function` is called with.")
      .def_property_readonly_static("function", [](const py::object &) { return Kernel::function(); });
}

} // namespace ferrule::python
