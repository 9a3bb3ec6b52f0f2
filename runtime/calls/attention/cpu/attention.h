// Fused attention and its gradient, in tiles: the scores of a head are never all in memory.
#ifndef MTC_RUNTIME_CALLS_ATTENTION_CPU_ATTENTION_H
#define MTC_RUNTIME_CALLS_ATTENTION_CPU_ATTENTION_H

#include "runtime/abi/attention.h"
#include "runtime/devices/cpu/library_call.h"

#include <memory>

namespace mtc::runtime {

/// The instructions that the tiles are computed with, from the fewest on.
enum class VectorSet { Sse, Avx2, Avx512 };
/// The best of this machine.
VectorSet machineVectors();

extern const CallKind attentionCalls, attentionGradientCalls;

/// See LibraryCall::create. The result's bits do not depend on the number of threads. `set` is one
/// that the machine has.
std::unique_ptr<LibraryCall> createAttention(const MtcAttention &attention, bool isGradient,
                                             int threads, VectorSet set);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_CALLS_ATTENTION_CPU_ATTENTION_H
