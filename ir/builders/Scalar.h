//===- Scalar.h - Scalar operations of kernel bodies ------------------------------------------===//
//
// Scalars of a kernel body are f64 or f32 for floats (narrower floats are extended on load),
// signless integers of the tensor's bit width, and i1.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_IR_BUILDERS_SCALAR_H
#define MTC_IR_BUILDERS_SCALAR_H

#include "ir/Mtc.h"

namespace mtc {

/// Returns the scalar type in which a kernel body computes elements of this type.
mlir::Type getScalarType(mlir::Type element);

/// Returns `value` as a constant of a scalar type; for i1, whether it is not 0.
mlir::Value scalarConstant(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type, double value);
/// Returns an attribute of a float or integer element type as a constant of its scalar type.
mlir::Value scalarConstant(mlir::OpBuilder &b, mlir::Location loc, mlir::Attribute value,
                           mlir::Type element);

/// Converts a scalar for an element of type `from` to a scalar for an element of type `to`. Stores
/// round to the storage type; floats narrower than f32 are also rounded here, so that a cast always
/// has an effect.
mlir::Value convertScalar(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                          mlir::Type from, mlir::Type to);

/// Combines two scalars by a reduction kind; used by code generation and by kernels that combine
/// values themselves.
mlir::Value combineScalars(mlir::OpBuilder &b, mlir::Location loc, ReductionKind kind,
                           mlir::Value lhs, mlir::Value rhs, bool isUnsigned = false);
/// Returns the neutral element of a reduction as an attribute of the scalar type.
mlir::TypedAttr neutralElement(ReductionKind kind, mlir::Type scalar, bool isUnsigned = false);

namespace detail {

template <typename FloatOp, typename IntegerOp>
mlir::Value arithmetic(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::Value y) {
  if (mlir::isa<mlir::FloatType>(mlir::getElementTypeOrSelf(x.getType())))
    return FloatOp::create(b, loc, x, y);
  return IntegerOp::create(b, loc, x, y);
}

mlir::Value buildLogistic(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x);
mlir::Value buildSign(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, bool isUnsigned);
/// Shifts `x` by `by` bits, an unsigned number; the result is 0 if `by` is at least the bit width.
mlir::Value buildShift(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::Value by,
                       bool isLeft);
/// Returns, as an f32, the bf16 nearest to the f32 with these bits; ties are rounded away from
/// zero.
mlir::Value buildHighHalf(mlir::OpBuilder &b, mlir::Location loc, mlir::Value bits);
mlir::Value buildDivision(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::Value y,
                          bool isUnsigned);
mlir::Value buildRemainder(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::Value y,
                           bool isUnsigned);
mlir::Value buildExtremum(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::Value y,
                          bool isUnsigned, bool isMaximum);
mlir::Value buildComparison(mlir::OpBuilder &b, mlir::Location loc, Predicate predicate,
                            mlir::Value x, mlir::Value y, bool isUnsigned);

} // namespace detail
} // namespace mtc

#endif // MTC_IR_BUILDERS_SCALAR_H
