/* load_net LIBRARY ARTIFACT: what the Android system and app do with the library of runtime/examples/android: loads it, reads
   the artifact as an asset lies in memory, and predicts. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/examples/android/net.h"

static void* asset(const char* path, long* size) {
  FILE* file = fopen(path, "rb");
  void* bytes = NULL;
  if (file == NULL || fseek(file, 0, SEEK_END) != 0) return NULL;
  *size = ftell(file);
  rewind(file);
  if (posix_memalign(&bytes, 4096, (size_t)*size) != 0 || fread(bytes, 1, (size_t)*size, file) != (size_t)*size) return NULL;
  fclose(file);
  return bytes;
}

int main(int argc, char** argv) {
  const float x[4] = {0, 1, 2, 3};
  float y[4] = {0};
  char message[512] = "";
  long size = 0;
  void* library = argc == 3 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  if (library == NULL) return fprintf(stderr, "%s\n", argc == 3 ? dlerror() : "usage: load_net LIBRARY ARTIFACT"), 1;
  Net* (*open_net)(const void*, uint64_t, char*, uint64_t) = (Net * (*)(const void*, uint64_t, char*, uint64_t)) dlsym(library, "net_open");
  int (*predict)(Net*, const float*, float*, char*, uint64_t) =
      (int (*)(Net*, const float*, float*, char*, uint64_t))dlsym(library, "net_predict");
  void (*close_net)(Net*) = (void (*)(Net*))dlsym(library, "net_close");
  void* bytes = asset(argv[2], &size);
  Net* net = bytes == NULL ? NULL : open_net(bytes, (uint64_t)size, message, sizeof(message));
  if (net == NULL || predict(net, x, y, message, sizeof(message)) != 0) return fprintf(stderr, "%s\n", message), 1;
  printf("%g %g %g %g\n", y[0], y[1], y[2], y[3]);
  close_net(net);
  free(bytes);
  return dlclose(library);
}
