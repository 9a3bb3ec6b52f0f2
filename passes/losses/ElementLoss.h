//===- ElementLoss.h - Losses of single elements ----------------------------------------------===//

#ifndef MTC_PASSES_LOSSES_ELEMENTLOSS_H
#define MTC_PASSES_LOSSES_ELEMENTLOSS_H

#include "passes/losses/Loss.h"

namespace mtc {

/// Returns the record of a loss that compares each element of the output with a label: labels have
/// the output's shape, the loss is the mean over all elements, and evaluation computes the metrics
/// of regression. `build` returns the loss of each element.
Loss elementLoss(llvm::StringLiteral name, llvm::StringLiteral help, decltype(Loss::build) build);

} // namespace mtc

#endif // MTC_PASSES_LOSSES_ELEMENTLOSS_H
