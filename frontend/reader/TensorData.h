//===- TensorData.h - The bytes of a TensorProto
//------------------------------------------------===//

#ifndef MTC_FRONTEND_READER_TENSORDATA_H
#define MTC_FRONTEND_READER_TENSORDATA_H

#include "frontend/reader/ExternalData.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mtc::onnx {

/// The type of a tensor; fails where the element type is unknown, a dimension negative or the
/// number of bytes beyond 2^62.
llvm::Expected<mlir::RankedTensorType> tensorType(mlir::MLIRContext *context,
                                                  const ::onnx::TensorProto &tensor);

/// The tensor's elements, row-major, little-endian, one byte for a boolean. Data that does not lie
/// in the file in this form is laid into `storage`. `files` is asked for external data.
llvm::Expected<llvm::ArrayRef<char>> tensorBytes(const ::onnx::TensorProto &tensor,
                                                 mlir::RankedTensorType type, ExternalFiles &files,
                                                 std::vector<char> &storage);

/// Bytes as an attribute.
mlir::DenseElementsAttr denseFromBytes(mlir::RankedTensorType type, llvm::ArrayRef<char> bytes);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_READER_TENSORDATA_H
