// There are no files: variables go in and out through get and set.
#include "runtime/data/file.h"

namespace ferrule::runtime {
namespace {

Status no_files(const char* path) {
  return Status::error(StatusCode::kUnsupported, "'%s' was asked for, but this build of the runtime has no files", path);
}

}  // namespace

Status MappedFile::open(const char* path) { return no_files(path); }
void MappedFile::close() {}

Status AtomicFile::create(const char* path) { return no_files(path); }
Status AtomicFile::write(const void*, size_t) { return no_files(path_); }
Status AtomicFile::commit() { return no_files(path_); }
void AtomicFile::abandon() {}

}  // namespace ferrule::runtime
