//===- Storage.h - Elements in memory and the scalars that stand for them ---------------------===//
//
// Independent of the target: a body computes with the scalars of ir/builders/Scalar.h; memory holds
// narrower floats, and booleans as bytes. All functions take scalars and vectors alike.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_CODEGEN_KERNELS_STORAGE_H
#define MTC_CODEGEN_KERNELS_STORAGE_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mtc {

/// The type by which an element is loaded and stored: i8 for i1 and 8-bit floats, signless
/// integers.
mlir::Type getStorageType(mlir::Type element);

/// The scalar of the body that a loaded value stands for.
mlir::Value fromStorage(mlir::ImplicitLocOpBuilder &b, mlir::Value stored, mlir::Type element);
/// What is to be stored for a scalar of the body, rounded to nearest, ties to even.
mlir::Value toStorage(mlir::ImplicitLocOpBuilder &b, mlir::Value value, mlir::Type element);

bool isFloat8(mlir::Type type);
/// The bits of an f32 value as an 8-bit float or an f16, by integers: 8-bit floats are i8 in code.
/// Too large a value becomes infinity, or NaN in f8E4M3FN, which has no infinity.
mlir::Value encodeNarrow(mlir::ImplicitLocOpBuilder &b, mlir::Value value, mlir::Type narrow);
mlir::Value decodeNarrow(mlir::ImplicitLocOpBuilder &b, mlir::Value bits, mlir::Type narrow);

/// `type`, or a vector of it as wide as `like`.
mlir::Type withShapeOf(mlir::Type type, mlir::Type like);
/// A constant of a scalar type, or a vector of it.
mlir::Value splatConstant(mlir::ImplicitLocOpBuilder &b, mlir::TypedAttr value, mlir::Type like);

} // namespace mtc

#endif // MTC_CODEGEN_KERNELS_STORAGE_H
