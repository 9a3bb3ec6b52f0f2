//===- Dropout.cpp - Inference form of decomposed dropout -------------------------------------===//

#include "frontend/onnx/dialect/Modes.h"
#include "frontend/onnx/dialect/Node.h"
#include "frontend/onnx/exporters/MaskedValues.h"
#include "frontend/onnx/exporters/Passes.h"

#include "mlir/IR/Builders.h"

#include <cmath>

using namespace mlir;

namespace mtc::onnx {

#define GEN_PASS_DEF_FORMDROPOUTPASS
#include "frontend/onnx/exporters/Passes.h.inc"

namespace {

/// Returns whether `factor * value` is x if the mask drops no element: its mean is x, and dropped
/// elements are 0. `tolerance` bounds the rounding errors of constants.
bool isDropout(const MaskedValue &value, double factor, double tolerance) {
  return value.slope[0] == 0 && value.offset[0] == 0 && value.offset[1] == 0 &&
         std::abs(value.kept * value.slope[1] * factor - 1) <= tolerance;
}

/// Returns whether the value is alpha dropout (Klambauer et al., "Self-normalizing neural
/// networks", 2017): dropped elements are a constant other than 0, and numbers with mean 0 and
/// variance 1 keep both.
bool isAlphaDropout(const MaskedValue &value, double tolerance) {
  const auto &[offset, slope, kept] = std::tie(value.offset, value.slope, value.kept);
  const double mean = kept * offset[1] + (1 - kept) * offset[0];
  const double square =
      kept * (slope[1] * slope[1] + offset[1] * offset[1]) + (1 - kept) * offset[0] * offset[0];
  return slope[0] == 0 && offset[0] != 0 && std::abs(mean) <= tolerance &&
         std::abs(square - 1) <= tolerance;
}

/// Returns whether a value depends on the result of `draw`, which is in the same block.
bool dependsOn(Value value, NodeOp draw) {
  llvm::DenseSet<Operation *> visited;
  SmallVector<Operation *> stack;
  auto push = [&](Value operand) {
    Operation *op = operand.getDefiningOp();
    if (op && op->getBlock() == draw->getBlock() && !op->isBeforeInBlock(draw) &&
        visited.insert(op).second)
      stack.push_back(op);
  };
  push(value);
  while (!stack.empty()) {
    Operation *op = stack.pop_back_val();
    if (op == draw)
      return true;
    op->walk([&](Operation *inner) { llvm::for_each(inner->getOperands(), push); });
  }
  return false;
}

/// Returns the operand that a multiplication or division by a constant scales, with the factor.
std::pair<OpOperand *, double> scaled(Value value) {
  auto node = value.getDefiningOp<NodeOp>();
  if (!node || node.getInputs().size() != 2)
    return {nullptr, 1};
  for (unsigned i : {0, 1})
    if (std::optional<double> constant = splatOf(node.getInputs()[1 - i])) {
      if (node.isOperator("Mul"))
        return {&node->getOpOperand(i), *constant};
      if (node.isOperator("Div") && i == 0 && *constant != 0)
        return {&node->getOpOperand(i), 1 / *constant};
    }
  return {nullptr, 1};
}

/// Returns the path of a node in the file's main graph, or null if it is a node of a function or a
/// pass created it.
DenseI64ArrayAttr pathOf(Operation *op) {
  if (auto index = op->getAttrOfType<IntegerAttr>(indexAttribute))
    return DenseI64ArrayAttr::get(op->getContext(), index.getInt());
  return op->getAttrOfType<DenseI64ArrayAttr>(pathAttribute);
}

class FormDropoutPass : public impl::FormDropoutPassBase<FormDropoutPass> {
  void runOnOperation() override {
    MaskedValues values;
    for (auto node : llvm::make_early_inc_range(getOperation().getOps<NodeOp>())) {
      values.visit(node);
      if (node.getNumResults() != 1)
        continue;
      if (OpOperand *x = findDropped(node, values))
        select(node, *x, x->get());
      else if (std::optional<double> slope = findMeanSlope(node, values))
        selectLeakyRelu(node, *slope);
    }
    // The last pass that refers to nodes of the file.
    getOperation().walk([](Operation *op) {
      for (StringRef name : {indexAttribute, pathAttribute})
        op->removeAttr(name);
    });
  }

  /// If a node is the last one of a dropout, returns the operand that reads its argument.
  static OpOperand *findDropped(NodeOp node, const MaskedValues &values) {
    std::optional<MaskedValue> value = values.findMasked(node.getResult(0));
    if (!value || !value->x)
      return nullptr;
    if (value->slope[1] == 0) { // The mask is 1 for dropped elements.
      std::swap(value->offset[0], value->offset[1]);
      std::swap(value->slope[0], value->slope[1]);
      value->kept = 1 - value->kept;
    }
    Type type = node.getResult(0).getType();
    const double tolerance = getElementTypeOrSelf(type).getIntOrFloatBitWidth() < 32 ? 1e-2 : 1e-4;
    OpOperand *x = value->x;
    auto [argument, factor] = scaled(x->get());
    if (!isDropout(*value, 1, tolerance) && !isAlphaDropout(*value, tolerance)) {
      if (!argument || !isDropout(*value, factor, tolerance))
        return nullptr;
      x = argument;
    }
    return x->get().getType() == type && !dependsOn(x->get(), value->draw) ? x : nullptr;
  }

  /// If a node is PyTorch's rrelu, a PRelu with uniformly distributed slopes, returns their mean.
  static std::optional<double> findMeanSlope(NodeOp node, const MaskedValues &values) {
    if (!node.isOperator("PRelu") || node.getInputs()[0].getType() != node.getResult(0).getType())
      return std::nullopt;
    if (std::optional<UniformNumbers> slopes = values.findUniform(node.getInputs()[1]))
      return (slopes->low + slopes->high) / 2;
    return std::nullopt;
  }

  static void selectLeakyRelu(NodeOp node, double slope) {
    OpBuilder builder(node);
    FloatAttr alpha = builder.getF32FloatAttr(static_cast<float>(slope));
    DictionaryAttr attributes = builder.getDictionaryAttr(builder.getNamedAttr("alpha", alpha));
    auto mean = NodeOp::create(builder, node.getLoc(), node.getResultTypes(), "LeakyRelu",
                               /*version=*/16, nullptr, attributes, node.getInputs()[0]);
    select(node, node->getOpOperand(0), mean.getResult(0))->setAttr(slopeAttribute, alpha);
  }

  /// Replaces the result of a node in inference by a function of the value that an operand reads.
  static NodeOp select(NodeOp node, OpOperand &operand, Value inference) {
    OpBuilder builder(node);
    NodeOp select = selectByMode(builder, node.getResult(0), inference);
    DenseI64ArrayAttr replaced = pathOf(node), reader = pathOf(operand.getOwner());
    if (!replaced || !reader)
      return select;
    SmallVector<int64_t> replacement(reader.asArrayRef());
    replacement.push_back(operand.getOperandNumber());
    select->setAttr(replacedAttribute, replaced);
    select->setAttr(replacementAttribute, builder.getDenseI64ArrayAttr(replacement));
    return select;
  }
};

} // namespace
} // namespace mtc::onnx
