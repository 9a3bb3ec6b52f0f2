//===- DotProductAttention.h - Scaled dot-product attention -----------------------------------===//
//
// Builds mtc.attention if that op supports the operands. Otherwise attention is decomposed into
// contractions over named axes, which need no transposes of heads and no copies of keys and values
// shared by several query heads. Masked positions have a score of -inf; a row without unmasked
// positions yields zeros.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_DOTPRODUCTATTENTION_H
#define MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_DOTPRODUCTATTENTION_H

#include "frontend/onnx/operators/support/Program.h"
#include "ir/builders/TensorBuilder.h"

#include <optional>

namespace mtc::onnx {

/// Converts [batch, length, heads * size] to [batch, heads, length, size]. Operands with four axes
/// already have that layout.
mlir::Value splitHeads(TensorBuilder &b, mlir::Value x, int64_t heads);

/// Converts [batch, heads, length, size] to [batch, length, heads * size].
mlir::Value joinHeads(TensorBuilder &b, mlir::Value x);

/// Scaled dot-product attention of operands [batch, heads, length, size]. The number of query heads
/// is a multiple of the number of heads of keys and values.
struct DotProductAttention {
  mlir::Value query, key, value;
  double scale;
  std::optional<int64_t> causal = {}; ///< Query i attends to keys j <= i + causal.
  mlir::Value kept = {}; ///< The keys to which a query attends: i1, broadcasts to the scores.
  llvm::SmallVector<mlir::Value, 2> biases = {}; ///< Added to the scores, to which they broadcast.
  double softcap = 0;
  mlir::Type softmaxType = {}; ///< The default is the element type of the query.

  /// The stages of the scores: scaled, capped, masked, and after the softmax.
  enum Stage { Scaled, Capped, Masked, Weights };
  struct Result {
    mlir::Value output; ///< [batch, heads, length, size of a value].
    mlir::Value scores; ///< The scores after `stage`, or null.
  };
  /// Builds attention and, if `stage` is given, returns the scores after it.
  Result build(const Program &program, TensorBuilder &b, std::optional<Stage> stage = {}) const;

private:
  bool isWhole(const Program &program, TensorBuilder &b) const;
  mlir::Value buildWhole(TensorBuilder &b) const;
  mlir::Value buildScores(TensorBuilder &b) const;
  mlir::Value applyMasks(TensorBuilder &b, mlir::Value scores) const;
  mlir::Value buildOutput(TensorBuilder &b, mlir::Value weights) const;

  int64_t batch() const { return shapeOf(query)[0]; }
  int64_t heads() const { return shapeOf(query)[1]; }
  int64_t length() const { return shapeOf(query)[2]; }
  int64_t keyHeads() const { return shapeOf(key)[1]; }
  int64_t keyLength() const { return shapeOf(key)[2]; }
  mlir::Type element() const { return typeOf(query).getElementType(); }
};

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_DOTPRODUCTATTENTION_H
