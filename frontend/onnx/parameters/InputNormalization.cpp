//===- InputNormalization.cpp - Means and deviations of the graph's inputs --------------------===//

#include "frontend/onnx/parameters/InputNormalization.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace mlir;

namespace mtc::onnx {

namespace {

/// Returns whether a node moves, selects or casts the elements of its first operand.
bool movesElements(NodeOp node) {
  return node.getDomain().value_or("").empty() && node.getNumResults() == 1 &&
         !node.getInputs().empty() &&
         llvm::StringSwitch<bool>(node.getOpType())
             .Cases({"Identity", "Cast", "Reshape", "Unsqueeze", "Squeeze", "Transpose"}, true)
             .Cases({"Slice", "Flatten"}, true)
             .Default(false);
}

/// Returns the initializer that a value is, looking through changes of layout, or null.
InitializerOp movedInitializer(Value value) {
  for (auto node = value.getDefiningOp<NodeOp>(); node && movesElements(node);
       node = value.getDefiningOp<NodeOp>())
    value = node.getInputs().front();
  return value.getDefiningOp<InitializerOp>();
}

/// Returns whether a value is a single number that is known at compile time.
bool isNumber(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  bool isKnown = value.getDefiningOp<ConstantOp>() || value.getDefiningOp<InitializerOp>();
  return isKnown && type && type.hasStaticShape() && type.getNumElements() == 1;
}

/// Returns whether all elements of an initializer are on one axis or it has the shape of the input,
/// up to axes of extent 1. Centers of a layer, such as those of clusters, have another axis.
bool isPerFeature(InitializerOp initializer, Value input) {
  auto significant = [](ArrayRef<int64_t> shape) {
    return llvm::to_vector(
        llvm::make_filter_range(shape, [](int64_t extent) { return extent != 1; }));
  };
  SmallVector<int64_t> own = significant(cast<RankedTensorType>(initializer.getType()).getShape());
  auto type = dyn_cast<RankedTensorType>(input.getType());
  return own.size() <= 1 ||
         (type && ArrayRef(own) == ArrayRef(significant(type.getShape())).take_back(own.size()));
}

/// Returns whether a user adds an initializer, or subtracts it.
bool isShifted(Value value) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    auto node = dyn_cast<NodeOp>(user);
    return node && (node.isOperator("Add") || node.isOperator("Sub")) &&
           llvm::any_of(node.getInputs(), [&](Value other) {
             return other != value && movedInitializer(other) && !isNumber(other);
           });
  });
}

} // namespace

StringMap<std::string> findInputNormalization(GraphOp graph) {
  enum class Form { Input, Centered };
  llvm::DenseMap<Value, Form> forms;
  for (BlockArgument argument : graph.getBody().front().getArguments())
    forms[argument] = Form::Input;
  StringMap<std::string> found;
  for (auto node : graph.getOps<NodeOp>()) {
    if (node.getInputs().empty() || node.getNumResults() != 1)
      continue;
    Value result = node.getResult(0);
    auto form = forms.find(node.getInputs().front());
    unsigned other = 1;
    if (form == forms.end() && node.isOperator("Mul") && node.getInputs().size() == 2) {
      form = forms.find(node.getInputs()[1]);
      other = 0;
    }
    if (form == forms.end())
      continue;
    const Form known = form->second; // Insertions invalidate the iterator.
    if (movesElements(node)) {
      forms[result] = known;
      continue;
    }
    if (node.getInputs().size() != 2)
      continue;
    Value operand = node.getInputs()[other];
    InitializerOp initializer = movedInitializer(operand);
    if (initializer && !isPerFeature(initializer, node.getInputs()[1 - other]))
      initializer = nullptr;
    if (node.isOperator("Sub") && (initializer || isNumber(operand))) {
      forms[result] = Form::Centered;
      if (initializer)
        found[initializer.getName()] = "subtracted from an input of the graph";
    } else if (node.isOperator("Div") && (initializer || isNumber(operand))) {
      forms[result] = known;
      if (initializer)
        found[initializer.getName()] = "divides an input of the graph";
    } else if (node.isOperator("Mul") && isNumber(operand)) {
      forms[result] = known;
    } else if (node.isOperator("Mul") && initializer && known == Form::Centered &&
               !isShifted(result)) {
      found[initializer.getName()] = "scales an input of the graph after its mean is subtracted";
    }
  }
  return found;
}

} // namespace mtc::onnx
