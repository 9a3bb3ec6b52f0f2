//===- KeySelection.h - Masks and biases of recognized attention ------------------------------===//

#ifndef MTC_PASSES_ATTENTION_KEYSELECTION_H
#define MTC_PASSES_ATTENTION_KEYSELECTION_H

#include "ir/builders/TensorBuilder.h"
#include "passes/attention/Masks.h"

#include <optional>

namespace mtc {

/// Collects masks and biases of scores [batch, heads, queries, keys] as operands of one
/// `mtc.attention`. Axes of size 1 replace broadcasts where possible, and masks that exclude only
/// later keys become `causal`.
struct KeySelection {
  KeySelection(TensorBuilder &b, int64_t queries, CausalBiases &biases)
      : b(b), queries(queries), biases(biases) {}

  void addCausal(int64_t offset) { causal = causal ? std::min(*causal, offset) : offset; }
  /// Adds a mask that selects keys where the condition is true, or with `negated` where it is
  /// false. Each condition of a conjunction is added separately, since one of them may be causal.
  void addMask(mlir::Value condition, bool negated);
  /// Adds `factor` * `value` to the scores.
  void addBias(mlir::Value value, double factor);

  mlir::Value bias, mask; ///< Null if there is none.
  std::optional<int64_t> causal;

private:
  mlir::Value combine(mlir::Value x, mlir::Value y,
                      mlir::Value (TensorBuilder::*function)(mlir::Value, mlir::Value));

  TensorBuilder &b;
  int64_t queries;
  CausalBiases &biases;
};

} // namespace mtc

#endif // MTC_PASSES_ATTENTION_KEYSELECTION_H
