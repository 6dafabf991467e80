// The Python classes of the module, one source file each.
#ifndef FERRULE_FRONTEND_BINDINGS_RUNTIME_CLASSES_H_
#define FERRULE_FRONTEND_BINDINGS_RUNTIME_CLASSES_H_

#include <pybind11/pybind11.h>

#include <exception>
#include <vector>

#include "runtime/api/ferrule.hpp"

namespace ferrule::python {

// The runtime's table of `Kernel` objects, which must outlive the programs that are opened with it.
std::vector<FerruleExternalKernel> kernelTable(const pybind11::iterable &kernels);

// Opens encrypted weights by function(key name, ciphertext and tag, nonce, associated), which returns the weights, or None if
// the tag is wrong. What it raises is kept: the call that opens the program ends with it.
struct Decryption {
  pybind11::function function;
  std::exception_ptr raised = nullptr;

  // FerruleProgramOptions::decrypt; `context` is a Decryption. Needs the interpreter's lock.
  static FerruleStatusCode call(void *context, const FerruleEncryptedWeights *weights);
};

void bindEncryption(pybind11::module_ &module);
void bindKernel(pybind11::module_ &module);
void bindProgram(pybind11::module_ &module);
void bindSession(pybind11::module_ &module);

} // namespace ferrule::python

#endif // FERRULE_FRONTEND_BINDINGS_RUNTIME_CLASSES_H_
