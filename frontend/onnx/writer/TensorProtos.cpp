//===- TensorProtos.cpp - Tensors of written models -------------------------------------------===//

#include "frontend/onnx/writer/TensorProtos.h"
#include "frontend/onnx/dialect/ElementTypes.h"

#include "onnx-ml.pb.h"

using namespace mlir;

namespace mtc::onnx {

void setHeader(::onnx::TensorProto &proto, RankedTensorType type) {
  proto.set_data_type(static_cast<int32_t>(*elementTypeToOnnx(type.getElementType())));
  for (int64_t extent : type.getShape())
    proto.add_dims(extent);
}

void setInfo(::onnx::ValueInfoProto &info, StringRef name, RankedTensorType type) {
  info.set_name(name.str());
  auto &tensor = *info.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(static_cast<int32_t>(*elementTypeToOnnx(type.getElementType())));
  auto &shape = *tensor.mutable_shape(); // A scalar has a shape without dimensions.
  for (int64_t extent : type.getShape())
    shape.add_dim()->set_dim_value(extent);
}

std::string allBytes(const Tensor &tensor) {
  ArrayRef<char> stored = tensor.bytes();
  std::string bytes;
  const int64_t copies = tensor.isSplat() ? tensor.size() : 1;
  bytes.reserve(stored.size() * copies);
  for (int64_t i = 0; i < copies; ++i)
    bytes.append(stored.data(), stored.size());
  return bytes;
}

} // namespace mtc::onnx
