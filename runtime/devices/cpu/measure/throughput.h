// Measured peak throughput of this machine's processor.
#ifndef MTC_RUNTIME_DEVICES_CPU_MEASURE_THROUGHPUT_H
#define MTC_RUNTIME_DEVICES_CPU_MEASURE_THROUGHPUT_H

#include "runtime/abi/contraction.h"

#include <cstdint>
#include <optional>

namespace mtc::runtime {

/// Returns the bytes read and written per second when `threads` threads copy a block much larger
/// than the caches. The result is the best of several copies, or nullopt if the memory cannot be
/// allocated.
std::optional<double> copyBandwidth(int threads);

/// Returns the operations per second of a `plainContraction` in the fastest of its algorithms
/// (MtcAlgorithm). The result is the best of several runs over the same memory, or nullopt if the
/// memory cannot be allocated.
std::optional<double> plainContractionThroughput(const MtcContraction &plain, int threads);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DEVICES_CPU_MEASURE_THROUGHPUT_H
