//===- OptimizerRegistry.h - Registration of external optimizers ------------------------------===//

#ifndef MTC_PASSES_OPTIMIZER_OPTIMIZERREGISTRY_H
#define MTC_PASSES_OPTIMIZER_OPTIMIZERREGISTRY_H

#include "passes/optimizer/Optimizer.h"

namespace mtc {

/// Registers an optimizer of a program that links this library. Must be called before the first
/// lookup of an optimizer.
void registerOptimizer(const OptimizerKind &kind);

} // namespace mtc

#endif // MTC_PASSES_OPTIMIZER_OPTIMIZERREGISTRY_H
