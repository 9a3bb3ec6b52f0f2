// What this machine's processor reaches at most, measured.
#ifndef MTC_RUNTIME_DEVICES_CPU_THROUGHPUT_H
#define MTC_RUNTIME_DEVICES_CPU_THROUGHPUT_H

#include "runtime/abi/contraction.h"

#include <cstdint>
#include <optional>

namespace mtc::runtime {

/// Bytes read and written a second when `threads` threads copy a block much larger than the caches:
/// the best of several copies. Nothing if the memory for it cannot be had.
std::optional<double> copyBandwidth(int threads);

/// Operations a second of a `plainContraction`: the best of several runs over the same memory.
/// Nothing if the memory cannot be had.
std::optional<double> plainContractionThroughput(const MtcContraction &plain, int threads);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DEVICES_CPU_THROUGHPUT_H
