//===- ProducerInliner.h - A producer computed where its result is read -----------------------===//

#ifndef MTC_PASSES_KERNELS_PRODUCERINLINER_H
#define MTC_PASSES_KERNELS_PRODUCERINLINER_H

#include "ir/Mtc.h"

namespace mtc {

/// Whether a kernel can be computed at any place that one reads its result at: it is elementwise,
/// and stores the result at a permutation of its point.
bool canInline(KernelOp producer, unsigned result);

/// Computes an elementwise producer's result at the points at which a reader's loads of `input`
/// name its elements; the reader loses that input.
void inlineProducer(KernelOp producer, KernelOp reader, unsigned input);

} // namespace mtc

#endif // MTC_PASSES_KERNELS_PRODUCERINLINER_H
