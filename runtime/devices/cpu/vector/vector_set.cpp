// Detects the instruction sets of the machine.
#include "runtime/devices/cpu/vector/vector_set.h"

namespace mtc::runtime {

#if defined(__aarch64__)

VectorSet machineVectors() { return VectorSet::Neon; }

bool machineMultipliesBFloat16() { return false; }

const char *vectorSetName(VectorSet) { return "neon"; }

#else

VectorSet machineVectors() {
  static const VectorSet best = [] {
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
      return VectorSet::Avx512;
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                   __builtin_cpu_supports("f16c")
               ? VectorSet::Avx2
               : VectorSet::Sse;
  }();
  return best;
}

bool machineMultipliesBFloat16() {
  return machineVectors() == VectorSet::Avx512 && __builtin_cpu_supports("avx512bf16");
}

const char *vectorSetName(VectorSet set) {
  return set == VectorSet::Avx512 ? "avx512" : set == VectorSet::Avx2 ? "avx2" : "sse";
}

#endif

} // namespace mtc::runtime
