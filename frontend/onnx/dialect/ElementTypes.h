//===- ElementTypes.h - ONNX data types as MLIR element types ---------------------------------===//
//
// The one mapping between ONNX data types and MLIR element types, shared by the reader, the
// operators and the exporter. Signed integers are signless in MLIR, unsigned integers are unsigned
// (`ui8`), and booleans are `i1`.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_DIALECT_ELEMENTTYPES_H
#define MTC_FRONTEND_ONNX_DIALECT_ELEMENTTYPES_H

#include "mlir/IR/BuiltinTypes.h"

#include <optional>
#include <string>

namespace mtc::onnx {

/// Returns the element type for `dataType`, a value of `TensorProto.DataType`. Returns null for
/// UNDEFINED, STRING and values that the ONNX standard does not define.
mlir::Type elementTypeFromOnnx(mlir::MLIRContext *context, int64_t dataType);

/// Returns the `TensorProto.DataType` of an element type, or nullopt if ONNX has no such type.
std::optional<int64_t> elementTypeToOnnx(mlir::Type type);

/// Returns whether this is an integer type of 2 or 4 bits, of which ONNX packs several elements
/// into a byte.
bool isPacked(mlir::Type type);

/// Returns the element type in which programs store values of this type: i8 or ui8 for packed
/// types, otherwise the type itself.
mlir::Type storedElementType(mlir::Type type);

/// Returns the standard's name of a `TensorProto.DataType`, such as `FLOAT16`, for messages, or the
/// number if the standard does not define it.
std::string onnxDataTypeName(int64_t dataType);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_DIALECT_ELEMENTTYPES_H
