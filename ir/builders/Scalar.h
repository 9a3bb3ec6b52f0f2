//===- Scalar.h - What a kernel's body is written with ----------------------------------------===//
//
// Scalars of a kernel's body: f64 and f32 for floats (narrower ones are widened on load), signless
// integers of the tensor's width, i1.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_IR_BUILDERS_SCALAR_H
#define MTC_IR_BUILDERS_SCALAR_H

#include "ir/Mtc.h"

namespace mtc {

/// The type that a body computes with for elements of this type.
mlir::Type getScalarType(mlir::Type element);

/// `value` as a constant of a scalar type; for i1, whether it is not 0.
mlir::Value scalarConstant(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type, double value);
/// An attribute of an element type (float or integer, of any width) as a constant of its scalar
/// type.
mlir::Value scalarConstant(mlir::OpBuilder &b, mlir::Location loc, mlir::Attribute value,
                           mlir::Type element);

/// Converts a scalar that stands for an element of type `from` to one that stands for `to`;
/// rounding to the narrower storage type happens where the value is stored, except that narrowing
/// floats below f32 is done here too so that a cast always has its effect.
mlir::Value convertScalar(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                          mlir::Type from, mlir::Type to);

/// Combines two scalars; used by emitters and by kernels that fold by hand.
mlir::Value combineScalars(mlir::OpBuilder &b, mlir::Location loc, ReductionKind kind,
                           mlir::Value lhs, mlir::Value rhs, bool isUnsigned = false);
/// The neutral element of a reduction, as an attribute of the scalar type.
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
/// x with its bits moved `by` places, an unsigned number; 0 where it has not so many.
mlir::Value buildShift(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::Value by,
                       bool isLeft);
/// The f32 nearest to the one of these bits that a bf16 can hold; ties are rounded away from zero.
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
