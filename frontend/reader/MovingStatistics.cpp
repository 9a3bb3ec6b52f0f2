//===- MovingStatistics.cpp - Decomposed batch normalizations ---------------------------------===//

#include "frontend/reader/MovingStatistics.h"

#include "frontend/reader/Functions.h"
#include "frontend/reader/TensorData.h"

#include "onnx-ml.pb.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace llvm;

namespace mtc::onnx {

namespace {

/// The parts of a path such as `sequential/bn/moving_mean:0`.
SmallVector<StringRef> partsOf(StringRef name) {
  SmallVector<StringRef> parts;
  SplitString(name, parts, "/.:");
  return parts;
}

/// The one float that a tensor holds; nothing for other tensors, and where its data is in another
/// file.
std::optional<double> numberOf(const ::onnx::TensorProto &tensor) {
  if (llvm::any_of(tensor.dims(), [](int64_t extent) { return extent != 1; }) ||
      tensor.data_location() == ::onnx::TensorProto::EXTERNAL ||
      !isFloatingPoint(tensor.data_type()))
    return std::nullopt;
  if (Expected<uint64_t> bytes = checkTensor(tensor); !bytes) {
    consumeError(bytes.takeError());
    return std::nullopt;
  }
  std::vector<char> storage;
  ArrayRef<char> bytes = inlineBytes(tensor, storage);
  uint64_t bits = 0;
  std::memcpy(&bits, bytes.data(), bytes.size());
  const fltSemantics &semantics =
      tensor.data_type() == ::onnx::TensorProto::FLOAT     ? APFloat::IEEEsingle()
      : tensor.data_type() == ::onnx::TensorProto::DOUBLE  ? APFloat::IEEEdouble()
      : tensor.data_type() == ::onnx::TensorProto::FLOAT16 ? APFloat::IEEEhalf()
                                                           : APFloat::BFloat();
  return APFloat(semantics, APInt(8 * bytes.size(), bits)).convertToDouble();
}

/// Looks at the graph in its order, from where a square root is taken on.
class Finder {
public:
  explicit Finder(const ::onnx::GraphProto &graph) : graph(graph) {
    for (const auto &tensor : graph.initializer())
      if (tensor.dims_size() > 0)
        origins[tensor.name()] = tensor.name();
      else
        scalars[tensor.name()] = mtc::onnx::numberOf(tensor);
  }

  StringSet<> run() {
    for (const auto &node : graph.node()) {
      if (isOperator(node, "Constant") && node.output_size() == 1)
        scalars[node.output(0)] = numberOf(node);
      else if (node.output_size() == 1)
        visit(node);
    }
    return std::move(found);
  }

private:
  void visit(const ::onnx::NodeProto &node) {
    if (node.input_size() == 0)
      return;
    StringRef result = node.output(0), op = node.op_type();
    if (isMovement(op))
      return follow(node.input(0), result);
    if (node.input_size() == 2)
      visitBinary(op, node.input(0), node.input(1), result);
    else if (op == "Sqrt" && shifted.contains(node.input(0)))
      addVariance(shifted.lookup(node.input(0)), result);
    else if (op == "Reciprocal" && deviations.contains(node.input(0)))
      deviations.insert(result);
  }

  void visitBinary(StringRef op, StringRef a, StringRef b, StringRef result) {
    bool isScaled = op == "Mul" || op == "Div";
    if (op == "Add" && origins.contains(a) && isEpsilon(b))
      shifted[result] = origins[a];
    else if (op == "Add" && origins.contains(b) && isEpsilon(a))
      shifted[result] = origins[b];
    else if (op == "Pow" && shifted.contains(a) && isRoot(b))
      addVariance(shifted.lookup(a), result);
    else if (isScaled && deviations.contains(b))
      scaleBy(a, result);
    else if (isScaled && deviations.contains(a))
      scaleBy(b, result);
    else if (op == "Sub" && origins.contains(b) && !origins.contains(a))
      centred[result] = origins[b];
    else if (op == "Sub" && scaled.contains(b) && origins.contains(a))
      found.insert(scaled[b]);
  }

