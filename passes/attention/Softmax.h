//===- Softmax.h - The softmax of rows in its parts -------------------------------------------===//

#ifndef MTC_PASSES_ATTENTION_SOFTMAX_H
#define MTC_PASSES_ATTENTION_SOFTMAX_H

#include "ir/builders/TensorBuilder.h"

#include <string>

namespace mtc {

/// The x of which a division is the softmax along the last axis, with or without a guard for rows
/// of -inf; null for any other division.
mlir::Value softmaxInput(DivOp division);

/// The product that a softmax's weights go into, reshaped at most, and the value that it reads;
/// null with a reason where something lies between, and null without one where there is no product.
ContractOp productOfWeights(mlir::Value weights, mlir::Value &read, std::string &reason);

} // namespace mtc

#endif // MTC_PASSES_ATTENTION_SOFTMAX_H
