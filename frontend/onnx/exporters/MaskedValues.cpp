//===- MaskedValues.cpp - Values as functions of a random mask --------------------------------===//

#include "frontend/onnx/exporters/MaskedValues.h"

#include "frontend/onnx/dialect/Node.h"

#include "llvm/ADT/StringSwitch.h"

#include <utility>

using namespace mlir;

namespace mtc::onnx {

namespace {

bool isFloat(Value value) { return isa<FloatType>(getElementTypeOrSelf(value.getType())); }

/// Returns whether a value is m or 1 - m.
bool isMask(const MaskedValue &value) {
  return value.draw && !value.x && (value.offset[0] == 0 || value.offset[0] == 1) &&
         value.offset[1] == 1 - value.offset[0];
}

/// Returns whether the operator changes only the shape of its first operand.
bool changesShape(NodeOp node) {
  return node.getDomain().value_or("").empty() &&
         llvm::StringSwitch<bool>(node.getOpType())
             .Cases({"Reshape", "Squeeze", "Unsqueeze", "Expand", "Flatten", "Transpose"}, true)
             .Default(false);
}

bool isCast(NodeOp node) {
  return node.isOperator("Cast") || node.isOperator("CastLike") || node.isOperator("Identity");
}

/// The mask that is 1 with probability `kept`, if it is neither always 0 nor always 1.
std::optional<MaskedValue> mask(NodeOp draw, double kept) {
  if (!(kept > 0 && kept < 1))
    return std::nullopt;
  return MaskedValue{draw, kept, {0, 1}};
}

/// Applies a function to the offsets and the slopes of two operands, which must have the same mask
/// and read the same x.
template <typename Function>
std::optional<MaskedValue> combine(const MaskedValue &a, const MaskedValue &b, Function function) {
  if ((a.draw && b.draw && a.draw != b.draw) || (a.x && b.x && a.x->get() != b.x->get()))
    return std::nullopt;
  MaskedValue result = a.draw ? a : b;
  result.x = a.x ? a.x : b.x;
  for (size_t m : {0, 1}) {
    auto [offset, slope] = function(a, b, m);
    result.offset[m] = offset;
    result.slope[m] = slope;
  }
  return result;
}

} // namespace

std::optional<MaskedValue> MaskedValues::findMasked(Value value) const {
  auto found = maskedValues.find(value);
  return found == maskedValues.end() ? std::nullopt : std::optional(found->second);
}

std::optional<UniformNumbers> MaskedValues::findUniform(Value value) const {
  auto found = uniformNumbers.find(value);
  return found == uniformNumbers.end() ? std::nullopt : std::optional(found->second);
}

void MaskedValues::visit(NodeOp node) {
  if (node.getNumResults() != 1)
    return;
  if (auto numbers = uniform(node))
    uniformNumbers.try_emplace(node.getResult(0), *numbers);
  else if (auto value = masked(node))
    maskedValues.try_emplace(node.getResult(0), *value);
}

/// Random numbers, and sums and products of them and constants.
std::optional<UniformNumbers> MaskedValues::uniform(NodeOp node) const {
  if (node.isOperator("RandomUniform") || node.isOperator("RandomUniformLike")) {
    NodeView view(node);
    return UniformNumbers{node, view.floating("low", 0), view.floating("high", 1)};
  }
  if (node.getInputs().empty())
    return std::nullopt;
  std::optional<UniformNumbers> first = findUniform(node.getInputs()[0]);
  if (first && isFloat(node.getResult(0)) && (isCast(node) || changesShape(node)))
    return first;
  if (node.getInputs().size() != 2)
    return std::nullopt;
  std::optional<UniformNumbers> numbers = first ? first : findUniform(node.getInputs()[1]);
  std::optional<double> constant = splatOf(node.getInputs()[first ? 1 : 0]);
  if (!numbers || !constant)
    return std::nullopt;
  auto [draw, low, high] = *numbers;
  if (node.isOperator("Add"))
    return UniformNumbers{draw, low + *constant, high + *constant};
  if (node.isOperator("Sub") && first)
    return UniformNumbers{draw, low - *constant, high - *constant};
  if (node.isOperator("Mul") && *constant > 0)
    return UniformNumbers{draw, low * *constant, high * *constant};
  return std::nullopt;
}

/// Masks: Bernoulli with a constant probability, comparisons of uniform random numbers with a
/// constant, and their rounding to 0 or 1.
std::optional<MaskedValue> MaskedValues::maskOf(NodeOp node) const {
  if (node.getInputs().empty())
    return std::nullopt;
  if (node.isOperator("Bernoulli"))
    if (std::optional<double> probability = splatOf(node.getInputs()[0]))
      return mask(node, *probability);
  std::optional<UniformNumbers> first = findUniform(node.getInputs()[0]);
  if (first && node.isOperator("Floor") && first->low >= 0 && first->high <= 2)
    return mask(first->draw, (first->high - 1) / (first->high - first->low));
  if (node.getInputs().size() != 2)
    return std::nullopt;
  const bool isLess = node.isOperator("Less") || node.isOperator("LessOrEqual");
  if (!isLess && !node.isOperator("Greater") && !node.isOperator("GreaterOrEqual"))
    return std::nullopt;
  std::optional<UniformNumbers> numbers = first ? first : findUniform(node.getInputs()[1]);
  std::optional<double> bound = splatOf(node.getInputs()[first ? 1 : 0]);
  if (!numbers || !bound)
    return std::nullopt;
  const double below = (*bound - numbers->low) / (numbers->high - numbers->low);
  return mask(numbers->draw, isLess == first.has_value() ? below : 1 - below);
}

/// Returns an operand as a function of a mask: a value that depends on one, a constant, or x.
std::optional<MaskedValue> MaskedValues::read(OpOperand &operand) const {
  if (std::optional<MaskedValue> known = findMasked(operand.get()))
    return known;
  if (findUniform(operand.get()) || !isFloat(operand.get()))
    return std::nullopt;
  MaskedValue value;
  if (std::optional<double> constant = splatOf(operand.get()))
    value.offset = {*constant, *constant};
  else {
    value.slope = {1, 1};
    value.x = &operand;
  }
  return value;
}

std::optional<MaskedValue> MaskedValues::masked(NodeOp node) const {
  if (std::optional<MaskedValue> drawn = maskOf(node))
    return drawn;
  auto isMasked = [&](Value input) { return maskedValues.contains(input); };
  if (llvm::none_of(node.getInputs(), isMasked))
    return std::nullopt;
  MutableArrayRef<OpOperand> operands = node->getOpOperands();
  std::optional<MaskedValue> first = findMasked(operands[0].get());
  const bool isNumber = isFloat(node.getResult(0));
  if (first && (isNumber || isMask(*first)) && isCast(node))
    return first;
  if (first && !first->x && changesShape(node))
    return first;
  if (first && isMask(*first) && node.isOperator("Not")) {
    std::swap(first->offset[0], first->offset[1]);
    return first;
  }
  if (first && isNumber && node.isOperator("Neg"))
    return combine(*first, {}, [](const auto &a, const auto &, size_t m) {
      return std::pair(-a.offset[m], -a.slope[m]);
    });
  if (!isNumber)
    return std::nullopt;
  if (node.isOperator("Where")) {
    auto then = read(operands[1]), otherwise = read(operands[2]);
    if (!first || !isMask(*first) || !then || !otherwise)
      return std::nullopt;
    auto chosen = combine(*then, *otherwise, [&](const auto &a, const auto &b, size_t m) {
      const MaskedValue &taken = first->offset[m] != 0 ? a : b;
      return std::pair(taken.offset[m], taken.slope[m]);
    });
    if (!chosen || (chosen->draw && chosen->draw != first->draw))
      return std::nullopt;
    chosen->draw = first->draw;
    chosen->kept = first->kept;
    return chosen;
  }
  if (operands.size() != 2)
    return std::nullopt;
  auto a = read(operands[0]), b = read(operands[1]);
  if (!a || !b)
    return std::nullopt;
  if (node.isOperator("Add") || node.isOperator("Sub")) {
    const double sign = node.isOperator("Add") ? 1 : -1;
    return combine(*a, *b, [&](const auto &a, const auto &b, size_t m) {
      return std::pair(a.offset[m] + sign * b.offset[m], a.slope[m] + sign * b.slope[m]);
    });
  }
  if (node.isOperator("Mul") && !(a->x && b->x))
    return combine(*a, *b, [&](const auto &a, const auto &b, size_t m) {
      return std::pair(a.offset[m] * b.offset[m],
                       a.slope[m] * b.offset[m] + a.offset[m] * b.slope[m]);
    });
  if (node.isOperator("Div") && !b->draw && !b->x && b->offset[0] != 0)
    return combine(*a, *b, [&](const auto &a, const auto &b, size_t m) {
      return std::pair(a.offset[m] / b.offset[m], a.slope[m] / b.offset[m]);
    });
  return std::nullopt;
}

} // namespace mtc::onnx
