//===- TensorData.h - Element data of a TensorProto -------------------------------------------===//
//
// ONNX stores a tensor's elements in one of several fields (`raw_data`, `float_data`, ...). This
// component converts them to row-major, little-endian bytes of the element type.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_READER_TENSORDATA_H
#define MTC_FRONTEND_ONNX_READER_TENSORDATA_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <vector>

namespace onnx {
class TensorProto;
} // namespace onnx

namespace mtc::onnx {

/// Maximum tensor size in bytes, so that sums and products of sizes do not overflow.
inline constexpr uint64_t maxTensorBytes = uint64_t(1) << 48;

/// Returns the size of an element of a `TensorProto.DataType` in bytes; 0 for unsupported types:
/// strings, complex numbers, and types of less than a byte.
unsigned elementBytes(int64_t dataType);

/// Returns whether this `TensorProto.DataType` can be trained: f16, bf16, f32, f64.
bool isFloatingPoint(int64_t dataType);

/// Returns the size in bytes of a value of this type and shape. Fails for unsupported types,
/// including those of less than a byte, negative dimensions and sizes above `maxTensorBytes`.
llvm::Expected<uint64_t> tensorBytes(llvm::ArrayRef<int64_t> shape, int64_t dataType);

/// Returns the size in bytes of a tensor of the file, which may have integers of 2 or 4 bits. In
/// addition to the errors of `tensorBytes`, fails if several fields have elements, or if their
/// number does not match the shape. Does not check external files.
llvm::Expected<uint64_t> checkTensor(const ::onnx::TensorProto &tensor);

/// Returns the elements of a tensor with inline data that passed `checkTensor`: `raw_data` itself,
/// or bytes converted into `storage`.
llvm::ArrayRef<char> inlineBytes(const ::onnx::TensorProto &tensor, std::vector<char> &storage);

/// Returns the type of a tensor that passed `checkTensor`.
mlir::RankedTensorType tensorType(const ::onnx::TensorProto &tensor, mlir::MLIRContext *context);

/// Returns the bytes as an attribute of this static type.
mlir::DenseElementsAttr denseElements(mlir::RankedTensorType type, llvm::ArrayRef<char> bytes);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_READER_TENSORDATA_H
