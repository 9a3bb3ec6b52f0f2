// Fused attention and its gradient, in tiles: the scores of a head are never all in memory.
// Elements of 16 bits are computed with in f32.
#ifndef MTC_RUNTIME_CALLS_ATTENTION_CPU_ATTENTION_H
#define MTC_RUNTIME_CALLS_ATTENTION_CPU_ATTENTION_H

#include "runtime/abi/attention.h"
#include "runtime/devices/cpu/library_call.h"
#include "runtime/devices/cpu/vector_set.h"

#include <memory>

namespace mtc::runtime {

extern const CallKind attentionCalls, attentionGradientCalls;

/// See LibraryCall::create. The result's bits do not depend on the number of threads. `set` is one
/// that the machine has.
std::unique_ptr<LibraryCall> createAttention(const MtcAttention &attention, bool isGradient,
                                             int threads, VectorSet set);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_CALLS_ATTENTION_CPU_ATTENTION_H
