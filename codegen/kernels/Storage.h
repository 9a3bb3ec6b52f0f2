//===- Storage.h - Conversion between stored elements and scalars -----------------------------===//
//
// Target-independent: kernel bodies compute with the scalars of ir/builders/Scalar.h, while memory
// may use 16-bit or 8-bit floats and stores booleans as bytes. All functions accept scalars and
// vectors.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_CODEGEN_KERNELS_STORAGE_H
#define MTC_CODEGEN_KERNELS_STORAGE_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mtc {

/// Returns the type with which an element is loaded and stored: i8 for i1 and 8-bit floats,
/// signless types for integers.
mlir::Type getStorageType(mlir::Type element);

/// Converts a loaded value to the body's scalar type.
mlir::Value fromStorage(mlir::ImplicitLocOpBuilder &b, mlir::Value stored, mlir::Type element);
/// Converts a scalar of the body to its storage type, rounding to nearest, ties to even.
mlir::Value toStorage(mlir::ImplicitLocOpBuilder &b, mlir::Value value, mlir::Type element);

bool isFloat8(mlir::Type type);
/// Encodes an f32 value as an 8-bit float or an f16 with integer arithmetic. 8-bit floats are
/// represented as i8. Overflow yields infinity, or NaN in f8E4M3FN, which has no infinity.
mlir::Value encodeNarrow(mlir::ImplicitLocOpBuilder &b, mlir::Value value, mlir::Type narrow);
/// Decodes an 8-bit float or an f16 to f32 with integer arithmetic.
mlir::Value decodeNarrow(mlir::ImplicitLocOpBuilder &b, mlir::Value bits, mlir::Type narrow);

/// Returns `type`, or a vector of `type` with the shape of `like`.
mlir::Type withShapeOf(mlir::Type type, mlir::Type like);
/// Creates a scalar constant, or a splat with the shape of `like`.
mlir::Value splatConstant(mlir::ImplicitLocOpBuilder &b, mlir::TypedAttr value, mlir::Type like);

} // namespace mtc

#endif // MTC_CODEGEN_KERNELS_STORAGE_H
