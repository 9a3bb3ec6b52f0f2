//===- Export.cpp - The model with other weights
//------------------------------------------------===//
//
// A protobuf message is the concatenation of its fields in any order, and the length of each is
// known before its data is: so the file can be written but for the weights at compile time.
//
//===----------------------------------------------------------------------------------------------===//

#include "frontend/reader/Export.h"
#include "frontend/reader/TensorData.h"
#include "ir/Mtc.h"

#include "onnx-ml.pb.h"
#include "llvm/Support/FormatVariadic.h"

#include <limits>

using namespace mtc::onnx;
using ::onnx::GraphProto;
using ::onnx::ModelProto;
using ::onnx::TensorProto;

/// Appends a number in protobuf's variable-length form.
static void appendVarint(std::string &out, uint64_t value) {
  for (; value >= 128; value >>= 7)
    out.push_back(static_cast<char>(value | 128));
  out.push_back(static_cast<char>(value));
}

/// Appends the start of a length-delimited field.
static void appendField(std::string &out, int number, uint64_t length) {
  appendVarint(out, static_cast<uint64_t>(number) << 3 | 2);
  appendVarint(out, length);
}

static void removeData(TensorProto &tensor) {
  tensor.clear_raw_data();
  tensor.clear_float_data();
  tensor.clear_int32_data();
  tensor.clear_int64_data();
  tensor.clear_double_data();
  tensor.clear_uint64_data();
  tensor.clear_external_data();
  tensor.clear_data_location();
}

llvm::Expected<std::vector<FileSegment>>
mtc::onnx::exportSegments(Model &model, mlir::MLIRContext &context,
                          const llvm::StringSet<> &initializers) {
  const GraphProto &graph = model.proto().graph();
  GraphProto rest = graph;
  rest.clear_initializer();
  std::vector<FileSegment> tensors; // Each initializer's field up to its data.
  uint64_t tensorBytes = 0;
  for (const TensorProto &tensor : graph.initializer()) {
    auto type = tensorType(&context, tensor);
    if (!type)
      return type.takeError();
    if (!initializers.contains(tensor.name())) {
      TensorProto &copy = *rest.add_initializer() = tensor;
      if (tensor.data_location() == TensorProto::EXTERNAL) {
        auto bytes = model.tensorBytes(tensor, *type);
        if (!bytes)
          return bytes.takeError();
        removeData(copy);
        copy.set_raw_data(bytes->data(), bytes->size());
      }
      continue;
    }
    TensorProto head = tensor;
    removeData(head);
    std::string content = head.SerializeAsString();
    uint64_t bytes = mtc::byteSize(*type);
    appendField(content, TensorProto::kRawDataFieldNumber, bytes);
    std::string field;
    appendField(field, GraphProto::kInitializerFieldNumber, content.size() + bytes);
    field += content;
    tensorBytes += field.size() + bytes;
    tensors.push_back({std::move(field), tensor.name()});
  }

  ModelProto outer = model.proto();
  outer.clear_graph();
  std::string start = outer.SerializeAsString();
  std::string graphRest = rest.SerializeAsString();
  uint64_t graphBytes = graphRest.size() + tensorBytes;
  if (graphBytes + start.size() > std::numeric_limits<int32_t>::max())
    return llvm::createStringError(
        llvm::inconvertibleErrorCode(),
        llvm::formatv("the model would have {0} bytes, more than the 2 GiB of a protobuf file",
                      graphBytes + start.size())
            .str());
  appendField(start, ModelProto::kGraphFieldNumber, graphBytes);
  start += graphRest;
  std::vector<FileSegment> segments;
  for (FileSegment &tensor : tensors) {
    segments.push_back({std::move(start) + tensor.bytes, tensor.initializer});
    start.clear();
  }
  if (segments.empty())
    segments.push_back({std::move(start), ""});
  return segments;
}
