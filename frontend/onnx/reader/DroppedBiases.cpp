//===- DroppedBiases.cpp - Restore zero biases removed by the exporter ------------------------===//

#include "frontend/onnx/reader/DroppedBiases.h"

#include "frontend/onnx/dialect/Onnx.h"
#include "frontend/onnx/reader/ExporterMetadata.h"
#include "frontend/onnx/reader/TensorData.h"

#include "onnx-ml.pb.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using ::onnx::GraphProto;
using ::onnx::NodeProto;
using ::onnx::TensorProto;

namespace mtc::onnx {

namespace {

bool lostBias(const NodeProto &node) {
  return node.domain().empty() && node.input_size() >= 2 &&
         (node.input_size() == 2 || node.input(2).empty()) &&
         ExporterMetadata::rulesOf(node).contains(droppedBiasRule);
}

int64_t integerOr(const NodeProto &node, StringRef name, int64_t absent) {
  for (const auto &attribute : node.attribute())
    if (attribute.name() == name)
      return attribute.i();
  return absent;
}

/// Returns the position of the bias among the tensor arguments of an FX operator.
std::optional<size_t> biasArgument(StringRef fxOperator) {
  return StringSwitch<std::optional<size_t>>(fxOperator)
      .Case("aten.addmm.default", 0)
      .Case("aten.linear.default", 2)
      .Cases({"aten.conv1d.default", "aten.conv2d.default", "aten.conv3d.default"}, 2)
      .Cases({"aten.conv1d.padding", "aten.conv2d.padding", "aten.conv3d.padding"}, 2)
      .Cases({"aten.conv_transpose1d.default", "aten.conv_transpose2d.input"}, 2)
      .Cases({"aten.conv_transpose3d.input", "aten.convolution.default"}, 2)
      .Default(std::nullopt);
}

class Restorer {
public:
  Restorer(GraphProto &graph, const ExporterMetadata &metadata) : graph(graph), metadata(metadata) {
    for (const TensorProto &tensor : graph.initializer())
      if (tensor.dims_size() >= 2)
        weights[tensor.name()] = &tensor;
  }

  void run() {
    for (NodeProto &node : *graph.mutable_node())
      if (lostBias(node))
        restore(node);
    for (TensorProto &bias : biases)
      *graph.add_initializer() = std::move(bias);
  }

private:
  void restore(NodeProto &node) {
    auto weight = weights.find(node.input(1));
    std::optional<size_t> index = biasArgument(ExporterMetadata::operatorOf(node));
    std::vector<std::string> arguments = metadata.argumentsOf(node);
    if (weight == weights.end() || !index || *index >= arguments.size() ||
        !llvm::is_contained(metadata.parameters(), arguments[*index]))
      return;
    const std::string &name = arguments[*index];
    if (!addBias(name, channelsOf(node, *weight->second), *weight->second))
      return;
    if (node.input_size() == 2)
      node.add_input(name);
    else
      node.set_input(2, name);
  }

  /// Returns the number of output channels; 0 on overflow.
  static int64_t channelsOf(const NodeProto &node, const TensorProto &weight) {
    if (node.op_type() == "ConvTranspose") {
      int64_t channels = 0;
      bool isTooLarge =
          __builtin_mul_overflow(weight.dims(1), integerOr(node, "group", 1), &channels);
      return isTooLarge ? 0 : channels;
    }
    bool isTransposed = node.op_type() != "Gemm" || integerOr(node, "transB", 0) != 0;
    return weight.dims(isTransposed ? 0 : 1);
  }

  /// Adds the bias once for all calls of the module. Returns false if the weight's type is not a
  /// floating-point type, or if the weight has fewer elements than the bias.
  bool addBias(const std::string &name, int64_t channels, const TensorProto &weight) {
    auto hasName = [&](const TensorProto &tensor) { return tensor.name() == name; };
    if (llvm::any_of(graph.initializer(), hasName) || llvm::any_of(biases, hasName))
      return true;
    if (!isFloatingPoint(weight.data_type()))
      return false;
    uint64_t width = elementBytes(weight.data_type());
    // The weight has not been checked yet, so its extents may not match its data. The size of the
    // weight's data bounds the allocation.
    bool isExternal = weight.data_location() == TensorProto::EXTERNAL;
    uint64_t maximum = isExternal ? maxExternalBytes : weight.ByteSizeLong();
    if (channels <= 0 || static_cast<uint64_t>(channels) > maximum / width)
      return false;
    TensorProto &bias = biases.emplace_back();
    bias.set_name(name);
    bias.set_data_type(weight.data_type());
    bias.add_dims(channels);
    bias.set_raw_data(std::string(width * static_cast<size_t>(channels), '\0'));
    return true;
  }

  static constexpr uint64_t maxExternalBytes = 1 << 24;

  GraphProto &graph;
  const ExporterMetadata &metadata;
  StringMap<const TensorProto *> weights;
  std::vector<TensorProto> biases;
};

} // namespace

void restoreDroppedBiases(GraphProto &graph, const ExporterMetadata &metadata) {
  Restorer(graph, metadata).run();
}

} // namespace mtc::onnx
