//===- FoldedFunctions.cpp - Restore parameters folded by the exporter ------------------------===//

#include "frontend/onnx/reader/FoldedFunctions.h"

#include "frontend/onnx/dialect/FxValues.h"
#include "frontend/onnx/reader/ExporterMetadata.h"
#include "frontend/onnx/reader/NodeNames.h"

#include "onnx-ml.pb.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

#include <cmath>
#include <cstring>

using namespace llvm;
using ::onnx::GraphProto;
using ::onnx::NodeProto;
using ::onnx::TensorProto;

namespace mtc::onnx {

namespace {

/// An ONNX operator and its inverse function, which returns NaN or infinity outside the operator's
/// range.
struct Function {
  StringRef op;
  double (*inverse)(double);
  bool isOdd = false; // Whether f(-x) = -f(x), so that the position of a negation is ambiguous.
};

std::optional<Function> functionOf(StringRef fxName) {
  if (fxName == "exp")
    return Function{"Exp", [](double y) { return std::log(y); }};
  if (fxName == "sigmoid")
    return Function{"Sigmoid", [](double y) { return std::log(y / (1 - y)); }};
  if (fxName == "tanh")
    return Function{"Tanh", [](double y) { return std::atanh(y); }, true};
  return std::nullopt;
}

/// Computation of an initializer from a parameter.
struct Fold {
  std::string parameter;
  std::optional<Function> function;
  bool isNegated = false;
  SmallVector<std::string> layouts; // Values that only change the layout.
};

template <typename T> std::vector<double> elementsOf(ArrayRef<char> bytes) {
  std::vector<T> elements(bytes.size() / sizeof(T));
  std::memcpy(elements.data(), bytes.data(), bytes.size());
  return {elements.begin(), elements.end()};
}

/// Converts elements to bytes; returns nothing if an element is not finite.
template <typename T> std::optional<std::string> bytesOf(ArrayRef<double> elements) {
  std::vector<T> narrow(elements.begin(), elements.end());
  if (!llvm::all_of(narrow, [](T element) { return std::isfinite(element); }))
    return std::nullopt;
  return std::string(reinterpret_cast<const char *>(narrow.data()), narrow.size() * sizeof(T));
}

class Unfolder {
public:
  Unfolder(GraphProto &graph, const ExporterMetadata &metadata, TensorReader read)
      : graph(graph), metadata(metadata), read(read) {}

  void run() {
    llvm::StringSet<> inputs; // Initializers that are graph inputs may be set by the user.
    for (const auto &input : graph.input())
      inputs.insert(input.name());
    SmallVector<std::pair<int, Fold>> folds;
    for (int i = 0; i < graph.initializer_size(); ++i)
      if (const std::string &name = graph.initializer(i).name(); !inputs.contains(name))
        if (std::optional<Fold> fold = foldOf(name))
          folds.push_back({i, std::move(*fold)});
    if (folds.empty())
      return;
    names = namesOf(graph);
    SmallVector<int> replaced;
    for (auto &[index, fold] : folds)
      if (unfold(graph.initializer(index), fold))
        replaced.push_back(index);
    for (int index : llvm::reverse(replaced))
      graph.mutable_initializer()->DeleteSubrange(index, 1);
    for (TensorProto &tensor : tensors)
      *graph.add_initializer() = std::move(tensor);
    for (NodeProto &node : *graph.mutable_node())
      *nodes.Add() = std::move(node);
    graph.mutable_node()->Swap(&nodes);
  }

private:
  /// Returns the fold of an initializer, if it has one parameter and an invertible function.
  std::optional<Fold> foldOf(StringRef name) const {
    Fold fold;
    SmallVector<StringRef> values(metadata.originsOf(name));
    if (values.empty())
      return std::nullopt;
    values.push_back(name);
    for (StringRef value : values) {
      if (llvm::is_contained(metadata.parameters(), value)) {
        if (!fold.parameter.empty())
          return std::nullopt;
        fold.parameter = value.str();
      } else if (std::optional<Function> function = functionOf(operatorOfValue(value))) {
        if (fold.function)
          return std::nullopt;
        fold.function = function;
      } else if (operatorOfValue(value) == "neg") {
        if (fold.isNegated)
          return std::nullopt;
        fold.isNegated = true;
      } else if (changesLayout(value) || operatorOfValue(value) == "val") { // `val_N`: extents.
        fold.layouts.push_back(value.str());
      } else if (!keepsElements(value)) {
        return std::nullopt;
      }
    }
    bool hasInverse = fold.function ? !(fold.isNegated && fold.function->isOdd) : fold.isNegated;
    return hasInverse && !fold.parameter.empty() ? std::optional(std::move(fold)) : std::nullopt;
  }

