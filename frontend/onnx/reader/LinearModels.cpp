//===- LinearModels.cpp - Expansion of ai.onnx.ml linear models -------------------------------===//

#include "frontend/onnx/reader/LinearModels.h"

#include "frontend/onnx/reader/NodeNames.h"

#include "onnx-ml.pb.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

#include <optional>
#include <vector>

using namespace llvm;
using ::onnx::AttributeProto;
using ::onnx::GraphProto;
using ::onnx::NodeProto;
using ::onnx::TensorProto;

namespace mtc::onnx {

namespace {

/// The attributes of both operators.
struct LinearModel {
  std::vector<float> coefficients, intercepts;
  std::vector<int64_t> integerLabels;
  std::vector<std::string> stringLabels;
  std::string transform = "NONE";
  int64_t targets = 1;

  explicit LinearModel(const NodeProto &node) {
    for (const AttributeProto &attribute : node.attribute()) {
      StringRef name = attribute.name();
      if (name == "coefficients")
        coefficients.assign(attribute.floats().begin(), attribute.floats().end());
      else if (name == "intercepts")
        intercepts.assign(attribute.floats().begin(), attribute.floats().end());
      else if (name == "classlabels_ints")
        integerLabels.assign(attribute.ints().begin(), attribute.ints().end());
      else if (name == "classlabels_strings")
        stringLabels.assign(attribute.strings().begin(), attribute.strings().end());
      else if (name == "post_transform")
        transform = attribute.s();
      else if (name == "targets")
        targets = attribute.i();
    }
  }

  size_t labels() const { return std::max(integerLabels.size(), stringLabels.size()); }
};

/// Returns whether the two rows are negatives of each other.
bool areOpposite(ArrayRef<float> rows) {
  size_t half = rows.size() / 2;
  return llvm::all_of_zip(rows.take_front(half), rows.drop_front(half),
                          [](float a, float b) { return a == -b; });
}

/// Builds the nodes of one model.
class Expansion {
public:
  Expansion(GraphProto &graph, StringSet<> &names, const NodeProto &node, int64_t index,
            std::vector<NodeProto> &nodes, Problems &problems)
      : graph(graph), names(names), node(node), prefix(displayName(node, index)),
        label(nodeLabel(node, index)), nodes(nodes), problems(problems), model(node) {}

  void run() {
    bool isClassifier = node.op_type() == "LinearClassifier";
    if (!check(isClassifier))
      return;
    bool isBinary = isClassifier && model.labels() == 2 && rows == 1;
    std::string x = add("Cast", {node.input(0)});
    setInteger("to", TensorProto::FLOAT);
    std::string z = addProduct(x);
    if (!isClassifier)
      return rename(transformed(z), output(0));
    std::string scores = isBinary ? addPair(z) : transformed(z);
    if (!output(0).empty())
      addLabel(isBinary ? concatenate(add("Neg", {z}), z) : z);
    rename(scores, output(1));
  }

private:
  std::string output(int i) const { return i < node.output_size() ? node.output(i) : ""; }

  bool reject(const Twine &text) {
    problems.add(label + ": " + text);
    return false;
  }

  bool check(bool isClassifier) {
    if (node.input_size() != 1 || node.output_size() < 1 || node.output_size() > 1 + isClassifier)
      return reject("has " + Twine(node.input_size()) + " inputs and " + Twine(node.output_size()) +
                    " outputs, expected one input and " + (isClassifier ? "two outputs" : "one"));
    if (!is_contained({"NONE", "LOGISTIC", "SOFTMAX"}, model.transform))
      return reject("post_transform " + quoted(model.transform) +
                    " is not supported, expected NONE, LOGISTIC or SOFTMAX");
    if (isClassifier && !model.integerLabels.empty() && !model.stringLabels.empty())
      return reject("has both classlabels_ints and classlabels_strings, expected one of them");
    rows = !isClassifier              ? model.targets
           : model.intercepts.empty() ? model.labels()
                                      : model.intercepts.size();
    auto count = static_cast<int64_t>(model.coefficients.size());
    if (rows <= 0 || count == 0 || count % rows != 0)
      return reject("has " + Twine(count) + " coefficients for " + Twine(rows) +
                    (isClassifier ? " classes" : " targets") + ", expected a multiple");
    if (!model.intercepts.empty() && static_cast<int64_t>(model.intercepts.size()) != rows)
      return reject("has " + Twine(model.intercepts.size()) + " intercepts, expected " +
                    Twine(rows));
    int64_t labels = model.labels();
    if (isClassifier && labels != rows && !(rows == 1 && labels == 2))
      return reject("has " + Twine(labels) + " class labels, expected " + Twine(rows));
    // The two rows are a single trainable weight.
    hasOppositeRows = isClassifier && rows == 2 && areOpposite(model.coefficients) &&
                      areOpposite(model.intercepts);
    if (hasOppositeRows) {
      rows = 1;
      model.coefficients.erase(model.coefficients.begin(), model.coefficients.begin() + count / 2);
      if (!model.intercepts.empty())
        model.intercepts.erase(model.intercepts.begin());
    }
    return true;
  }

