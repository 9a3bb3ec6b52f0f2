//===- Softmax.h - Matching of decomposed softmax ---------------------------------------------===//

#ifndef MTC_PASSES_ATTENTION_SOFTMAX_H
#define MTC_PASSES_ATTENTION_SOFTMAX_H

#include "ir/builders/TensorBuilder.h"

#include <string>

namespace mtc {

/// Returns the x for which the division computes the softmax of x along the last axis, with or
/// without a guard for rows of -inf; null for any other division.
mlir::Value softmaxInput(DivOp division);

/// Returns the contraction of the softmax weights with the values, and sets `read` to the operand
/// for the weights. Only reshapes may be between the softmax and the contraction. Returns null with
/// a reason if other operations are between, and null without a reason if there is no contraction.
ContractOp productOfWeights(mlir::Value weights, mlir::Value &read, std::string &reason);

} // namespace mtc

#endif // MTC_PASSES_ATTENTION_SOFTMAX_H
