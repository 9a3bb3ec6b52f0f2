//===- KeySelection.h - Which keys take part in an attention ----------------------------------===//

#ifndef MTC_PASSES_ATTENTION_KEYSELECTION_H
#define MTC_PASSES_ATTENTION_KEYSELECTION_H

#include "ir/builders/TensorBuilder.h"

#include <optional>

namespace mtc {

/// Masks and biases of scores [batch, heads, queries, keys] as operands of one `mtc.attention`,
/// each as small as it can be; what only leaves out later keys is `causal`.
struct KeySelection {
  KeySelection(TensorBuilder &b, int64_t queries) : b(b), queries(queries) {}

  void addCausal(int64_t offset) { causal = causal ? std::min(*causal, offset) : offset; }
  /// Keys take part where the condition is true, or with `negated` where it is false. Of a
  /// conjunction each condition is added by itself: one of them may be causal.
  void addMask(mlir::Value condition, bool negated);
  /// `factor` times the value is added to the scores.
  void addBias(mlir::Value value, double factor);

  mlir::Value bias, mask; ///< Null where there is none.
  std::optional<int64_t> causal;

private:
  mlir::Value combine(mlir::Value x, mlir::Value y,
                      mlir::Value (TensorBuilder::*function)(mlir::Value, mlir::Value));

  TensorBuilder &b;
  int64_t queries;
};

} // namespace mtc

#endif // MTC_PASSES_ATTENTION_KEYSELECTION_H
