//===- OptimizerRegistry.h - Optimizers from outside of this library --------------------------===//

#ifndef MTC_PASSES_OPTIMIZER_OPTIMIZERREGISTRY_H
#define MTC_PASSES_OPTIMIZER_OPTIMIZERREGISTRY_H

#include "passes/optimizer/Optimizer.h"

namespace mtc {

/// Adds an optimizer of a program that links this library, before the first is looked up.
void registerOptimizer(const OptimizerKind &kind);

} // namespace mtc

#endif // MTC_PASSES_OPTIMIZER_OPTIMIZERREGISTRY_H
