// Instruction sets for which the runtime has specialized code.
#ifndef MTC_RUNTIME_DEVICES_CPU_VECTOR_VECTOR_SET_H
#define MTC_RUNTIME_DEVICES_CPU_VECTOR_VECTOR_SET_H

namespace mtc::runtime {

/// The sets of the architecture, ordered from the smallest to the largest.
#if defined(__aarch64__)
enum class VectorSet { Neon };
#else
enum class VectorSet { Sse, Avx2, Avx512 };
#endif

/// Returns the best instruction set of this machine.
VectorSet machineVectors();

/// Returns whether the machine has AVX-512 BF16 in addition to VectorSet::Avx512.
bool machineMultipliesBFloat16();

/// Returns `sse`, `avx2`, `avx512` or `neon`.
const char *vectorSetName(VectorSet set);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DEVICES_CPU_VECTOR_VECTOR_SET_H
