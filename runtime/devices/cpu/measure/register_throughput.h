// Measured throughput of multiplications and additions in registers, which no contraction exceeds.
#ifndef MTC_RUNTIME_DEVICES_CPU_MEASURE_REGISTER_THROUGHPUT_H
#define MTC_RUNTIME_DEVICES_CPU_MEASURE_REGISTER_THROUGHPUT_H

#include <cstdint>
#include <optional>

namespace mtc::runtime {

/// Returns the operations per second of `threads` threads that multiply elements of an MtcType and
/// add the products in f32 (f64 for f64), each in its registers. The result is the best of several
/// runs, or nullopt for a type that the vector instructions of this machine do not multiply.
std::optional<double> registerThroughput(uint32_t type, int threads);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DEVICES_CPU_MEASURE_REGISTER_THROUGHPUT_H
