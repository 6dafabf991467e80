// The names of element types: ours and NumPy's ("float32"), safetensors' ("F32"), and .npy's ("<f4").
#ifndef FERRULE_RUNTIME_DATA_DATA_TYPE_H_
#define FERRULE_RUNTIME_DATA_DATA_TYPE_H_

#include <stddef.h>
#include <stdint.h>

#include "serialize/schema/program_schema.h"

namespace ferrule::runtime {

struct DataTypeNames {
  uint8_t code, bits;  // as in DLPack
  char name[10];
  char safetensors[5];  // "": the format has no such type
  char npy[4];          // "": the format has no such type
};

// Null for a type that is not in the table.
const DataTypeNames* find_data_type(const schema::DataType& dtype);
const DataTypeNames* find_safetensors_type(const char* name, size_t length);
const DataTypeNames* find_npy_type(const char* descriptor, size_t length);

// "float32", or "?" for a type that is not in the table.
const char* data_type_name(const schema::DataType& dtype);

inline bool same_type(const schema::DataType& a, const schema::DataType& b) {
  return a.code() == b.code() && a.bits() == b.bits() && a.lanes() == b.lanes();
}

}  // namespace ferrule::runtime

#endif  // FERRULE_RUNTIME_DATA_DATA_TYPE_H_
