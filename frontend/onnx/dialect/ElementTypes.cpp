//===- ElementTypes.cpp - ONNX data types as MLIR element types -------------------------------===//

#include "frontend/onnx/dialect/ElementTypes.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace mtc::onnx {
namespace {

struct DataType {
  int64_t number;
  const char *name;
  Type (*type)(MLIRContext *);
};

template <unsigned width, IntegerType::SignednessSemantics sign = IntegerType::Signless>
Type integer(MLIRContext *context) {
  return IntegerType::get(context, width, sign);
}

template <typename FloatT> Type floating(MLIRContext *context) { return FloatT::get(context); }

template <typename FloatT> Type complex(MLIRContext *context) {
  return ComplexType::get(FloatT::get(context));
}

// onnx.proto3, message TensorProto, enum DataType.
constexpr DataType dataTypes[] = {
    {1, "FLOAT", floating<Float32Type>},
    {2, "UINT8", integer<8, IntegerType::Unsigned>},
    {3, "INT8", integer<8>},
    {4, "UINT16", integer<16, IntegerType::Unsigned>},
    {5, "INT16", integer<16>},
    {6, "INT32", integer<32>},
    {7, "INT64", integer<64>},
    {8, "STRING", nullptr},
    {9, "BOOL", integer<1>},
    {10, "FLOAT16", floating<Float16Type>},
    {11, "DOUBLE", floating<Float64Type>},
    {12, "UINT32", integer<32, IntegerType::Unsigned>},
    {13, "UINT64", integer<64, IntegerType::Unsigned>},
    {14, "COMPLEX64", complex<Float32Type>},
    {15, "COMPLEX128", complex<Float64Type>},
    {16, "BFLOAT16", floating<BFloat16Type>},
    {17, "FLOAT8E4M3FN", floating<Float8E4M3FNType>},
    {18, "FLOAT8E4M3FNUZ", floating<Float8E4M3FNUZType>},
    {19, "FLOAT8E5M2", floating<Float8E5M2Type>},
    {20, "FLOAT8E5M2FNUZ", floating<Float8E5M2FNUZType>},
    {21, "UINT4", integer<4, IntegerType::Unsigned>},
    {22, "INT4", integer<4>},
    {23, "FLOAT4E2M1", floating<Float4E2M1FNType>},
    {24, "FLOAT8E8M0", floating<Float8E8M0FNUType>},
    {25, "UINT2", integer<2, IntegerType::Unsigned>},
    {26, "INT2", integer<2>},
};

} // namespace

Type elementTypeFromOnnx(MLIRContext *context, int64_t dataType) {
  for (const DataType &entry : dataTypes)
    if (entry.number == dataType)
      return entry.type ? entry.type(context) : Type();
  return {};
}

std::optional<int64_t> elementTypeToOnnx(Type type) {
  for (const DataType &entry : dataTypes)
    if (entry.type && entry.type(type.getContext()) == type)
      return entry.number;
  return std::nullopt;
}

bool isPacked(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  return integer && (integer.getWidth() == 2 || integer.getWidth() == 4);
}

Type storedElementType(Type type) {
  if (!isPacked(type))
    return type;
  return IntegerType::get(type.getContext(), 8, cast<IntegerType>(type).getSignedness());
}

std::string onnxDataTypeName(int64_t dataType) {
  for (const DataType &entry : dataTypes)
    if (entry.number == dataType)
      return entry.name;
  return std::to_string(dataType);
}

} // namespace mtc::onnx
