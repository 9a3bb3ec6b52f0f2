//===- MaskedValues.h - Values as functions of a random mask ----------------------------------===//
//
// Exporters decompose dropout into random numbers, a comparison that makes a mask of zeros and ones
// of them, and arithmetic. This analysis undoes the arithmetic in any order and grouping.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_EXPORTERS_MASKEDVALUES_H
#define MTC_FRONTEND_ONNX_EXPORTERS_MASKEDVALUES_H

#include "frontend/onnx/dialect/Onnx.h"

#include "llvm/ADT/DenseMap.h"

#include <array>
#include <optional>

namespace mtc::onnx {

/// A value `offset[m] + slope[m] * x`, where the random mask m is 0 or 1, and x does not depend on
/// the arithmetic of the mask.
struct MaskedValue {
  NodeOp draw;     ///< The node that draws the random numbers; null if there is no mask.
  double kept = 1; ///< The probability that m is 1.
  std::array<double, 2> offset = {0, 0}, slope = {0, 0};
  mlir::OpOperand *x = nullptr; ///< The operand that reads x; null if the slopes are 0.
};

/// Uniformly distributed random numbers.
struct UniformNumbers {
  NodeOp draw;
  double low, high;
};

class MaskedValues {
public:
  /// Analyzes the results of a node, after the nodes of its operands.
  void visit(NodeOp node);

  std::optional<MaskedValue> findMasked(mlir::Value value) const;
  std::optional<UniformNumbers> findUniform(mlir::Value value) const;

private:
  std::optional<UniformNumbers> uniform(NodeOp node) const;
  std::optional<MaskedValue> masked(NodeOp node) const;
  std::optional<MaskedValue> maskOf(NodeOp node) const;
  std::optional<MaskedValue> read(mlir::OpOperand &operand) const;

  llvm::DenseMap<mlir::Value, MaskedValue> maskedValues;
  llvm::DenseMap<mlir::Value, UniformNumbers> uniformNumbers;
};

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_EXPORTERS_MASKEDVALUES_H
