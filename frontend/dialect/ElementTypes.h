//===- ElementTypes.h - ONNX data types as MLIR element types ---------------------------------===//
//
// The one mapping that the reader, the operators and the exporter share. Signed integers are
// signless in MLIR, unsigned ones carry their sign (`ui8`), booleans are `i1`.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_DIALECT_ELEMENTTYPES_H
#define MTC_FRONTEND_DIALECT_ELEMENTTYPES_H

#include "mlir/IR/BuiltinTypes.h"

#include <optional>
#include <string>

namespace mtc::onnx {

/// The element type for `dataType`, a value of ONNX's `TensorProto.DataType`. Null where the
/// frontend has none: UNDEFINED, STRING and numbers that the standard does not define.
mlir::Type elementTypeFromOnnx(mlir::MLIRContext *context, int64_t dataType);

/// The `TensorProto.DataType` of an element type; nothing for types that ONNX does not have.
std::optional<int64_t> elementTypeToOnnx(mlir::Type type);

/// The standard's name of a `TensorProto.DataType`, such as `FLOAT16`, for messages; the number
/// where it has none.
std::string onnxDataTypeName(int64_t dataType);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_DIALECT_ELEMENTTYPES_H
