//===- TrainableConstants.cpp - Constants that the user may take for parameters ---------------===//

#include "frontend/reader/TrainableConstants.h"

#include "frontend/reader/Functions.h"
#include "frontend/reader/InitializerUses.h"
#include "frontend/reader/NodeNames.h"
#include "frontend/reader/TensorData.h"

#include "onnx-ml.pb.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSwitch.h"

#include <cmath>
#include <cstring>

using namespace llvm;
using ::onnx::TensorProto;

namespace mtc::onnx {

namespace {

/// The tensor of a Constant node; null for one of other kinds.
const TensorProto *constantTensor(const ::onnx::NodeProto &node) {
  if (!isOperator(node, "Constant") || node.attribute_size() != 1 || node.output_size() != 1 ||
      node.attribute(0).name() != "value" || !node.attribute(0).has_t())
    return nullptr;
  return &node.attribute(0).t();
}

/// Elements of a tensor of f32 or f64; nothing for others and where the data is missing.
std::optional<std::vector<double>> valuesOf(Model &model, const TensorProto &tensor) {
  int64_t type = tensor.data_type();
  if (type != TensorProto::FLOAT && type != TensorProto::DOUBLE)
    return std::nullopt;
  Expected<ArrayRef<char>> bytes = model.tensorBytes(tensor);
  if (!bytes) {
    consumeError(bytes.takeError());
    return std::nullopt;
  }
  // A few decide, so large tables are not read through.
  constexpr size_t most = 4096;
  size_t width = elementBytes(type), count = std::min(most, bytes->size() / width);
  std::vector<double> values(count);
  for (size_t i = 0; i < count; ++i) {
    const char *from = bytes->data() + i * width;
    if (type == TensorProto::DOUBLE) {
      std::memcpy(&values[i], from, sizeof(double));
    } else {
      float value;
      std::memcpy(&value, from, sizeof(float));
      values[i] = value;
    }
  }
  return values;
}

/// A number that someone wrote or derived from a size: a decimal of up to four digits, √n, 1/√n.
bool isPlainNumber(double value) {
  if (!std::isfinite(value) || value == 0)
    return true;
  double digits = std::abs(value);
  digits *= std::pow(10, 3 - std::floor(std::log10(digits)));
  auto isWhole = [](double x) { return std::abs(x - std::round(x)) < 1e-5 * std::max(1.0, x); };
  double square = value * value;
  return isWhole(digits) || (square >= 1 && square < 1e6 && isWhole(square)) ||
         (square < 1 && 1 / square < 1e6 && isWhole(1 / square));
}

bool areAllEqual(ArrayRef<double> values) {
  return llvm::all_of(values, [&](double value) { return value == values.front(); });
}

/// No number of a mask.
bool isOrdinary(double value) { return std::isfinite(value) && std::abs(value) < 1e30; }

/// Whether an operator reads this operand as it reads a parameter.
bool isReadLikeParameter(const ::onnx::NodeProto &node, unsigned operand) {
  if (!normalizedDomain(node.domain()).empty())
    return false;
  StringRef op = node.op_type();
  if (op.ends_with("Normalization"))
    return operand >= 1 && operand <= 2;
  return StringSwitch<bool>(op)
      .Cases({"MatMul", "Gemm", "Einsum", "Add", "Sub", "Mul", "Div", "Concat"}, true)
      .Cases({"Conv", "ConvTranspose", "PRelu", "LSTM", "GRU", "RNN"}, operand >= 1)
      .Cases({"Gather", "Expand"}, operand == 0)
      .Default(false);
}

class Finder {
public:
  Finder(Model &model, const StringMap<InitializerClass> &classes)
      : model(model), graph(model.proto().graph()), classes(classes),
        hasList(hasSignature(model.proto())),
        isPytorch(model.proto().producer_name() == "pytorch") {
    for (std::string &name : findMissingParameters(model, classes))
      missing.insert(std::move(name));
  }

  std::vector<TrainableConstant> run() {
    for (const TensorProto &tensor : graph.initializer())
      addInitializer(tensor);
    for (auto [index, node] : llvm::enumerate(graph.node()))
      visit(node, index);
    std::vector<TrainableConstant> found;
    for (size_t index : used)
      found.push_back(sources[index].constant);
    return found;
  }

private:
  struct Source {
    TrainableConstant constant;
    const TensorProto *tensor;
    bool isNode;
  };
  /// Of a value that is known when the model is compiled: the constants that it is computed from,
  /// but for plain literals.
  using Origins = SmallVector<size_t, 2>;

  void addInitializer(const TensorProto &tensor) {
    auto known = classes.find(tensor.name());
    if (known == classes.end()) {
      origins[tensor.name()] = {}; // integers
      return;
    }
    const InitializerClass &found = known->second;
    if (found.isParameter || found.role != InitializerRole::Constant)
      return;
    origins[tensor.name()] = found.isKnownConstant ? Origins() : addSource(tensor, tensor.name());
  }

  Origins addSource(const TensorProto &tensor, const std::string &name, bool isNode = false) {
    sources.push_back({{name, {tensor.dims().begin(), tensor.dims().end()}, ""}, &tensor, isNode});
    return {sources.size() - 1};
  }