  std::string freshName(StringRef suffix) {
    std::string base = prefix + "." + suffix.str(), name = base;
    for (int i = 1; !names.insert(name).second; ++i)
      name = base + "_" + std::to_string(i);
    return name;
  }

  std::string add(StringRef op, ArrayRef<std::string> inputs) {
    NodeProto &added = nodes.emplace_back();
    added.set_op_type(op.str());
    added.set_name(freshName(op));
    for (const std::string &input : inputs)
      added.add_input(input);
    added.add_output(freshName(op.lower()));
    return added.output(0);
  }

  /// Sets an attribute of the last added node.
  void setInteger(StringRef name, int64_t value) {
    AttributeProto &attribute = *nodes.back().add_attribute();
    attribute.set_name(name.str());
    attribute.set_type(AttributeProto::INT);
    attribute.set_i(value);
  }

  TensorProto &addInitializer(StringRef name, int32_t type, ArrayRef<int64_t> shape) {
    TensorProto &tensor = *graph.add_initializer();
    tensor.set_name(freshName(name));
    tensor.set_data_type(type);
    for (int64_t extent : shape)
      tensor.add_dims(extent);
    return tensor;
  }

  std::string addFloats(StringRef name, ArrayRef<float> values, ArrayRef<int64_t> shape) {
    TensorProto &tensor = addInitializer(name, TensorProto::FLOAT, shape);
    tensor.mutable_float_data()->Assign(values.begin(), values.end());
    return tensor.name();
  }

  /// Builds the linear function, of shape [batch, rows].
  std::string addProduct(const std::string &x) {
    auto count = static_cast<int64_t>(model.coefficients.size());
    std::string weights = addFloats("coefficients", model.coefficients, {rows, count / rows});
    if (model.intercepts.empty())
      return add("MatMul", {x, add("Transpose", {weights})});
    std::string z = add("Gemm", {x, weights, addFloats("intercepts", model.intercepts, rows)});
    setInteger("transB", 1);
    return z;
  }

  std::string transformed(const std::string &z) {
    if (model.transform == "NONE")
      return z;
    std::string y = add(model.transform == "LOGISTIC" ? "Sigmoid" : "Softmax", {z});
    if (model.transform == "SOFTMAX")
      setInteger("axis", 1);
    return y;
  }

  std::string concatenate(const std::string &first, const std::string &second) {
    std::string pair = add("Concat", {first, second});
    setInteger("axis", 1);
    return pair;
  }

  /// Returns the scores of both classes, from the score [batch, 1] of the second class. onnxruntime
  /// returns 1 - z and z for a single row without a logistic transformation.
  std::string addPair(const std::string &z) {
    if (hasOppositeRows && model.transform != "LOGISTIC")
      return transformed(concatenate(add("Neg", {z}), z));
    std::string one = addFloats("one", 1.0f, {});
    std::string p = model.transform == "LOGISTIC" ? transformed(z) : z;
    return concatenate(add("Sub", {one, p}), p);
  }

  void addLabel(const std::string &scores) {
    std::string index = add("ArgMax", {scores});
    setInteger("axis", 1);
    setInteger("keepdims", 0);
    bool isText = !model.stringLabels.empty();
    auto count = static_cast<int64_t>(model.labels());
    TensorProto &labels =
        addInitializer("classes", isText ? TensorProto::STRING : TensorProto::INT64, count);
    for (const std::string &text : model.stringLabels)
      labels.add_string_data(text);
    for (int64_t number : model.integerLabels)
      labels.add_int64_data(number);
    rename(add("Gather", {labels.name(), index}), output(0));
  }

  /// Renames a value of the expansion to the original node's output.
  void rename(const std::string &value, const std::string &name) {
    if (name.empty())
      return;
    for (NodeProto &added : nodes) {
      for (std::string &input : *added.mutable_input())
        if (input == value)
          input = name;
      for (std::string &result : *added.mutable_output())
        if (result == value)
          result = name;
    }
  }

  GraphProto &graph;
  StringSet<> &names;
  const NodeProto &node;
  std::string prefix, label;
  std::vector<NodeProto> &nodes;
  Problems &problems;
  LinearModel model;
  int64_t rows = 0;
  bool hasOppositeRows = false;
};

bool isLinearModel(const NodeProto &node) {
  return node.domain() == "ai.onnx.ml" &&
         (node.op_type() == "LinearClassifier" || node.op_type() == "LinearRegressor");
}

} // namespace

void expandLinearModels(GraphProto &graph, Problems &problems) {
  if (llvm::none_of(graph.node(), isLinearModel))
    return;
  StringSet<> names = namesOf(graph);
  google::protobuf::RepeatedPtrField<NodeProto> nodes;
  for (auto [index, node] : llvm::enumerate(*graph.mutable_node())) {
    if (!isLinearModel(node)) {
      *nodes.Add() = std::move(node);
      continue;
    }
    std::vector<NodeProto> expanded;
    Expansion(graph, names, node, index, expanded, problems).run();
    for (NodeProto &added : expanded)
      *nodes.Add() = std::move(added);
  }
  graph.mutable_node()->Swap(&nodes);
}

} // namespace mtc::onnx
