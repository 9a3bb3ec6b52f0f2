//===- MovingStatistics.cpp - Decomposed batch normalizations ---------------------------------===//

#include "frontend/onnx/parameters/MovingStatistics.h"

#include "frontend/onnx/parameters/Parameters.h"
#include "frontend/onnx/parameters/Provenance.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mlir;

namespace mtc::onnx {

namespace {

/// Splits a path such as `sequential/bn/moving_mean:0` at slashes, dots and colons.
SmallVector<StringRef> partsOf(StringRef name) {
  SmallVector<StringRef> parts;
  SplitString(name, parts, "/.:");
  return parts;
}

/// Returns the element of a floating-point tensor of one element, or nullopt for other or unknown
/// tensors.
std::optional<double> numberOf(ElementsAttr elements) {
  if (!elements || elements.getNumElements() != 1 || !isa<FloatType>(elements.getElementType()))
    return std::nullopt;
  return (*elements.value_begin<APFloat>()).convertToDouble();
}

/// Finds moving statistics in one forward walk, starting at the square root of each normalization.
class StatisticsFinder {
public:
  explicit StatisticsFinder(GraphOp graph)
      : graph(graph), provenance(graph), isKeras(provenance.hasVariables()) {}

  llvm::StringSet<> run() {
    for (Operation &op : graph.getBody().front()) {
      if (auto initializer = dyn_cast<InitializerOp>(op))
        visit(initializer);
      else if (auto constant = dyn_cast<ConstantOp>(op); constant && !op.hasAttr(boundAttribute))
        scalars[constant] = numberOf(constant.getValue());
      else if (auto node = dyn_cast<NodeOp>(op); node && node.getNumResults() == 1)
        visit(node);
    }
    return std::move(found);
  }

  /// Returns the scales gamma / sqrt(variance + epsilon) that are initializers. Must be called
  /// after `run`.
  std::vector<std::string> takeFoldedScales() { return std::move(foldedScales); }

private:
  void visit(InitializerOp initializer) {
    // Converters also store the epsilon with shape [1].
    auto type = cast<RankedTensorType>(initializer.getType());
    if (type.getRank() > 0)
      origins[initializer] = initializer.getName();
    if (type.hasStaticShape() && type.getNumElements() == 1)
      scalars[initializer] = numberOf(initializer.getSampleAttr());
    if (isKeras && provenance.isOfModule(initializer))
      variables.insert(initializer.getName());
  }

  void visit(NodeOp node) {
    if (node.getInputs().empty())
      return;
    Value first = node.getInputs().front(), result = node.getResult(0);
    StringRef op = node.getOpType();
    if (isMovement(op))
      return follow(first, result);
    if (node.getInputs().size() == 2)
      visitBinary(op, first, node.getInputs().back(), result);
    else if (op == "Sqrt" && shifted.contains(first))
      addVariance(shifted.lookup(first), result);
    else if (op == "Reciprocal" && deviations.contains(first))
      deviations.insert(result);
  }

  void visitBinary(StringRef op, Value a, Value b, Value result) {
    bool isScaled = op == "Mul" || op == "Div";
    if (op == "Add" && origins.contains(a) && isEpsilon(b))
      shifted[result] = origins.lookup(a);
    else if (op == "Add" && origins.contains(b) && isEpsilon(a))
      shifted[result] = origins.lookup(b);
    else if (op == "Pow" && shifted.contains(a) && isRoot(b))
      addVariance(shifted.lookup(a), result);
    else if (isScaled && deviations.contains(b))
      scaleBy(a, result);
    else if (isScaled && deviations.contains(a))
      scaleBy(b, result);
    else if (op == "Sub" && origins.contains(b) && !origins.contains(a))
      addCentred(origins.lookup(b), result);
    else if (op == "Div" && variables.contains(origins.lookup(b)))
      found.insert(origins.lookup(b));
    else if (op == "Sub" && scaled.contains(b) && origins.contains(a))
      found.insert(scaled.lookup(b));
    else if (op == "Mul" && centred.contains(a) && origins.contains(b))
      centredAndScaled[result] = {centred.lookup(a), origins.lookup(b)};
    else if (op == "Add" && centredAndScaled.contains(a) && origins.contains(b))
      addFolded(centredAndScaled.lookup(a));
  }

