// Philox4x32-10 (Salmon, Moraes, Dror and Shaw, 2011) for one counter or 16.
#ifndef FERRULE_KERNELS_RANDOM_PHILOX_H_
#define FERRULE_KERNELS_RANDOM_PHILOX_H_

#include "kernels/base/vector.h"

namespace ferrule::kernels {

// Four words a block; V is uint32_t or 16 of them.
template <typename V>
struct PhiloxBlock {
  V word[4];
};

template <typename V>
FERRULE_INLINE PhiloxBlock<V> philox(PhiloxBlock<V> counter, uint32_t key0, uint32_t key1) {
  using Wide = typename Rebind<V, uint64_t>::Type;
  V* const c = counter.word;
  for (int round = 0; round < 10; ++round) {
    const Wide product0 = convert_to<Wide>(c[0]) * uint64_t{0xD2511F53};
    const Wide product1 = convert_to<Wide>(c[2]) * uint64_t{0xCD9E8D57};
    const V x0 = convert_to<V>(product1 >> 32) ^ c[1] ^ key0;
    const V x2 = convert_to<V>(product0 >> 32) ^ c[3] ^ key1;
    c[0] = x0;
    c[1] = convert_to<V>(product1);
    c[2] = x2;
    c[3] = convert_to<V>(product0);
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  return counter;
}

// What a draw's blocks have in common.
struct RandomState {
  uint32_t seed[2], draw[2];
  explicit FERRULE_INLINE RandomState(const int64_t* state)
      : seed{static_cast<uint32_t>(state[0]), static_cast<uint32_t>(static_cast<uint64_t>(state[0]) >> 32)},
        draw{static_cast<uint32_t>(state[1]), static_cast<uint32_t>(static_cast<uint64_t>(state[1]) >> 32) << 16} {}

  // The blocks numbered `number` (uint64_t or 16 of them); attempts below 2^16 give others.
  template <typename V>
  FERRULE_INLINE PhiloxBlock<typename Rebind<V, uint32_t>::Type> block(V number, uint32_t attempt = 0) const {
    using Word = typename Rebind<V, uint32_t>::Type;
    return philox(PhiloxBlock<Word>{{convert_to<Word>(number), convert_to<Word>(number >> 32), (Word)draw[0],
                                     (Word)(draw[1] | attempt)}},
                  seed[0], seed[1]);
  }
};

}  // namespace ferrule::kernels

#endif  // FERRULE_KERNELS_RANDOM_PHILOX_H_
