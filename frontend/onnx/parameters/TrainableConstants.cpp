//===- TrainableConstants.cpp - Constants that may be parameters ------------------------------===//

#include "frontend/onnx/parameters/TrainableConstants.h"

#include "frontend/onnx/parameters/InitializerUses.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"

#include <cmath>

using namespace llvm;
using namespace mlir;

namespace mtc::onnx {

namespace {

/// Returns the first elements of an f32 or f64 tensor, or nullopt for other or unknown tensors.
std::optional<std::vector<double>> valuesOf(ElementsAttr elements) {
  if (!elements || !isa<Float32Type, Float64Type>(elements.getElementType()))
    return std::nullopt;
  // The first elements suffice, so large tables are not read completely.
  constexpr int64_t maxValues = 4096;
  std::vector<double> values;
  for (APFloat value : llvm::make_range(elements.value_begin<APFloat>(),
                                        std::next(elements.value_begin<APFloat>(),
                                                  std::min(maxValues, elements.getNumElements()))))
    values.push_back(value.convertToDouble());
  return values;
}

/// Returns whether a number looks like a literal or derived from a size: a decimal of up to four
/// digits, √n or 1/√n.
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

/// Returns whether a number is not a mask value: finite and below 1e30 in magnitude.
bool isOrdinary(double value) { return std::isfinite(value) && std::abs(value) < 1e30; }

/// Returns whether an operator uses this operand in the way that it uses a parameter.
bool isReadLikeParameter(NodeOp node, unsigned operand) {
  if (!node.getDomain().value_or("").empty())
    return false;
  StringRef op = node.getOpType();
  if (op.ends_with("Normalization"))
    return operand >= 1 && operand <= 2;
  return llvm::StringSwitch<bool>(op)
      .Cases({"MatMul", "Gemm", "Einsum", "Add", "Sub", "Mul", "Div", "Concat"}, true)
      .Cases({"Conv", "ConvTranspose", "PRelu", "LSTM", "GRU", "RNN"}, operand >= 1)
      .Cases({"Gather", "Expand"}, operand == 0)
      .Default(false);
}

/// Returns whether an operator multiplies by matrices or looks rows up in a table.
bool readsMatrices(NodeOp node) {
  return llvm::StringSwitch<bool>(node.getOpType())
      .Cases({"MatMul", "Gemm", "Einsum", "Conv", "ConvTranspose", "Gather"}, true)
      .Cases({"LSTM", "GRU", "RNN"}, true)
      .Default(false);
}

/// Finds constants that are used like parameters; see TrainableConstant.
class ConstantFinder {
public:
  ConstantFinder(GraphOp graph, const StringMap<InitializerClass> &classes)
      : graph(graph), classes(classes), hasList(hasSignature(graph)) {
    isPytorch = isProducedBy(graph, "pytorch");
    // A frozen TorchScript module stores its parameters as Constant nodes.
    nodesAreLiterals = isPytorch && llvm::any_of(classes, [](const auto &entry) {
                         return entry.second.isParameter;
                       });
    for (const std::string &name : findMissingParameters(graph, classes))
      missing.insert(name);
  }

  std::vector<TrainableConstant> run() {
    for (Operation &op : graph.getBody().front()) {
      if (auto initializer = dyn_cast<InitializerOp>(op))
        addInitializer(initializer);
      else if (auto constant = dyn_cast<ConstantOp>(op))
        addConstant(constant);
      else if (auto node = dyn_cast<NodeOp>(op))
        visit(node);
    }
    std::vector<TrainableConstant> found;
    for (size_t index : used)
      found.push_back(sources[index].constant);
    return found;
  }

private:
  struct Source {
    TrainableConstant constant;
    ElementsAttr elements; // The first elements; null if unknown.
    bool isNode;
  };
  /// For a value known at compile time, this contains the constants on which it depends, except
  /// literals.
  using Origins = SmallVector<size_t, 2>;

  void addInitializer(InitializerOp initializer) {
    auto known = classes.find(initializer.getName());
    if (known == classes.end()) {
      origins[initializer] = {}; // Integers.
      return;
    }
    const InitializerClass &found = known->second;
    if (found.isParameter || found.role != InitializerRole::Constant)
      return;
    origins[initializer] =
        found.isKnownConstant
            ? Origins()
            : addSource(initializer, initializer.getName(), initializer.getSampleAttr(),
                        wasConstantNode(initializer) || isConstantNodeName(initializer.getName()));
  }

  void addConstant(ConstantOp constant) {
    if (constant->hasAttr(boundAttribute))
      return; // An input of the file.
    bool isSource = constant->hasAttr(resultsAttribute) &&
                    isTrainable(getElementTypeOrSelf(constant.getType()));
    origins[constant] = isSource ? addSource(constant, resultName(constant), constant.getValue(),
                                             /*isNode=*/true)
                                 : Origins();
  }

  Origins addSource(Value value, StringRef name, ElementsAttr elements, bool isNode) {
    auto shape = cast<RankedTensorType>(value.getType()).getShape();
    sources.push_back({{name.str(), shape.vec(), ""}, elements, isNode});
    return {sources.size() - 1};
  }

