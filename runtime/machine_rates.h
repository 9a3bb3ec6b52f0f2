// What this machine reaches at most, measured: what a profile's figures are shares of.
#ifndef MTC_RUNTIME_MACHINE_RATES_H
#define MTC_RUNTIME_MACHINE_RATES_H

#include "runtime/abi/contraction.h"

#include <cstdint>
#include <optional>

namespace mtc::runtime {

/// Bytes read and written a second when `threads` threads copy a block much larger than the caches:
/// the best of several copies. Nothing if the memory for it cannot be had.
std::optional<double> copyBandwidth(int threads);

/// The contraction of the same shape and type with dense row-major tensors of its own, which starts
/// from nothing: what a library is fastest at.
MtcContraction plainContraction(const MtcContraction &contraction);

/// Operations a second of `plainContraction` alone: the best of several runs over the same memory.
/// Nothing if the memory cannot be had.
std::optional<double> plainContractionRate(const MtcContraction &contraction, int threads);

/// Operations a second of a large square contraction: the machine's best rate for the type.
std::optional<double> contractionRate(uint32_t type, int threads);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_MACHINE_RATES_H
