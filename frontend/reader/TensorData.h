//===- TensorData.h - The bytes of a TensorProto ----------------------------------------------===//
//
// ONNX keeps a tensor's elements in one of several fields (`raw_data`, `float_data`, ...); everyone
// else sees row-major little-endian bytes of the element type.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_READER_TENSORDATA_H
#define MTC_FRONTEND_READER_TENSORDATA_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <vector>

namespace onnx {
class TensorProto;
} // namespace onnx

namespace mtc::onnx {

/// No tensor is larger than this many bytes, so that sums and products of sizes do not overflow.
inline constexpr uint64_t maxTensorBytes = uint64_t(1) << 48;

/// Bytes of one element of a `TensorProto.DataType`; 0 for those that mtc does not hold: strings,
/// complex numbers, and types of less than a byte.
unsigned elementBytes(int64_t dataType);

/// Whether this `TensorProto.DataType` is one that can be trained: f16, bf16, f32, f64.
bool isFloatingPoint(int64_t dataType);

/// Bytes of a tensor of this type and shape. Errors: a type without bytes, a negative dimension, a
/// size above `maxTensorBytes`.
llvm::Expected<uint64_t> tensorBytes(llvm::ArrayRef<int64_t> shape, int64_t dataType);

/// Bytes of a tensor that is written in the file or named by it. Besides the errors above: not
/// exactly one field with elements, or a field with another number of elements than the shape has.
/// Does not look at external files.
llvm::Expected<uint64_t> checkTensor(const ::onnx::TensorProto &tensor);

/// The elements of a tensor with inline data that `checkTensor` accepts: `raw_data` itself, or
/// bytes put into `storage`.
llvm::ArrayRef<char> inlineBytes(const ::onnx::TensorProto &tensor, std::vector<char> &storage);

/// The type of a tensor that `checkTensor` accepts.
mlir::RankedTensorType tensorType(const ::onnx::TensorProto &tensor, mlir::MLIRContext *context);

/// Bytes as an attribute of this static type.
mlir::DenseElementsAttr denseElements(mlir::RankedTensorType type, llvm::ArrayRef<char> bytes);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_READER_TENSORDATA_H