  /// Records a subtracted mean. Any Keras variable that is subtracted is a mean.
  void addCentred(StringRef mean, Value result) {
    centred[result] = mean;
    if (variables.contains(mean))
      found.insert(mean);
  }

  /// Records the pattern y = (x - mean) * c + beta, where c is the folded gamma / sqrt(variance +
  /// epsilon). A mean that is a parameter of the module has its own name, so only generated names
  /// are accepted.
  void addFolded(std::pair<StringRef, StringRef> meanAndScale) {
    auto [mean, scale] = meanAndScale;
    if (!isTorchScriptFoldedName(mean))
      return;
    found.insert(mean);
    foldedScales.push_back(scale.str());
  }

  /// Records a product or quotient of `value` and a deviation. `value` is the scale of the
  /// normalization if it is an initializer, or the normalized value if a mean has been subtracted.
  void scaleBy(Value value, Value result) {
    if (auto mean = centred.find(value); mean != centred.end())
      found.insert(mean->second);
    if (!origins.contains(value) && !scalars.contains(value))
      return;
    deviations.insert(result);
    if (origins.contains(value))
      scaled[result] = origins.lookup(value);
  }

  void addVariance(StringRef initializer, Value deviation) {
    found.insert(initializer);
    deviations.insert(deviation);
  }

  /// Returns whether a value is a small positive constant, such as 1e-3 in Keras and 1e-5 in
  /// PyTorch.
  bool isEpsilon(Value value) const {
    std::optional<double> number = scalars.lookup(value);
    return number && *number > 0 && *number <= 0.1;
  }

  /// Returns whether a power with this exponent is a square root or an inverse square root.
  bool isRoot(Value exponent) const {
    std::optional<double> number = scalars.lookup(exponent);
    return number && std::abs(*number) == 0.5;
  }

  static bool isMovement(StringRef op) {
    static constexpr StringRef names[] = {"Identity", "Cast", "Reshape", "Unsqueeze", "Squeeze"};
    return llvm::is_contained(names, op);
  }

  void follow(Value value, Value result) {
    for (auto *values : {&origins, &shifted, &centred, &scaled})
      if (auto known = values->find(value); known != values->end()) {
        StringRef origin = known->second;
        (*values)[result] = origin;
      }
    if (auto known = scalars.find(value); known != scalars.end()) {
      std::optional<double> number = known->second;
      scalars[result] = number;
    }
    if (deviations.contains(value))
      deviations.insert(result);
  }

  GraphOp graph;
  Provenance provenance;
  bool isKeras;
  llvm::StringSet<> variables;              // Keras variables, and initializers computed from them.
  llvm::DenseMap<Value, StringRef> origins; // Values that equal an initializer, and its name.
  llvm::DenseMap<Value, StringRef> shifted; // variance + epsilon
  llvm::DenseMap<Value, StringRef> centred; // x - mean
  llvm::DenseMap<Value, StringRef> scaled;  // mean * s, and also gamma * 1 / sqrt.
  /// (x - mean) * c, with the names of the mean and of c.
  llvm::DenseMap<Value, std::pair<StringRef, StringRef>> centredAndScaled;
  llvm::DenseMap<Value, std::optional<double>>
      scalars;                      // Constant scalars such as epsilon; nullopt if unknown.
  llvm::DenseSet<Value> deviations; // sqrt(variance + epsilon), its inverse, and multiples.
  llvm::StringSet<> found;
  std::vector<std::string> foldedScales;
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

llvm::StringSet<> findMovingStatistics(GraphOp graph) {
  llvm::StringSet<> found = StatisticsFinder(graph).run();
  for (auto initializer : graph.getOps<InitializerOp>())
    if (isNamedAsMovingStatistic(initializer.getName()))
      found.insert(initializer.getName());
  return found;
}

std::vector<std::string> findFoldedScales(GraphOp graph) {
  StatisticsFinder finder(graph);
  finder.run();
  return finder.takeFoldedScales();
}

} // namespace mtc::onnx
