// SHA-256 (FIPS 180-4) for the hashes of an artifact. No allocation, no library; uses the CPU's SHA instructions if it
// has them.
#ifndef FERRULE_SERIALIZE_SCHEMA_SHA256_H_
#define FERRULE_SERIALIZE_SCHEMA_SHA256_H_

#include <stddef.h>
#include <stdint.h>

namespace ferrule::serialize {

inline constexpr size_t kSha256Bytes = 32;

// Bytes may come in any pieces; finish() ends it and may be called once.
class Sha256 {
 public:
  Sha256();
  void update(const void* data, size_t byte_size);
  void finish(uint8_t out_digest[kSha256Bytes]);

 private:
  uint32_t state_[8];
  uint64_t total_bytes_ = 0;
  size_t buffered_ = 0;
  uint8_t buffer_[64];
};

void sha256(const void* data, size_t byte_size, uint8_t out_digest[kSha256Bytes]);

// Lower-case hexadecimal, zero-terminated.
void sha256_text(const uint8_t digest[kSha256Bytes], char out_text[2 * kSha256Bytes + 1]);

// For tests: the two block functions, which must agree. sha256_blocks_native is false where the CPU lacks SHA
// instructions.
void sha256_blocks_portable(uint32_t state[8], const uint8_t* blocks, size_t block_count);
bool sha256_blocks_native(uint32_t state[8], const uint8_t* blocks, size_t block_count);

}  // namespace ferrule::serialize

#endif  // FERRULE_SERIALIZE_SCHEMA_SHA256_H_
