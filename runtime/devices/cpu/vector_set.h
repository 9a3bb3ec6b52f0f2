// The instruction sets for which the runtime has code of its own.
#ifndef MTC_RUNTIME_DEVICES_CPU_VECTOR_SET_H
#define MTC_RUNTIME_DEVICES_CPU_VECTOR_SET_H

namespace mtc::runtime {

/// From the fewest instructions on.
enum class VectorSet { Sse, Avx2, Avx512 };

/// The best of this machine.
VectorSet machineVectors();

/// `sse`, `avx2`, `avx512`.
const char *vectorSetName(VectorSet set);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DEVICES_CPU_VECTOR_SET_H
