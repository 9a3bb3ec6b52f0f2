// Recurrent layers and their gradients: all steps in one call, with the weights packed once.
#ifndef MTC_RUNTIME_CALLS_RECURRENCE_CPU_RECURRENCE_H
#define MTC_RUNTIME_CALLS_RECURRENCE_CPU_RECURRENCE_H

#include "runtime/abi/recurrence.h"
#include "runtime/devices/cpu/library_call.h"
#include "runtime/devices/cpu/vector/vector_set.h"

#include <memory>

namespace mtc::runtime {

extern const CallKind recurrenceCalls, recurrenceGradientCalls;

/// See LibraryCall::create. The result is bit-identical for any number of threads. The machine must
/// support `set`.
std::unique_ptr<LibraryCall> createRecurrence(const MtcRecurrence &recurrence, bool isGradient,
                                              int threads, VectorSet set);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_CALLS_RECURRENCE_CPU_RECURRENCE_H
