//===- ProducerInliner.h - Inlining of producers into their users -----------------------------===//

#ifndef MTC_PASSES_KERNELS_PRODUCERINLINER_H
#define MTC_PASSES_KERNELS_PRODUCERINLINER_H

#include "ir/Mtc.h"

namespace mtc {

/// Returns whether a result can be recomputed at any index that a user reads: the kernel is
/// elementwise and stores the result at a permutation of its iteration space.
bool canInline(KernelOp producer, unsigned result);

/// Recomputes an elementwise producer's result at the indices of the consumer's loads of `input`,
/// and removes this operand from the consumer. Erases the producer if it has no other use, and
/// returns whether it did.
bool inlineProducer(KernelOp producer, KernelOp consumer, unsigned input);

} // namespace mtc

#endif // MTC_PASSES_KERNELS_PRODUCERINLINER_H
