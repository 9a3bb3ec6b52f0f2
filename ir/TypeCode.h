//===- TypeCode.h - Element types and their codes in the program's ABI ------------------------===//

#ifndef MTC_IR_TYPECODE_H
#define MTC_IR_TYPECODE_H

#include "runtime/abi/program.h"

#include "mlir/IR/Types.h"

#include <optional>

namespace mtc {

/// Returns whether tensors of the dialect may have the element type.
bool hasTypeCode(mlir::Type element);
/// Returns the ABI code of an element type for which `hasTypeCode` is true.
MtcType typeCode(mlir::Type element);
/// Returns the type with a valid code.
mlir::Type typeOfCode(uint32_t code, mlir::MLIRContext *context);

/// Returns the type's name for an MtcType code, such as `f32`, or "" for an invalid code.
llvm::StringRef typeName(uint32_t code);
/// Returns the MtcType code for a name, or nullopt if no type has that name.
std::optional<uint32_t> typeNamed(llvm::StringRef name);

/// Returns whether values of the type are computed in f32 and rounded when they are stored.
bool isNarrowFloat(mlir::Type element);
/// Returns whether the type is a float with fewer exponents than f32, in which gradients underflow.
bool hasSmallRange(mlir::Type element);
/// Returns whether sums of products of `operand` elements may be stored in or added to `element`:
/// the same type, or f32 for narrow floats.
bool holdsSumsOf(mlir::Type operand, mlir::Type element);
/// The same for MtcType codes. Sums of floats of 8 bits may also be stored in other narrow floats.
bool holdsSumsOf(uint32_t operand, uint32_t element);

/// Returns whether the MtcType is a float of 8 bits, whose values need a scale.
bool isFloat8(uint32_t code);

} // namespace mtc

#endif // MTC_IR_TYPECODE_H
