/* The C API has every function, field and value of each of its versions, where a product that was compiled then looks for
   them: a change of ferrule.h that breaks one does not compile here. */
#include "runtime/api/ferrule.h"

#define ABI_CONSTANT(name, value) _Static_assert(name == value, #name);
/* Structs may grow: their first field says how far the caller knows them. */
#define ABI_STRUCT(name, size) _Static_assert(sizeof(name) >= size, #name);
#define ABI_FIELD(type, field, offset, size) \
  _Static_assert(offsetof(type, field) == offset && sizeof(((type*)0)->field) == size, #type "." #field);
#define ABI_FUNCTION(result, name, arguments) \
  _Static_assert(_Generic(&name, result(*) arguments: 1, default: 0), #name);
#include "runtime/api/abi_v1.inc"
#undef ABI_CONSTANT
#undef ABI_STRUCT
#undef ABI_FIELD
#undef ABI_FUNCTION

/* The library defines them all: this file would not link. */
#define ABI_CONSTANT(name, value)
#define ABI_STRUCT(name, size)
#define ABI_FIELD(type, field, offset, size)
#define ABI_FUNCTION(result, name, arguments) (void (*)(void))name,
static void (*const functions[])(void) = {
#include "runtime/api/abi_v1.inc"
};

int main(void) {
  for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); ++i)
    if (functions[i] == 0) return 1;
  return ferrule_api_version() == FERRULE_API_VERSION ? 0 : 1;
}
