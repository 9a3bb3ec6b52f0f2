// Instantiates the functions of panels for each instruction set and element type.
#include "runtime/calls/contraction/cpu/panel_kernels.h"

#include "runtime/devices/cpu/vector/narrow_floats.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace mtc::runtime {
namespace {

/// Element type of operands in NF4 storage (`runtime/abi/storage.h`).
struct Nf4 {};

/// The values of the two codes in a byte.
struct Nf4Pairs {
  alignas(8) std::array<std::array<float, 2>, 256> of;

  constexpr Nf4Pairs() : of() {
    constexpr std::array<float, 16> values = MTC_NF4_VALUES;
    for (size_t byte = 0; byte < of.size(); ++byte)
      of[byte] = {values[byte >> 4], values[byte & 15]};
  }
};
constexpr Nf4Pairs nf4Pairs;

/// Element type of a matrix of patches.
template <typename Element> struct Patch {};

#define MTC_VECTOR_CODE "runtime/calls/contraction/cpu/panels.inc"
#define MTC_BF16_VECTOR_CODE "runtime/calls/contraction/cpu/pair_panels.inc"
#include "runtime/devices/cpu/vector/each_vector_set.inc"

/// Calls `use` with a value of an operand's element type.
template <typename Use> auto withStored(uint32_t type, uint32_t storage, const Use &use) {
  if (storage == storedAsPatches)
    return type == MTC_F32
               ? use(Patch<float>())
               : withNarrowFloat(type, [&](auto e) { return use(Patch<decltype(e)>()); });
  if (storage == MTC_STORED_NF4)
    return use(Nf4());
  if (storage == MTC_STORED_BF16)
    return use(BFloat16());
  return type == MTC_F32 ? use(float()) : withNarrowFloat(type, use);
}

} // namespace

PanelKernels panelKernels(uint32_t type, uint32_t lhsStorage, uint32_t rhsStorage, VectorSet set) {
  return withStored(type, lhsStorage, [&](auto ofLhs) {
    return withStored(type, rhsStorage, [&](auto ofRhs) {
      return MTC_OF_SET(set, kernels<decltype(ofLhs), decltype(ofRhs)>)();
    });
  });
}

PanelKernels pairPanelKernels() {
#if defined(__x86_64__)
  return avx512bf16::pairKernels();
#else
  return {};
#endif
}

} // namespace mtc::runtime
