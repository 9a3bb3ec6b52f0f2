//===- RecurrentImages.cpp - Mapping of recurrent weights to PyTorch's tensors ----------------===//

#include "frontend/onnx/parameters/RecurrentImages.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace mtc::onnx {

/// Returns the indices in ONNX of the gates in PyTorch's order. The gates of LSTM are i f g o in
/// PyTorch and i o f c in ONNX, those of GRU r z n and z r h.
static SmallVector<int64_t> gatesOf(NodeOp node) {
  if (node.isOperator("LSTM"))
    return {0, 2, 3, 1};
  if (node.isOperator("GRU"))
    return {1, 0, 2};
  return {0};
}

bool isRecurrentWeight(ArrayRef<InitializerUse> uses) {
  return !uses.empty() && llvm::all_of(uses, [](const InitializerUse &use) {
    return isRecurrent(use.node) && use.operand >= 1 && use.operand <= 3;
  });
}

RecurrentImages::RecurrentImages(GraphOp graph) : provenance(graph), isListed(hasSignature(graph)) {
  isPyTorch = isProducedBy(graph, "pytorch");
  llvm::StringMap<int64_t> counts; // Layers per module.
  for (auto node : graph.getOps<NodeOp>())
    if (isRecurrent(node) && node.getNumOperands() > 2 && !layers.contains(node.getOperand(1)))
      layers[node.getOperand(1)] = counts[modulePath(node)]++;
}

/// Returns the affixes of the parameter names of an initializer's layer, such as `lstm.%_l0`; empty
/// if the layer is unknown.
std::string RecurrentImages::stemOf(InitializerOp initializer, NodeOp node) const {
  if (isListed) {
    std::vector<std::string> folded = provenance.foldedParameters(initializer);
    for (StringRef name : folded)
      for (StringRef kind : {"weight_ih_l", "weight_hh_l", "bias_ih_l"})
        if (size_t at = name.rfind(kind); at != StringRef::npos && !name.ends_with("_reverse"))
          return (name.take_front(at) + "%_l" + name.drop_front(at + kind.size())).str();
    return "";
  }
  std::string module = modulePath(node);
  auto layer = layers.find(node.getOperand(1));
  if (module.empty() || layer == layers.end())
    return "";
  return module + ".%_l" + std::to_string(layer->second);
}

SmallVector<Attribute> RecurrentImages::find(InitializerOp initializer,
                                             ArrayRef<InitializerUse> uses) const {
  NodeOp node = uses.front().node;
  auto direction = node.getNodeAttributes().getAs<StringAttr>("direction");
  auto type = cast<RankedTensorType>(initializer.getType());
  SmallVector<int64_t> gates = gatesOf(node);
  unsigned operand = uses.front().operand;
  bool isBias = operand == 3;
  int64_t rows = type.getRank() >= 2 ? type.getDimSize(1) / (isBias ? 2 : 1) : 0;
  auto count = static_cast<int64_t>(gates.size());
  std::string stem = stemOf(initializer, node);
  if (!isPyTorch || stem.empty() || type.getRank() != (isBias ? 2 : 3) || rows % count != 0 ||
      (direction && direction.getValue() == "reverse"))
    return {};
  auto [prefix, suffix] = StringRef(stem).split('%');
  MLIRContext *context = initializer.getContext();
  int64_t width = isBias ? 1 : type.getDimSize(2), gate = rows / count;
  SmallVector<Attribute> images;
  auto add = [&](StringRef kind, int64_t direction, int64_t firstRow) {
    SmallVector<ImagePartAttr> parts;
    for (auto [place, number] : llvm::enumerate(gates))
      parts.push_back(ImagePartAttr::get(
          context, (direction * type.getDimSize(1) + firstRow + number * gate) * width,
          static_cast<int64_t>(place) * gate * width, gate * width, 1, 1));
    std::string name = (prefix + kind + suffix + (direction ? "_reverse" : "")).str();
    SmallVector<int64_t> shape = {rows};
    if (!isBias)
      shape.push_back(width);
    images.push_back(TensorImageAttr::get(context, name, shape, parts));
  };
  for (int64_t direction = 0; direction < type.getDimSize(0); ++direction) {
    if (!isBias) {
      add(operand == 1 ? "weight_ih" : "weight_hh", direction, 0);
      continue;
    }
    add("bias_ih", direction, 0);
    add("bias_hh", direction, rows);
  }
  if (isListed)
    for (auto image : images)
      if (!provenance.isParameter(cast<TensorImageAttr>(image).getName()))
        return {};
  return images;
}

} // namespace mtc::onnx
