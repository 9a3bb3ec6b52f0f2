//===- TensorBuilder.h - Builder for tensor expressions ---------------------------------------===//
//
// Gradient rules, decompositions, converters, losses and optimizers use this class. Operands of
// elementwise functions have equal shapes; broadcasts are explicit.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_IR_BUILDERS_TENSORBUILDER_H
#define MTC_IR_BUILDERS_TENSORBUILDER_H

#include "ir/Mtc.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mtc {

inline mlir::RankedTensorType typeOf(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType());
}
inline mlir::ArrayRef<int64_t> shapeOf(mlir::Value value) { return typeOf(value).getShape(); }

class TensorBuilder : public mlir::ImplicitLocOpBuilder {
public:
  using Value = mlir::Value;
  using mlir::ImplicitLocOpBuilder::ImplicitLocOpBuilder;

  // Elementwise operations.
  Value neg(Value x);
  Value abs(Value x);
  Value exp(Value x);
  Value expm1(Value x);
  Value log(Value x);
  Value log1p(Value x);
  Value sqrt(Value x);
  Value rsqrt(Value x);
  Value tanh(Value x);
  Value logistic(Value x);
  Value erf(Value x);
  Value sin(Value x);
  Value cos(Value x);
  Value sign(Value x);
  Value logicalNot(Value x);
  Value isNan(Value x);
  Value add(Value a, Value b);
  Value sub(Value a, Value b);
  Value mul(Value a, Value b);
  Value div(Value a, Value b);
  Value rem(Value a, Value b);
  Value max(Value a, Value b);
  Value min(Value a, Value b);
  Value pow(Value a, Value b);
  Value logicalAnd(Value a, Value b);
  Value logicalOr(Value a, Value b);
  Value compare(Predicate predicate, Value a, Value b);
  Value select(Value condition, Value a, Value b);
  Value selectByMode(Value training, Value inference);
  /// Converts to an element type; returns the value itself if it already has that type.
  Value cast(Value x, mlir::Type element);
  Value detach(Value x);
  /// Returns the average of the values of all ranks; x itself with one rank.
  Value averageOverRanks(Value x, int64_t ranks);

  // Constants.
  /// Returns a tensor with the shape and element type of `like` and every element equal to `value`.
  Value splat(Value like, double value);
  Value splat(mlir::RankedTensorType type, double value);
  Value constant(mlir::ElementsAttr value);
  Value iota(mlir::RankedTensorType type, int64_t axis);

  // Data movement.
  /// Broadcasts along `axes` of the result, whose extents are `shape`.
  Value broadcast(Value x, mlir::ArrayRef<int64_t> axes, mlir::ArrayRef<int64_t> shape);
  /// Broadcasts by the rule of NumPy and ONNX: aligns trailing axes and repeats extents of 1.
  /// Returns the value itself if it already has the shape.
  Value broadcastTo(Value x, mlir::ArrayRef<int64_t> shape);
  /// Sums over the axes that `broadcastTo` repeats from `shape` to the shape of `x`: its adjoint.
  Value sumTo(Value x, mlir::ArrayRef<int64_t> shape);
  Value reshape(Value x, mlir::ArrayRef<int64_t> shape);
  Value transpose(Value x, mlir::ArrayRef<int64_t> permutation);
  Value slice(Value x, mlir::ArrayRef<int64_t> offsets, mlir::ArrayRef<int64_t> sizes,
              mlir::ArrayRef<int64_t> strides);
  Value pad(Value x, mlir::ArrayRef<int64_t> low, mlir::ArrayRef<int64_t> high,
            mlir::ArrayRef<int64_t> interior, double value = 0.0);
  Value reverse(Value x, mlir::ArrayRef<int64_t> axes);
  Value concatenate(mlir::ValueRange inputs, int64_t axis);
  /// Builds `mtc.windows` with the given number of positions and taps along each of `axes`.
  Value windows(Value x, mlir::ArrayRef<int64_t> axes, mlir::ArrayRef<int64_t> positions,
                mlir::ArrayRef<int64_t> taps, mlir::ArrayRef<int64_t> strides,
                mlir::ArrayRef<int64_t> dilations);
  /// Builds `mtc.overlap_add` with a result of this shape.
  Value overlapAdd(Value y, mlir::ArrayRef<int64_t> axes, mlir::ArrayRef<int64_t> offsets,
                   mlir::ArrayRef<int64_t> strides, mlir::ArrayRef<int64_t> dilations,
                   mlir::ArrayRef<int64_t> shape);
  Value gather(Value x, Value indices, int64_t axis, int64_t batch);
  /// Builds `mtc.scatter_add`; `extent` is the result's extent along `axis`.
  Value scatterAdd(Value updates, Value indices, int64_t axis, int64_t batch, int64_t extent);

  // Reductions.
  Value reduce(ReductionKind kind, Value x, mlir::ArrayRef<int64_t> axes);
  Value sum(Value x, mlir::ArrayRef<int64_t> axes) { return reduce(ReductionKind::Add, x, axes); }
  /// Builds `mtc.contract`; the default for `element` is the operands' element type.
  Value contract(Value lhs, Value rhs, mlir::ArrayRef<int64_t> lhsBatch,
                 mlir::ArrayRef<int64_t> rhsBatch, mlir::ArrayRef<int64_t> lhsContract,
                 mlir::ArrayRef<int64_t> rhsContract, mlir::Type element = {});
  /// Returns the first result of `mtc.attention`; bias and mask may be null.
  Value attention(Value query, Value key, Value value, Value bias, Value mask,
                  std::optional<int64_t> causal, double scale);
  Value cumulativeSum(Value x, int64_t axis, bool exclusive, bool reverse);

  /// Returns the share of operand `a` in the cotangent of a maximum or minimum: all of it where
  /// only `a` attains the extremum, half where both operands do.
  Value extremumShare(Value dy, Value a, Value other, Value y);
  Value powBaseGradient(Value dy, Value a, Value b);
  Value powExponentGradient(Value dy, Value a, Value b, Value y);
};

/// The context of a gradient rule: the cotangents of the results, and storage for the operands'
/// cotangents.
class GradientBuilder : public TensorBuilder {
public:
  GradientBuilder(mlir::OpBuilder &builder, mlir::Location loc, mlir::ArrayRef<Value> cotangents,
                  mlir::ArrayRef<bool> needed)
      : TensorBuilder(loc, builder), cotangents(cotangents), needed(needed),
        operandCotangents(needed.size()) {}

  /// Returns whether the cotangent of the operand is required.
  bool needs(unsigned operand) const { return needed[operand]; }
  /// Returns the cotangent of a result. It may be null for an operation with several results, of
  /// which at least one has a cotangent.
  Value cotangent(unsigned result) const { return cotangents[result]; }
  void set(unsigned operand, Value value) { operandCotangents[operand] = value; }
  mlir::ArrayRef<Value> getOperandCotangents() const { return operandCotangents; }

private:
  mlir::ArrayRef<Value> cotangents;
  mlir::ArrayRef<bool> needed;
  mlir::SmallVector<Value> operandCotangents;
};

} // namespace mtc

#endif // MTC_IR_BUILDERS_TENSORBUILDER_H