  /// `value` times or by a deviation: a scale of the normalization where it is an initializer, what
  /// is normalized where a mean has been taken off.
  void scaleBy(StringRef value, StringRef result) {
    if (auto mean = centred.find(value); mean != centred.end())
      found.insert(mean->second);
    if (!origins.contains(value) && !scalars.contains(value))
      return;
    deviations.insert(result);
    if (origins.contains(value))
      scaled[result] = origins[value];
  }

  void addVariance(StringRef initializer, StringRef deviation) {
    found.insert(initializer);
    deviations.insert(deviation);
  }

  static std::optional<double> numberOf(const ::onnx::NodeProto &constant) {
    for (const auto &attribute : constant.attribute())
      if (attribute.name() == "value")
        return mtc::onnx::numberOf(attribute.t());
      else if (attribute.name() == "value_float")
        return attribute.f();
    return std::nullopt;
  }

  /// Such as 1e-3 of Keras and 1e-5 of PyTorch.
  bool isEpsilon(StringRef value) const {
    std::optional<double> number = scalars.lookup(value);
    return number && *number > 0 && *number <= 0.1;
  }

  /// Whether the power of this exponent is a square root or its inverse.
  bool isRoot(StringRef exponent) const {
    std::optional<double> number = scalars.lookup(exponent);
    return number && std::abs(*number) == 0.5;
  }

  static bool isMovement(StringRef op) {
    static constexpr StringRef names[] = {"Identity", "Cast", "Reshape", "Unsqueeze", "Squeeze"};
    return llvm::is_contained(names, op);
  }

  void follow(StringRef value, StringRef result) {
    for (auto *values : {&origins, &shifted, &centred, &scaled})
      if (auto known = values->find(value); known != values->end()) {
        std::string origin = known->second;
        (*values)[result] = std::move(origin);
      }
    if (auto known = scalars.find(value); known != scalars.end()) {
      std::optional<double> number = known->second;
      scalars[result] = number;
    }
    if (deviations.contains(value))
      deviations.insert(result);
  }

  const ::onnx::GraphProto &graph;
  StringMap<std::string> origins;           // Values that are an initializer, by name.
  StringMap<std::string> shifted;           // variance + epsilon
  StringMap<std::string> centred;           // x - mean
  StringMap<std::string> scaled;            // mean * s, but gamma * 1 / sqrt too
  StringMap<std::optional<double>> scalars; // Numbers such as epsilon, where they are known.
  StringSet<> deviations;                   // sqrt(variance + epsilon), its inverse, and multiples.
  StringSet<> found;
};

} // namespace

bool isNamedAsMovingStatistic(StringRef name) {
  static constexpr StringRef names[] = {"moving_mean",  "moving_variance",  "moving_var",
                                        "running_mean", "running_variance", "running_var"};
  return llvm::any_of(partsOf(name), [&](StringRef part) {
    return llvm::any_of(names, [&](StringRef known) {
      StringRef rest = part;
      return rest.consume_front(known) &&
             llvm::all_of(rest, [](char c) { return c == '_' || isDigit(c); });
    });
  });
}

bool isNamedAsFoldedNormalization(StringRef name) {
  SmallVector<StringRef> parts = partsOf(name);
  const auto *found = llvm::find(parts, "batchnorm");
  return found != parts.end() && std::next(found) != parts.end() &&
         (std::next(found)->starts_with("mul") || std::next(found)->starts_with("sub"));
}

StringSet<> findMovingStatistics(const ::onnx::GraphProto &graph) {
  StringSet<> found = Finder(graph).run();
  for (const auto &tensor : graph.initializer())
    if (isNamedAsMovingStatistic(tensor.name()))
      found.insert(tensor.name());
  return found;
}

} // namespace mtc::onnx