  bool unfold(const TensorProto &tensor, const Fold &fold) {
    bool isDouble = tensor.data_type() == TensorProto::DOUBLE;
    if (!isDouble && tensor.data_type() != TensorProto::FLOAT)
      return false;
    Expected<ArrayRef<char>> bytes = read(tensor);
    if (!bytes) {
      consumeError(bytes.takeError()); // Reported when the initializer is read.
      return false;
    }
    std::vector<double> elements =
        isDouble ? elementsOf<double>(*bytes) : elementsOf<float>(*bytes);
    // exp and sigmoid are positive, so a negative element shows that the negation was applied last.
    bool isOutside =
        fold.isNegated &&
        (!fold.function || llvm::any_of(elements, [](double value) { return value < 0; }));
    for (double &element : elements) {
      double operand = isOutside ? -element : element;
      if (fold.function)
        operand = fold.function->inverse(operand);
      element = fold.isNegated && !isOutside ? -operand : operand;
    }
    std::optional<std::string> data =
        isDouble ? bytesOf<double>(elements) : bytesOf<float>(elements);
    if (!data)
      return false;
    bool isFirst = true;
    for (const auto &[parameter, readers] : partsOf(tensor.name(), fold)) {
      std::string value = isFirst ? tensor.name() : fresh(tensor.name() + ".");
      bool hasName = fold.layouts.empty();
      std::string operand = hasName ? parameter : fresh("val_");
      if (!hasName)
        addOrigins(operand, parameter, fold.layouts);
      if (!hasName || names.insert(parameter).second)
        addTensor(tensor, operand, *data);
      addNodes(fold, isOutside, operand, value);
      for (auto [node, index] : readers)
        node->set_input(index, value);
      isFirst = false;
    }
    return true;
  }

  struct Part {
    std::string parameter;
    SmallVector<std::pair<NodeProto *, int>> readers;
  };

  /// Returns the parameters that an initializer represents, starting with the parameter of the
  /// fold. The other parameters have the same name in other modules; `readers` of each are the
  /// operands in its module that read the initializer.
  std::vector<Part> partsOf(StringRef initializer, const Fold &fold) {
    std::vector<Part> parts = {{fold.parameter, {}}};
    auto [module, leaf] = StringRef(fold.parameter).rsplit('.');
    for (NodeProto &node : *graph.mutable_node())
      for (int i = 0; i < node.input_size(); ++i) {
        if (node.input(i) != initializer)
          continue;
        std::string own = metadata.modulePathOf(node) + "." + leaf.str();
        if (own == fold.parameter || leaf.empty() || names.contains(own) ||
            !llvm::is_contained(metadata.parameters(), own))
          continue;
        auto part = llvm::find_if(parts, [&](const Part &each) { return each.parameter == own; });
        if (part == parts.end())
          part = parts.insert(part, {own, {}});
        part->readers.push_back({&node, i});
      }
    return parts;
  }

  void addTensor(const TensorProto &like, const std::string &name, const std::string &elements) {
    TensorProto &tensor = tensors.emplace_back();
    tensor.set_name(name);
    tensor.set_data_type(like.data_type());
    *tensor.mutable_dims() = like.dims();
    tensor.set_raw_data(elements);
  }

  /// Records the origins that the exporter would write for a parameter in another layout.
  void addOrigins(const std::string &name, const std::string &parameter,
                  ArrayRef<std::string> layouts) {
    std::string text = "['" + parameter + "'";
    for (const std::string &layout : layouts)
      text += ", '" + layout + "'";
    auto &info = *graph.add_value_info();
    info.set_name(name);
    ExporterMetadata::setOrigins(info, text + "]");
  }

  void addNodes(const Fold &fold, bool isOutside, const std::string &parameter,
                const std::string &value) {
    SmallVector<StringRef, 2> ops;
    if (fold.function)
      ops.push_back(fold.function->op);
    if (fold.isNegated)
      ops.insert(isOutside ? ops.end() : ops.begin(), "Neg");
    std::string operand = parameter;
    for (auto [i, op] : llvm::enumerate(ops)) {
      NodeProto &node = *nodes.Add();
      node.set_op_type(op.str());
      node.set_name(fresh(value + "_" + op.lower() + "_"));
      node.add_input(operand);
      operand = i + 1 == ops.size() ? value : fresh(value + ".");
      node.add_output(operand);
    }
  }

  /// Returns STEM followed by the first unused number, starting at 1.
  std::string fresh(const std::string &stem) {
    for (size_t i = 1;; ++i)
      if (std::string name = stem + std::to_string(i); names.insert(name).second)
        return name;
  }

  GraphProto &graph;
  const ExporterMetadata &metadata;
  TensorReader read;
  llvm::StringSet<> names;
  std::vector<TensorProto> tensors;
  google::protobuf::RepeatedPtrField<NodeProto> nodes;
};

} // namespace

void unfoldFunctions(GraphProto &graph, const ExporterMetadata &metadata, TensorReader read) {
  Unfolder(graph, metadata, read).run();
}

} // namespace mtc::onnx
