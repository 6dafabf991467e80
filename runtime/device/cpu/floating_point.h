// The floating-point state that every kernel runs in: round to nearest even, denormals kept (FTZ and DAZ off), no
// traps. A caller may have set another state, and so may the owner of a thread pool that was lent to us.
#ifndef FERRULE_RUNTIME_DEVICE_CPU_FLOATING_POINT_H_
#define FERRULE_RUNTIME_DEVICE_CPU_FLOATING_POINT_H_

#include <stdint.h>

namespace ferrule::runtime {

// Sets that state on the calling thread and restores the previous one, sticky exception flags aside.
class FloatingPointScope {
 public:
  FloatingPointScope() : previous_(read()) {
    if (control(previous_) != kDefault) write(kDefault);
  }
  ~FloatingPointScope() {
    if (control(previous_) != kDefault) write(previous_);
  }
  FloatingPointScope(const FloatingPointScope&) = delete;
  FloatingPointScope& operator=(const FloatingPointScope&) = delete;

 private:
#if defined(__x86_64__)
  using Word = uint32_t;
  static constexpr Word kDefault = 0x1f80;  // MXCSR: all exceptions masked, everything else 0
  static constexpr Word kSticky = 0x3f;     // exception flags that operations set: no control
  static Word read() { return __builtin_ia32_stmxcsr(); }
  static void write(Word word) { __builtin_ia32_ldmxcsr(word); }
#elif defined(__aarch64__)
  using Word = uint64_t;
  static constexpr Word kDefault = 0;  // FPCR; its flags live in FPSR
  static constexpr Word kSticky = 0;
  static Word read() {
    Word word;
    asm volatile("mrs %0, fpcr" : "=r"(word));
    return word;
  }
  static void write(Word word) { asm volatile("msr fpcr, %0" ::"r"(word)); }
#else
#error "Ferrule's CPU runtime supports x86-64 and AArch64"
#endif
  static Word control(Word word) { return word & ~kSticky; }

  Word previous_;
};

}  // namespace ferrule::runtime

#endif  // FERRULE_RUNTIME_DEVICE_CPU_FLOATING_POINT_H_
