// Functions that emulated code calls.
#include "runtime/devices/cuda/emulated/execution/block.h"

#include <bit>
#include <cmath>

using mtc::runtime::emulation::Block;

extern "C" {

const MtcEmulatedThread *mtc_emulated_enter(uint32_t sharedBytes, uint32_t granule) {
  return &Block::current().enter(sharedBytes, granule);
}

void mtc_emulated_barrier(uint32_t site) { Block::current().waitAtBarrier(site); }

void mtc_emulated_warp_barrier(uint32_t mask, uint32_t site) {
  Block::current().waitAtWarpBarrier(mask, site);
}

uint64_t mtc_emulated_shuffle(uint32_t kind, uint32_t mask, uint32_t value, uint32_t operand,
                              uint32_t clamp, uint32_t site) {
  return Block::current().shuffle(kind, mask, value, operand, clamp, site);
}

uint32_t mtc_emulated_ballot(uint32_t mask, uint32_t predicate, uint32_t site) {
  return Block::current().ballot(mask, predicate, site);
}

void mtc_emulated_global_access(const void *address, const char *parameter,
                                const MtcEmulatedAccess *access) {
  Block::current().accessGlobal(address, access->bytes, parameter, *access);
}

void mtc_emulated_multiply_tf32(const uint32_t *a, const uint32_t *b, float *sums, uint32_t site) {
  Block::current().multiply(a, b, sums, site);
}

uint32_t mtc_emulated_round_tf32(float x) {
  uint32_t bits = std::bit_cast<uint32_t>(x);
  constexpr uint32_t dropped = 0x1fff, exponent = 0x7f800000;
  // Preserve infinity and NaN.
  return (bits & exponent) == exponent ? (bits & ~dropped) | (bits & dropped ? 0x400000 : 0)
                                       : (bits + 0x1000) & ~dropped;
}

void mtc_emulated_shared_access(const void *address, const MtcEmulatedAccess *access) {
  Block::current().accessShared(address, access->bytes, *access);
}

void mtc_emulated_any_access(const void *address, uint64_t bytes, const MtcEmulatedAccess *access) {
  Block &block = Block::current();
  if (block.isShared(address))
    return block.accessShared(address, bytes, *access);
  // An address on the current stack is private to the thread.
  constexpr uintptr_t stackReach = 64 << 10;
  auto number = reinterpret_cast<uintptr_t>(address);
  if (number - reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) < stackReach)
    return;
  block.accessGlobal(address, bytes, nullptr, *access);
}

float mtc_emulated_rsqrtf(float x) { return static_cast<float>(1 / std::sqrt(double(x))); }
double mtc_emulated_rsqrt(double x) { return 1 / std::sqrt(x); }

/// Rounds to bf16, to nearest, ties to even. The result is in the lower half of a float's register,
/// where a __bf16 is: a function of __bf16 would call itself without optimization. libgcc 12 lacks
/// this function.
__attribute__((weak)) float __truncsfbf2(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  return std::bit_cast<float>(
      (std::isnan(x) ? bits | 0x400000 : bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
}
