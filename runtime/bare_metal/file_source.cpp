// There are no files: artifacts are opened in memory, e.g. where the linker put them.
#include "runtime/program/byte_source.h"

namespace ferrule::runtime {
namespace {

Status no_files(const char* path) {
  return Status::error(StatusCode::kUnsupported, "cannot open %s: this build of the runtime has no files", path);
}

}  // namespace

FilePages::~FilePages() = default;
ByteSource::~ByteSource() = default;
Status ByteSource::open_file(const char* path) { return no_files(path); }
Status ByteSource::read_file(uint64_t, void*, uint64_t) const { return no_files(name_); }
Status ByteSource::map(uint64_t, uint64_t, FilePages*) const { return no_files(name_); }

}  // namespace ferrule::runtime