  void visit(NodeOp node) {
    auto isConstant = [&](Value input) {
      return isa<NoneType>(input.getType()) || origins.contains(input);
    };
    if (!node.getInputs().empty() && llvm::all_of(node.getInputs(), isConstant)) {
      llvm::SmallSetVector<size_t, 4> all;
      for (Value input : node.getInputs())
        if (auto found = origins.find(input); found != origins.end())
          all.insert(found->second.begin(), found->second.end());
      for (Value output : node.getOutputs())
        origins[output] = Origins(all.begin(), all.end());
      return;
    }
    for (OpOperand &operand : node->getOpOperands())
      if (auto found = origins.find(operand.get());
          found != origins.end() && isReadLikeParameter(node, operand.getOperandNumber()))
        for (size_t source : found->second)
          addUse(source, {node, operand.getOperandNumber(), &operand});
  }

  void addUse(size_t index, const InitializerUse &use) {
    Source &source = sources[index];
    if (!source.constant.moduleName.empty() || rejected.contains(index))
      return;
    if (!looksTrainable(source, use)) {
      // Another use may belong to a module that lacks a parameter.
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
    std::optional<std::vector<double>> values = valuesOf(source.elements);
    if (count == 0 || (values && !llvm::all_of(*values, isOrdinary)))
      return false;
    if (count == 1 && values && isPlainNumber(values->front()))
      return false;
    if (hasList) {
      source.constant.moduleName = missingParameterOf(use, count == 1);
      return missing.erase(source.constant.moduleName);
    }
    if (source.isNode && nodesAreLiterals && !readsMatrices(use.node))
      return false;
    source.constant.moduleName = modulePath(use.node);
    if (count == 1)
      return isPytorch && !source.isNode;
    return !values || !areAllEqual(*values);
  }

  /// Returns the missing parameter that a use represents: a parameter of the node's module, or the
  /// only missing parameter of its submodules. A single number can only be a parameter of the
  /// module itself.
  std::string missingParameterOf(const InitializerUse &use, bool isNumber) const {
    std::string parameter = parameterOfUse(use, missing);
    if (!parameter.empty() && !(isNumber && isVector(parameter)))
      return parameter;
    std::string module = modulePath(use.node), prefix = module.empty() ? "" : module + ".";
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

  /// Returns whether the name is usual for parameters with more than one element.
  static bool isVector(StringRef name) {
    return name.ends_with("weight") || name.ends_with("bias");
  }

  GraphOp graph;
  const StringMap<InitializerClass> &classes;
  bool hasList, isPytorch, nodesAreLiterals;
  llvm::StringSet<> missing;
  std::vector<Source> sources;
  llvm::DenseMap<Value, Origins> origins;
  llvm::SetVector<size_t> used;
  llvm::DenseSet<size_t> rejected;
};

} // namespace

std::vector<TrainableConstant> findTrainableConstants(GraphOp graph,
                                                      const StringMap<InitializerClass> &classes) {
  return ConstantFinder(graph, classes).run();
}

SmallVector<ConstantOp> floatConstantNodes(GraphOp graph) {
  return llvm::to_vector(llvm::make_filter_range(graph.getOps<ConstantOp>(), [](ConstantOp op) {
    return op->hasAttr(resultsAttribute) && isTrainable(getElementTypeOrSelf(op.getType()));
  }));
}

StringRef resultName(Operation *node) {
  return cast<StringAttr>(node->getAttrOfType<ArrayAttr>(resultsAttribute)[0]).getValue();
}

InitializerOp lastInitializer(GraphOp graph) {
  InitializerOp last;
  for (auto initializer : graph.getOps<InitializerOp>())
    last = initializer;
  return last;
}

void makeInitializer(GraphOp graph, ConstantOp node) {
  auto builder = OpBuilder::atBlockBegin(&graph.getBody().front());
  if (InitializerOp last = lastInitializer(graph))
    builder.setInsertionPointAfter(last);
  auto initializer =
      InitializerOp::create(builder, NameLoc::get(builder.getStringAttr(resultName(node))),
                            cast<RankedTensorType>(node.getType()), resultName(node));
  initializer.setSampleAttr(node.getValue());
  initializer->setAttr(indexAttribute, node->getAttr(indexAttribute));
  node.replaceAllUsesWith(initializer.getResult());
  node.erase();
}

bool wasConstantNode(InitializerOp initializer) {
  return initializer->hasAttr(indexAttribute) && !initializer.getSplitFrom();
}

std::vector<std::string> findMissingParameters(GraphOp graph,
                                               const StringMap<InitializerClass> &classes) {
  llvm::StringSet<> known; // Constants that look trainable do not count.
  for (const auto &entry : classes)
    if (entry.second.isParameter || entry.second.role == InitializerRole::Parameter)
      known.insert(entry.second.moduleName);
  std::vector<std::string> missing;
  for (std::string &name : signatureParameters(graph))
    if (!known.contains(name) && !classes.contains(name))
      missing.push_back(std::move(name));
  return missing;
}

} // namespace mtc::onnx
