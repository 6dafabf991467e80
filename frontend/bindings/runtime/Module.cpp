// ferrule._runtime: programs and sessions from Python, without the compiler.
#include <pybind11/stl.h>

#include "frontend/bindings/runtime/Classes.h"
#include "frontend/bindings/runtime/Errors.h"
#include "kernels/base/peak/machine_peak.h"

namespace {

pybind11::dict machinePeak(const std::string &target, const std::vector<int64_t> &sizes) {
  using namespace ferrule::kernels;
  const VectorUnit unit = vector_unit_of(target.c_str());
  pybind11::dict loads, result;
  for (const int64_t size : sizes)
    loads[pybind11::int_(size)] = load_gb_per_second(unit, size);
  result["gflops"] = fma_peak_gflops(unit);
  result["load_gb_per_second"] = loads;
  return result;
}

} // namespace

PYBIND11_MODULE(_runtime, module) {
  module.doc() = "The Ferrule runtime: opens artifacts and runs them.";
  module.def("set_error_classes", &ferrule::python::setErrorClasses, pybind11::arg("classes"),
             "Registers the exception classes ArtifactError, ExecutionError and UnsupportedError by name.");
  module.def("machine_peak", &machinePeak, pybind11::arg("target"), pybind11::arg("sizes"),
             "What one core reaches with the vector registers of a target's code: GFLOP/s of multiply-adds in float32, and "
             "GB/s of loads from buffers of each of the sizes in bytes. Zeros if this machine lacks the registers.");
  ferrule::python::bindKernel(module);
  ferrule::python::bindProgram(module);
  ferrule::python::bindEncryption(module);
  ferrule::python::bindSession(module);
}
