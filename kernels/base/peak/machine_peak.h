// What one core of this machine reaches, measured: the denominators of benchmarks and profiles.
#ifndef FERRULE_KERNELS_BASE_PEAK_MACHINE_PEAK_H_
#define FERRULE_KERNELS_BASE_PEAK_MACHINE_PEAK_H_

#include <stdint.h>

namespace ferrule::kernels {

// The vector registers that a measurement uses.
enum class VectorUnit { kNone, kNeon, kAvx2, kAvx512 };

// What code for a target of an artifact ("x86-64-v4") uses, if this machine has it; else kNone.
VectorUnit vector_unit_of(const char* target);

// CPU time of the calling thread: other processes may take the core without spoiling a measurement.
double thread_seconds();

// f32 GFLOP/s of a loop of independent fused multiply-adds, the best of 20 runs of about a millisecond. The CPU must
// have the unit; kNone gives 0.
double fma_peak_gflops(VectorUnit unit);

// GB/s of loads from a buffer of about so many bytes that is read again and again, so that its size decides which cache
// it comes from: the best of 20 runs. 0 without memory for it, or for kNone.
double load_gb_per_second(VectorUnit unit, int64_t byte_size);

}  // namespace ferrule::kernels

#endif  // FERRULE_KERNELS_BASE_PEAK_MACHINE_PEAK_H_
