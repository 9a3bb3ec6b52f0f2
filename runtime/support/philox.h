// Counter-based random numbers: equal (key, counter) pairs yield equal words on any machine and
// thread.
#ifndef MTC_RUNTIME_SUPPORT_PHILOX_H
#define MTC_RUNTIME_SUPPORT_PHILOX_H

#include <array>
#include <cstdint>
#include <string_view>

namespace mtc::runtime {

/// Philox4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3"
/// (SC 2011).
std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

/// Returns a 64-bit FNV-1a hash of a name.
uint64_t hashName(std::string_view name);

/// Returns four samples of N(0, 1): elements 4 * group to 4 * group + 3 of the sequence of (seed,
/// name), computed as two pairs by the transform of Box and Muller (1958).
std::array<double, 4> normals(uint64_t seed, uint64_t nameHash, uint64_t group);

/// Returns four samples of the uniform distribution on [-1, 1), indexed as in `normals`.
std::array<double, 4> evenSamples(uint64_t seed, uint64_t nameHash, uint64_t group);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_SUPPORT_PHILOX_H
