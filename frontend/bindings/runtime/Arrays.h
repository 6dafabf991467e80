// NumPy arrays and the runtime's tensors.
#ifndef FERRULE_FRONTEND_BINDINGS_RUNTIME_ARRAYS_H_
#define FERRULE_FRONTEND_BINDINGS_RUNTIME_ARRAYS_H_

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <string>

#include "runtime/api/ferrule.h"

namespace ferrule::python {

// "float32". bfloat16 is ml_dtypes'.
std::string dtypeName(FerruleDataType dtype);
pybind11::dtype toNumpy(FerruleDataType dtype);
// Code 255 for a dtype that the runtime does not know, which no tensor has.
FerruleDataType fromNumpy(const pybind11::dtype &dtype);

// The array itself, or a row-major copy in native byte order; TypeError if the object is no array.
pybind11::array contiguous(const pybind11::handle &value);

// Refers to the array's memory; `array` must be contiguous and outlive it.
FerruleTensor tensorOf(const pybind11::array &array);

pybind11::tuple shapeTuple(const int64_t *shape, uint32_t rank);

} // namespace ferrule::python

#endif // FERRULE_FRONTEND_BINDINGS_RUNTIME_ARRAYS_H_
