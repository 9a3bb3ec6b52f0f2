//===- TensorBuilder.h - Writing expressions over tensors -------------------------------------===//
//
// Used by gradient rules, decompositions, converters, losses and optimizers. Operands of
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

  // Elementwise.
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
  /// Conversion; the value itself if it already has the element type.
  Value cast(Value x, mlir::Type element);
  Value detach(Value x);

  // Constants.
  /// A tensor like `like` (shape and element type) with every element `value`.
  Value splat(Value like, double value);
  Value splat(mlir::RankedTensorType type, double value);
  Value constant(mlir::ElementsAttr value);
  Value iota(mlir::RankedTensorType type, int64_t axis);

  // Movement.
  /// Inserts `axes` (of the result) with the extents that `shape`, the result's, has there.
  Value broadcast(Value x, mlir::ArrayRef<int64_t> axes, mlir::ArrayRef<int64_t> shape);
  /// Numpy's and ONNX's rule: aligns trailing axes, repeats extents of 1; the value itself if it
  /// fits.
  Value broadcastTo(Value x, mlir::ArrayRef<int64_t> shape);
  /// Sums over what `broadcastTo(_, shape of x)` repeated: the adjoint of broadcastTo.
  Value sumTo(Value x, mlir::ArrayRef<int64_t> shape);
  Value reshape(Value x, mlir::ArrayRef<int64_t> shape);
  Value transpose(Value x, mlir::ArrayRef<int64_t> permutation);
  Value slice(Value x, mlir::ArrayRef<int64_t> offsets, mlir::ArrayRef<int64_t> sizes,
              mlir::ArrayRef<int64_t> strides);
  Value pad(Value x, mlir::ArrayRef<int64_t> low, mlir::ArrayRef<int64_t> high,
            mlir::ArrayRef<int64_t> interior, double value = 0.0);
  Value reverse(Value x, mlir::ArrayRef<int64_t> axes);
  Value concatenate(mlir::ValueRange inputs, int64_t axis);
  /// `mtc.windows`: so many positions and taps along each of `axes`.
  Value windows(Value x, mlir::ArrayRef<int64_t> axes, mlir::ArrayRef<int64_t> positions,
                mlir::ArrayRef<int64_t> taps, mlir::ArrayRef<int64_t> strides,
                mlir::ArrayRef<int64_t> dilations);
  /// `mtc.overlap_add`, whose result has this shape.
  Value overlapAdd(Value y, mlir::ArrayRef<int64_t> axes, mlir::ArrayRef<int64_t> offsets,
                   mlir::ArrayRef<int64_t> strides, mlir::ArrayRef<int64_t> dilations,
                   mlir::ArrayRef<int64_t> shape);
  Value gather(Value x, Value indices, int64_t axis, int64_t batch);
  /// `extent` is the result's along `axis`.
  Value scatterAdd(Value updates, Value indices, int64_t axis, int64_t batch, int64_t extent);

  // Reductions.
  Value reduce(ReductionKind kind, Value x, mlir::ArrayRef<int64_t> axes);
  Value sum(Value x, mlir::ArrayRef<int64_t> axes) { return reduce(ReductionKind::Add, x, axes); }
  /// The result has the operands' element type where none is given.
  Value contract(Value lhs, Value rhs, mlir::ArrayRef<int64_t> lhsBatch,
                 mlir::ArrayRef<int64_t> rhsBatch, mlir::ArrayRef<int64_t> lhsContract,
                 mlir::ArrayRef<int64_t> rhsContract, mlir::Type element = {});
  /// The first result of `mtc.attention`; bias and mask may be null.
  Value attention(Value query, Value key, Value value, Value bias, Value mask,
                  std::optional<int64_t> causal, double scale);
  Value cumulativeSum(Value x, int64_t axis, bool exclusive, bool reverse);

  /// The part of a maximum's or minimum's cotangent that operand `a` gets: all where only it
  /// attains the extremum, half where both do.
  Value extremumShare(Value dy, Value a, Value other, Value y);
  Value powBaseGradient(Value dy, Value a, Value b);
  Value powExponentGradient(Value dy, Value a, Value b, Value y);
};

/// What a gradient rule works with: the cotangents of the results, and a place for each operand's.
class GradientBuilder : public TensorBuilder {
public:
  GradientBuilder(mlir::OpBuilder &builder, mlir::Location loc, mlir::ArrayRef<Value> cotangents,
                  mlir::ArrayRef<bool> needed)
      : TensorBuilder(loc, builder), cotangents(cotangents), needed(needed),
        operandCotangents(needed.size()) {}

  /// Whether operand i's cotangent is asked for.
  bool needs(unsigned operand) const { return needed[operand]; }
  /// Result i's cotangent; null only for results of an operation with several, of which at least
  /// one is not null.
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
