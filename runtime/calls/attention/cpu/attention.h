// Fused, tiled attention and its gradient: the scores of a head are never materialized. 16-bit
// elements are computed in f32, except for matrix multiplications of bf16 on processors that have
// them.
#ifndef MTC_RUNTIME_CALLS_ATTENTION_CPU_ATTENTION_H
#define MTC_RUNTIME_CALLS_ATTENTION_CPU_ATTENTION_H

#include "runtime/abi/attention.h"
#include "runtime/devices/cpu/library_call.h"
#include "runtime/devices/cpu/vector/vector_set.h"

#include <memory>

namespace mtc::runtime {

extern const CallKind attentionCalls, attentionGradientCalls;

/// See LibraryCall::create. The result is bit-identical for any number of threads. The machine must
/// support `set` and, with `multipliesBFloat16`, AVX-512 BF16.
std::unique_ptr<LibraryCall> createAttention(const MtcAttention &attention, bool isGradient,
                                             int threads, VectorSet set, bool multipliesBFloat16);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_CALLS_ATTENTION_CPU_ATTENTION_H
