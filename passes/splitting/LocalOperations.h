//===- LocalOperations.h - Operations on the parts of one rank --------------------------------===//

#ifndef MTC_PASSES_SPLITTING_LOCALOPERATIONS_H
#define MTC_PASSES_SPLITTING_LOCALOPERATIONS_H

#include "passes/splitting/PartExchange.h"
#include "passes/splitting/SplitRules.h"

namespace mtc {

/// Builds what this rank computes of `op` at the builder's insertion point. `operands` are parts
/// where `split` divides them. Returns parts of the results, or this rank's addends.
llvm::SmallVector<mlir::Value> buildLocal(TensorBuilder &b, mlir::Operation *op,
                                          const OperationSplit &split, mlir::ValueRange operands,
                                          PartExchange &exchange);

/// Sets the number of groups of a convolution to that of its channels; ignores other operations.
void setGroupsOfChannels(mlir::Operation *op);

} // namespace mtc

#endif // MTC_PASSES_SPLITTING_LOCALOPERATIONS_H
