#include "serialize/schema/sha256.h"

#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace ferrule::serialize {
namespace {

alignas(64) constexpr uint32_t kRoundConstants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

constexpr uint32_t kInitialState[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                       0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

inline uint32_t rotate_right(uint32_t value, int count) { return (value >> count) | (value << (32 - count)); }

inline uint32_t load_big_endian(const uint8_t* p) {
  return uint32_t{p[0]} << 24 | uint32_t{p[1]} << 16 | uint32_t{p[2]} << 8 | p[3];
}

void process_blocks(uint32_t state[8], const uint8_t* blocks, size_t block_count) {
  if (!sha256_blocks_native(state, blocks, block_count)) sha256_blocks_portable(state, blocks, block_count);
}

#if defined(__x86_64__)
bool cpu_has_sha() {
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || (c & bit_SSSE3) == 0 || (c & bit_SSE4_1) == 0) return false;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_SHA) != 0;
}

// The instructions keep the state as two vectors, {A, B, E, F} and {C, D, G, H} from the highest lane down.
__attribute__((target("sha,ssse3,sse4.1"))) void process_blocks_sha(uint32_t state[8], const uint8_t* blocks,
                                                                    size_t block_count) {
  const __m128i byte_swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  const __m128i dcba = _mm_loadu_si128(reinterpret_cast<const __m128i*>(state));
  const __m128i hgfe = _mm_loadu_si128(reinterpret_cast<const __m128i*>(state + 4));
  const __m128i cdab = _mm_shuffle_epi32(dcba, 0xB1);
  const __m128i efgh = _mm_shuffle_epi32(hgfe, 0x1B);
  __m128i abef = _mm_alignr_epi8(cdab, efgh, 8);
  __m128i cdgh = _mm_blend_epi16(efgh, cdab, 0xF0);
  for (; block_count != 0; --block_count, blocks += 64) {
    const __m128i abef_before = abef, cdgh_before = cdgh;
    __m128i w[4];  // the last 16 words of the message schedule
    for (int i = 0; i < 4; ++i) {
      w[i] = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(blocks + 16 * i)), byte_swap);
    }
    for (int group = 0; group < 16; ++group) {
      const __m128i words = w[group & 3];
      __m128i sum = _mm_add_epi32(words, _mm_load_si128(reinterpret_cast<const __m128i*>(kRoundConstants + 4 * group)));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0E));
      if (group < 12) {  // words 16 ahead take the place of those just used
        const __m128i next = w[(group + 1) & 3], third = w[(group + 2) & 3], last = w[(group + 3) & 3];
        const __m128i partial = _mm_add_epi32(_mm_sha256msg1_epu32(words, next), _mm_alignr_epi8(last, third, 4));
        w[group & 3] = _mm_sha256msg2_epu32(partial, last);
      }
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  const __m128i feba = _mm_shuffle_epi32(abef, 0x1B);
  const __m128i dchg = _mm_shuffle_epi32(cdgh, 0xB1);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(state), _mm_blend_epi16(feba, dchg, 0xF0));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}
#endif

}  // namespace

void sha256_blocks_portable(uint32_t state[8], const uint8_t* blocks, size_t block_count) {
  for (; block_count != 0; --block_count, blocks += 64) {
    uint32_t w[64];
    for (int i = 0; i < 16; ++i) w[i] = load_big_endian(blocks + 4 * i);
    for (int i = 16; i < 64; ++i) {
      const uint32_t s0 = rotate_right(w[i - 15], 7) ^ rotate_right(w[i - 15], 18) ^ (w[i - 15] >> 3);
      const uint32_t s1 = rotate_right(w[i - 2], 17) ^ rotate_right(w[i - 2], 19) ^ (w[i - 2] >> 10);
      w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    for (int i = 0; i < 64; ++i) {
      const uint32_t s1 = rotate_right(e, 6) ^ rotate_right(e, 11) ^ rotate_right(e, 25);
      const uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + kRoundConstants[i] + w[i];
      const uint32_t s0 = rotate_right(a, 2) ^ rotate_right(a, 13) ^ rotate_right(a, 22);
      const uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
      h = g;
      g = f;
      f = e;
      e = d + t1;
      d = c;
      c = b;
      b = a;
      a = t1 + t2;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
    state[5] += f;
    state[6] += g;
    state[7] += h;
  }
}

bool sha256_blocks_native(uint32_t state[8], const uint8_t* blocks, size_t block_count) {
#if defined(__x86_64__)
  // 0: not asked yet. Racing threads find the same answer.
  static int support = 0;
  int known = __atomic_load_n(&support, __ATOMIC_RELAXED);
  if (known == 0) {
    known = cpu_has_sha() ? 1 : -1;
    __atomic_store_n(&support, known, __ATOMIC_RELAXED);
  }
  if (known == 1) {
    process_blocks_sha(state, blocks, block_count);
    return true;
  }
#endif
  (void)state;
  (void)blocks;
  (void)block_count;
  return false;
}

Sha256::Sha256() { memcpy(state_, kInitialState, sizeof state_); }

void Sha256::update(const void* data, size_t byte_size) {
  if (byte_size == 0) return;
  const uint8_t* bytes = static_cast<const uint8_t*>(data);
  total_bytes_ += byte_size;
  if (buffered_ != 0) {
    const size_t taken = byte_size < 64 - buffered_ ? byte_size : 64 - buffered_;
    memcpy(buffer_ + buffered_, bytes, taken);
    buffered_ += taken;
    bytes += taken;
    byte_size -= taken;
    if (buffered_ < 64) return;
    process_blocks(state_, buffer_, 1);
    buffered_ = 0;
  }
  process_blocks(state_, bytes, byte_size / 64);
  buffered_ = byte_size % 64;
  memcpy(buffer_, bytes + byte_size - buffered_, buffered_);
}

void Sha256::finish(uint8_t out_digest[kSha256Bytes]) {
  const uint64_t total_bits = total_bytes_ * 8;
  uint8_t padding[72] = {0x80};
  const size_t zeros_to = buffered_ < 56 ? 56 - buffered_ : 120 - buffered_;
  for (int i = 0; i < 8; ++i) padding[zeros_to + i] = static_cast<uint8_t>(total_bits >> (56 - 8 * i));
  update(padding, zeros_to + 8);
  for (int i = 0; i < 8; ++i) {
    for (int byte = 0; byte < 4; ++byte) out_digest[4 * i + byte] = static_cast<uint8_t>(state_[i] >> (24 - 8 * byte));
  }
}

void sha256(const void* data, size_t byte_size, uint8_t out_digest[kSha256Bytes]) {
  Sha256 hash;
  hash.update(data, byte_size);
  hash.finish(out_digest);
}

void sha256_text(const uint8_t digest[kSha256Bytes], char out_text[2 * kSha256Bytes + 1]) {
  for (size_t i = 0; i < kSha256Bytes; ++i) {
    *out_text++ = "0123456789abcdef"[digest[i] >> 4];
    *out_text++ = "0123456789abcdef"[digest[i] & 15];
  }
  *out_text = '\0';
}

}  // namespace ferrule::serialize
