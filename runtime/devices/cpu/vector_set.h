// Instruction sets for which the runtime has specialized code.
#ifndef MTC_RUNTIME_DEVICES_CPU_VECTOR_SET_H
#define MTC_RUNTIME_DEVICES_CPU_VECTOR_SET_H

namespace mtc::runtime {

/// Ordered from the smallest to the largest instruction set.
enum class VectorSet { Sse, Avx2, Avx512 };

/// Returns the best instruction set of this machine.
VectorSet machineVectors();

/// Returns `sse`, `avx2` or `avx512`.
const char *vectorSetName(VectorSet set);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DEVICES_CPU_VECTOR_SET_H
