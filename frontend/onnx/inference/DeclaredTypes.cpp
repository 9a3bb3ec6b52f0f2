//===- DeclaredTypes.cpp - Comparison of declared and inferred types --------------------------===//

#include "frontend/onnx/inference/DeclaredTypes.h"

#include "frontend/onnx/inference/Expander.h"

#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;

namespace mtc::onnx {

TypeDifference compareDeclared(Type declared, RankedTensorType actual) {
  auto tensor = dyn_cast_or_null<TensorType>(declared);
  if (!tensor || isa<IndexType>(tensor.getElementType()))
    return TypeDifference::None;
  if (tensor.getElementType() != actual.getElementType())
    return TypeDifference::ElementType;
  if (!tensor.hasRank())
    return TypeDifference::None;
  if (tensor.getRank() != actual.getRank())
    return TypeDifference::Extents;
  for (auto [said, found] : llvm::zip(tensor.getShape(), actual.getShape()))
    if (!ShapedType::isDynamic(said) && !ShapedType::isDynamic(found) && said != found)
      return TypeDifference::Extents;
  return TypeDifference::None;
}

std::string describeDifference(Type declared, RankedTensorType actual) {
  return "has type " + llvm::to_string(actual) + ", but the file declares " +
         llvm::to_string(declared) + "; correct or remove the declaration";
}

DeclaredTypes::DeclaredTypes(GraphOp graph) {
  for (BlockArgument argument : graph.getBody().getArguments())
    if (graph.getArgAttr(argument.getArgNumber(), "onnx.dims"))
      chosen.insert(argument);
  for (auto constant : graph.getOps<ConstantOp>())
    if (constant->hasAttr("onnx.bound"))
      chosen.insert(constant);
}

LogicalResult DeclaredTypes::check(Inference &node) {
  auto isAnyChosen = [&](OperandRange values) {
    return llvm::any_of(values, [&](Value value) { return chosen.contains(value); });
  };
  bool isUnbound = node.op()->hasAttr(unboundAttribute);
  hasUnbound |= isUnbound;
  bool isChosen =
      isUnbound || isAnyChosen(node.op().getInputs()) ||
      llvm::any_of(node.op().getInputs(), [&](Value value) {
        return isSequence(value) && isAnyChosen(value.getDefiningOp<NodeOp>().getInputs());
      });
  for (size_t i = 0; i < node.resultCount(); ++i) {
    if (!node.wants(i))
      continue;
    Value result = node.op().getOutputs()[i];
    if (isChosen)
      chosen.insert(result);
    TypeDifference difference = compareDeclared(result.getType(), node.resultType(i));
    if (difference == TypeDifference::None)
      continue;
    std::string text = "result " + std::to_string(i) + " " +
                       describeDifference(result.getType(), node.resultType(i));
    if (difference == TypeDifference::ElementType || !isChosen)
      return node.failure(text);
    if (others++ == 0)
      firstOther = {node.location(), text};
  }
  return success();
}

void DeclaredTypes::report() const {
  if (others == 0)
    return;
  InFlightDiagnostic diagnostic = mlir::emitWarning(firstOther->first) << firstOther->second;
  if (others > 1)
    diagnostic << "; " << others - 1 << " more results differ from their declarations";
  diagnostic << (hasUnbound ? " (PyTorch's exporter declares the elements of unbind with the axis)"
                            : " (these extents depend on the given dimensions or inputs)");
}

} // namespace mtc::onnx
