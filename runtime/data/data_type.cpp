#include "runtime/data/data_type.h"

#include <string.h>

namespace ferrule::runtime {
namespace {

constexpr uint8_t kInt = 0, kUnsigned = 1, kFloat = 2, kBfloat = 4, kComplex = 5, kBool = 6;

constexpr DataTypeNames kTypes[] = {
    {kFloat, 64, "float64", "F64", "<f8"},   {kFloat, 32, "float32", "F32", "<f4"},
    {kFloat, 16, "float16", "F16", "<f2"},   {kBfloat, 16, "bfloat16", "BF16", ""},
    {kInt, 64, "int64", "I64", "<i8"},       {kInt, 32, "int32", "I32", "<i4"},
    {kInt, 16, "int16", "I16", "<i2"},       {kInt, 8, "int8", "I8", "|i1"},
    {kUnsigned, 64, "uint64", "U64", "<u8"}, {kUnsigned, 32, "uint32", "U32", "<u4"},
    {kUnsigned, 16, "uint16", "U16", "<u2"}, {kUnsigned, 8, "uint8", "U8", "|u1"},
    {kBool, 8, "bool", "BOOL", "|b1"},       {kComplex, 64, "complex64", "", "<c8"},
};

bool equals(const char* name, const char* text, size_t length) {
  return length != 0 && strlen(name) == length && memcmp(name, text, length) == 0;
}

}  // namespace

const DataTypeNames* find_data_type(const schema::DataType& dtype) {
  for (const DataTypeNames& type : kTypes)
    if (type.code == dtype.code() && type.bits == dtype.bits() && dtype.lanes() == 1) return &type;
  return nullptr;
}

const DataTypeNames* find_safetensors_type(const char* name, size_t length) {
  for (const DataTypeNames& type : kTypes)
    if (equals(type.safetensors, name, length)) return &type;
  return nullptr;
}

const DataTypeNames* find_npy_type(const char* descriptor, size_t length) {
  for (const DataTypeNames& type : kTypes)
    if (equals(type.npy, descriptor, length)) return &type;
  return nullptr;
}

const char* data_type_name(const schema::DataType& dtype) {
  const DataTypeNames* type = find_data_type(dtype);
  return type == nullptr ? "?" : type->name;
}

}  // namespace ferrule::runtime
