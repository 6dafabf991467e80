//===- ArtifactFile.h - An artifact that is being written -----------------===//
//
// An artifact may take hundreds of megabytes. It is written once, into the
// memory of a file without a name that lives as long as somebody has it open.
// Who reads it then maps it and holds no second copy.
//
//===----------------------------------------------------------------------===//
#ifndef FERRULE_FRONTEND_CORE_ARTIFACTFILE_H
#define FERRULE_FRONTEND_CORE_ARTIFACTFILE_H

#include <cstdint>

namespace ferrule::frontend {

class ArtifactFile {
public:
  ArtifactFile() = default;
  ~ArtifactFile();
  ArtifactFile(const ArtifactFile &) = delete;
  ArtifactFile &operator=(const ArtifactFile &) = delete;

  /// Gives the file `byteSize` bytes and maps them for writing; null when that
  /// cannot be had.
  uint8_t *create(uint64_t byteSize);

  /// Ends the writing.
  void finish();

  /// Copies the bytes to another file; false if that cannot be done.
  bool copyTo(int target) const;

  /// The open file, which the caller closes.
  int release();

  uint64_t size() const { return byteSize; }

private:
  int descriptor = -1;
  uint8_t *bytes = nullptr;
  uint64_t byteSize = 0;
};

} // namespace ferrule::frontend

#endif // FERRULE_FRONTEND_CORE_ARTIFACTFILE_H
