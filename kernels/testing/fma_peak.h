// The denominator of every kernel benchmark: what this core's FMA units reach in the same process.
#ifndef FERRULE_KERNELS_TESTING_FMA_PEAK_H_
#define FERRULE_KERNELS_TESTING_FMA_PEAK_H_

#include <cstdint>

namespace ferrule::kernels {

// CPU time of the calling thread: other processes may take the core without spoiling a measurement.
double thread_seconds();

// f32 GFLOP/s of a loop of independent FMAs, 512 bits wide or 256. The CPU must have them.
double fma_peak_gflops(bool wide);

}  // namespace ferrule::kernels

#endif  // FERRULE_KERNELS_TESTING_FMA_PEAK_H_
