//===- TensorProtos.h - Tensors of written models ---------------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_WRITER_TENSORPROTOS_H
#define MTC_FRONTEND_ONNX_WRITER_TENSORPROTOS_H

#include "frontend/onnx/dialect/Tensor.h"

#include <string>

namespace onnx {
class TensorProto;
class ValueInfoProto;
} // namespace onnx

namespace mtc::onnx {

/// Sets the element type and extents of a tensor.
void setHeader(::onnx::TensorProto &proto, mlir::RankedTensorType type);
/// Sets the name and the static type of an input or output.
void setInfo(::onnx::ValueInfoProto &info, llvm::StringRef name, mlir::RankedTensorType type);
/// Returns all elements as raw data; a splat is repeated.
std::string allBytes(const Tensor &tensor);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_WRITER_TENSORPROTOS_H
