//===- StoppedGradients.cpp - Warnings about gradient stops that a file lacks -----------------===//

#include "frontend/onnx/parameters/StoppedGradients.h"

#include "frontend/onnx/parameters/InitializerUses.h"
#include "support/compiler/Lists.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace mlir;

namespace mtc::onnx {

namespace {

constexpr StringRef detachOperator = "aten.detach.default", detachArgument = "%detach";

/// Returns whether a value may be of floating-point type; types may not be known yet.
bool isFloat(Value value) {
  auto type = dyn_cast<ShapedType>(value.getType());
  return !type || !isa<IntegerType>(type.getElementType());
}

/// Returns whether the operator has a gradient.
bool hasGradient(NodeOp node) {
  return llvm::any_of(node.getOutputs(), isFloat) &&
         !llvm::StringSwitch<bool>(node.getOpType())
              .Cases({"Sign", "Round", "Floor", "Ceil", "Shape", "Size"}, true)
              .Default(false);
}

bool isOfFx(NodeOp node, StringRef op) {
  auto name = node->getAttrOfType<StringAttr>(fxOperatorAttribute);
  return name && name.getValue() == op;
}

/// Returns whether two nodes translate the same FX node.
bool haveSameFx(NodeOp a, NodeOp b) {
  for (StringRef name : {fxOperatorAttribute, argumentsAttribute})
    if (a->getAttr(name) != b->getAttr(name))
      return false;
  return a->hasAttr(fxOperatorAttribute);
}

/// Returns whether a value only shifts the exponents of a softmax or log-sum-exp. All of its users,
/// also through nodes that move elements, must then be additions, or subtractions x - value whose
/// exponential is computed.
bool isShift(Value value, unsigned depth = 0) {
  constexpr unsigned maxDepth = 8;
  if (value.use_empty() || depth > maxDepth)
    return false;
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    auto user = dyn_cast<NodeOp>(use.getOwner());
    if (!user)
      return false;
    StringRef op = user.getOpType();
    if (op == "Sub")
      return use.getOperandNumber() == 1 && llvm::all_of(user->getUsers(), [](Operation *next) {
               auto node = dyn_cast<NodeOp>(next);
               return node && node.isOperator("Exp");
             });
    return op == "Add" || (llvm::StringSwitch<bool>(op)
                               .Cases({"Gather", "GatherElements", "Expand", "Unsqueeze", "Squeeze",
                                       "Reshape", "Identity", "Cast", "CastLike"},
                                      true)
                               .Default(false) &&
                           isShift(user.getOutputs().front(), depth + 1));
  });
}

/// Returns whether a node computes the maximum that a softmax subtracts.
bool isShiftOfSoftmax(NodeOp node) {
  auto reduction = node.getNodeAttributes().getAs<StringAttr>("reduction");
  bool isMaximum = node.getOpType() == "ReduceMax" || (reduction && reduction.getValue() == "max");
  return isMaximum && isShift(node.getOutputs().front());
}

class Finder {
public:
  Finder(GraphOp graph, const StringMap<InitializerClass> &classes)
      : graph(graph), reached(reachedValues(graph)) {
    for (Operation &op : graph.getBody().front()) {
      if (auto initializer = dyn_cast<InitializerOp>(op)) {
        auto found = classes.find(initializer.getName());
        if (found != classes.end() && found->second.role == InitializerRole::Parameter)
          trained.insert(initializer);
      } else if (llvm::any_of(op.getOperands(), [&](Value x) { return trained.contains(x); })) {
        trained.insert_range(llvm::make_filter_range(op.getResults(), isFloat));
      }
      if (auto node = dyn_cast<NodeOp>(op))
        for (auto [result, name] : llvm::zip(node.getOutputs(), resultNames(node)))
          names[result] = name;
    }
  }

  llvm::SetVector<StringRef> run() {
    for (auto node : graph.getOps<NodeOp>()) {
      if (node->hasAttr(detachedAttribute) || !hasGradient(node) || isShiftOfSoftmax(node))
        continue;
      if (isOfFx(node, detachOperator))
        report(node.getInputs().front(), node.getOutputs().front());
      else if (node->hasAttr(noGradAttribute))
        reportLeaving(node);
      else
        reportArguments(node);
    }
    return std::move(found);
  }

private:
  static SmallVector<StringRef> resultNames(NodeOp node) {
    SmallVector<StringRef> list;
    if (auto results = node->getAttrOfType<ArrayAttr>(resultsAttribute))
      llvm::append_range(list, results.getAsValueRange<StringAttr>());
    return list;
  }

  /// Reports `source` if it has a gradient in the file, and if `result`, whose gradient the module
  /// stops, has a user whose gradient is affected.
  void report(Value source, Value result) {
    auto matters = [](Operation *user) {
      auto node = dyn_cast<NodeOp>(user);
      return node && hasGradient(node) && !isShiftOfSoftmax(node);
    };
    if (trained.contains(source) && reached.contains(result) &&
        llvm::any_of(result.getUsers(), matters))
      found.insert(names.lookup(source));
  }

  /// Reports a node in no_grad() with users outside.
  void reportLeaving(NodeOp node) {
    for (Value result : node.getOutputs())
      if (llvm::any_of(result.getUsers(), [](Operation *user) {
            return isa<NodeOp>(user) && !user->hasAttr(noGradAttribute);
          }))
        report(result, result);
  }

  /// Reports operands that the FX node knows as a detached tensor, if an optimizer removed the
  /// detach node. The name of its operand is then no argument of the FX node.
  void reportArguments(NodeOp node) {
    auto list = node->getAttrOfType<ArrayAttr>(argumentsAttribute);
    if (!list)
      return;
    SmallVector<StringRef> arguments(list.getAsValueRange<StringAttr>());
    if (llvm::none_of(arguments, [](StringRef x) { return x.starts_with(detachArgument); }))
      return;
    for (Value operand : node.getInputs()) {
      auto definition = operand.getDefiningOp<NodeOp>();
      if (!definition || haveSameFx(definition, node))
        continue;
      StringRef name = names.lookup(operand);
      bool isArgument = llvm::any_of(
          arguments, [&](StringRef each) { return each.consume_front("%") && each == name; });
      if (!isArgument && trained.contains(operand) && reached.contains(node.getOutputs().front()))
        found.insert(name);
    }
  }

  GraphOp graph;
  llvm::DenseSet<Value> reached, trained;
  llvm::DenseMap<Value, StringRef> names;
  llvm::SetVector<StringRef> found;
};

} // namespace

std::string stoppedGradientsWarning(GraphOp graph, const StringMap<InitializerClass> &classes) {
  // Files of mtc.export, which list the parameters' shapes, contain all stops.
  if (!hasSignature(graph) || graph->hasAttr(signatureShapesAttribute))
    return "";
  std::vector<std::string> names;
  for (StringRef name : Finder(graph, classes).run())
    names.push_back(name.str());
  if (names.empty())
    return "";
  return "the module stops gradients (detach() or no_grad()) at " + listed(names, quoted) +
         ", and the file does not, so training differs from the module; export with mtc.export";
}

} // namespace mtc::onnx