  void visit(const ::onnx::NodeProto &node, int64_t index) {
    if (isOperator(node, "Constant") && node.output_size() == 1) {
      const TensorProto *tensor = constantTensor(node);
      // The import says what is wrong with one whose elements cannot be counted.
      bool isSource = tensor && isFloatingPoint(tensor->data_type()) &&
                      !errorToBool(checkTensor(*tensor).takeError());
      origins[node.output(0)] = isSource ? addSource(*tensor, node.output(0), true) : Origins();
      return;
    }
    auto isConstant = [&](const std::string &input) {
      return input.empty() || origins.contains(input);
    };
    if (node.input_size() > 0 && llvm::all_of(node.input(), isConstant)) {
      SmallSetVector<size_t, 4> all;
      for (const std::string &input : node.input())
        if (auto found = origins.find(input); found != origins.end())
          all.insert(found->second.begin(), found->second.end());
      for (const std::string &output : node.output())
        origins[output] = Origins(all.begin(), all.end());
      return;
    }
    for (auto [operand, input] : llvm::enumerate(node.input()))
      if (auto found = origins.find(input);
          found != origins.end() && isReadLikeParameter(node, operand))
        for (size_t source : found->second)
          addUse(source, {&node, index, static_cast<unsigned>(operand), index,
                          static_cast<unsigned>(operand)});
  }

  void addUse(size_t index, const InitializerUse &use) {
    Source &source = sources[index];
    if (!source.constant.moduleName.empty() || rejected.contains(index))
      return;
    if (!looksTrainable(source, use)) {
      // Another use may be of the module that lacks a parameter.
      if (!hasList)
        rejected.insert(index);
      return;
    }
    used.insert(index);
  }

  bool looksTrainable(Source &source, const InitializerUse &use) {
    int64_t count = 1;
    for (int64_t extent : source.constant.shape)
      count *= extent;
    std::optional<std::vector<double>> values = valuesOf(model, *source.tensor);
    if (count == 0 || (values && !llvm::all_of(*values, isOrdinary)))
      return false;
    if (count == 1 && values && isPlainNumber(values->front()))
      return false;
    if (hasList) {
      source.constant.moduleName = missingParameterOf(use, count == 1);
      return missing.erase(source.constant.moduleName);
    }
    source.constant.moduleName = modulePath(*use.node);
    if (count == 1)
      return isPytorch && !source.isNode;
    return !values || !areAllEqual(*values);
  }

  /// The parameter that the file lacks and the use stands for: of the node's module, or if that is
  /// the only one, of a module inside it. A single number is of the module itself.
  std::string missingParameterOf(const InitializerUse &use, bool isNumber) const {
    std::string parameter = parameterOfUse(use, missing);
    if (!parameter.empty() && !(isNumber && isVector(parameter)))
      return parameter;
    std::string module = modulePath(*use.node), prefix = module.empty() ? "" : module + ".";
    SmallVector<StringRef> own, inner;
    for (const auto &entry : missing) {
      StringRef rest = entry.getKey();
      if (!rest.consume_front(prefix) || (isNumber && isVector(rest)))
        continue;
      (rest.contains('.') ? inner : own).push_back(entry.getKey());
    }
    if (own.size() == 1)
      return own.front().str();
    if (own.empty() && inner.size() == 1 && !module.empty() && !isNumber)
      return inner.front().str();
    return {};
  }

  /// Whether the name is one that modules give to parameters of more than one number.
  static bool isVector(StringRef name) {
    return name.ends_with("weight") || name.ends_with("bias");
  }

  Model &model;
  const ::onnx::GraphProto &graph;
  const StringMap<InitializerClass> &classes;
  bool hasList, isPytorch;
  StringSet<> missing;
  std::vector<Source> sources;
  StringMap<Origins> origins;
  SetVector<size_t> used;
  DenseSet<size_t> rejected;
};

} // namespace

std::vector<TrainableConstant> findTrainableConstants(Model &model,
                                                      const StringMap<InitializerClass> &classes) {
  return Finder(model, classes).run();
}

std::vector<std::string> floatConstantNodes(const Model &model) {
  std::vector<std::string> names;
  for (const auto &node : model.proto().graph().node())
    if (const TensorProto *tensor = constantTensor(node);
        tensor && isFloatingPoint(tensor->data_type()))
      names.push_back(node.output(0));
  return names;
}

std::vector<std::string> makeInitializers(Model &model, const StringSet<> &results) {
  ::onnx::GraphProto &graph = model.mutableGraph();
  std::vector<std::string> made;
  int kept = 0, count = graph.node_size();
  for (int i = 0; i < count; ++i) {
    const ::onnx::NodeProto &node = graph.node(i);
    const TensorProto *tensor = constantTensor(node);
    bool isTaken = tensor && isFloatingPoint(tensor->data_type()) &&
                   results.contains(node.output(0)) &&
                   model.addInitializer(*tensor, node.output(0));
    if (isTaken)
      made.push_back(node.output(0));
    else
      graph.mutable_node()->SwapElements(kept++, i);
  }
  graph.mutable_node()->DeleteSubrange(kept, count - kept);
  return made;
}

std::vector<std::string> findMissingParameters(const Model &model,
                                               const StringMap<InitializerClass> &classes) {
  StringSet<> known; // What constants look like does not count.
  for (const auto &entry : classes)
    if (entry.second.isParameter || entry.second.role == InitializerRole::Parameter)
      known.insert(entry.second.moduleName);
  std::vector<std::string> missing;
  for (std::string &name : signatureParameters(model.proto()))
    if (!known.contains(name) && !classes.contains(name))
      missing.push_back(std::move(name));
  return missing;
}

} // namespace mtc::onnx
