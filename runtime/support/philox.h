// Counter-based random numbers: the same (key, counter) always gives the same words, on any machine
// and thread.
#ifndef MTC_RUNTIME_SUPPORT_PHILOX_H
#define MTC_RUNTIME_SUPPORT_PHILOX_H

#include <array>
#include <cstdint>
#include <string_view>

namespace mtc::runtime {

/// Philox4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3"
/// (SC 2011).
std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

/// A 64-bit digest of a name (FNV-1a).
uint64_t hashName(std::string_view name);

/// Four samples of N(0, 1), numbers 4·group to 4·group + 3 of the sequence that (seed, name)
/// defines: two pairs by Box and Muller's transform (1958).
std::array<double, 4> normals(uint64_t seed, uint64_t nameHash, uint64_t group);

/// The same of even samples in [-1, 1).
std::array<double, 4> evenSamples(uint64_t seed, uint64_t nameHash, uint64_t group);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_SUPPORT_PHILOX_H
