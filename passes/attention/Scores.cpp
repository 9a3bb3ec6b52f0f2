//===- Scores.cpp - Matching of scores from contraction to softmax ----------------------------===//

#include "passes/attention/Scores.h"

#include "passes/attention/Masks.h"

#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace mtc;

namespace {

/// Values from which no contraction was found. Additions and multiplications have two operands to
/// follow: without this memoization, a chain of n such operations would take 2^n steps.
using Fruitless = llvm::DenseSet<Value>;

/// Walks up from the softmax to the contraction.
class Walk {
public:
  Walk(std::string &reason, Fruitless &fruitless, unsigned depth = 0)
      : reason(reason), fruitless(fruitless), depth(depth) {}

  bool to(Value value) {
    if (depth == deepest || fruitless.contains(value))
      return false;
    ++depth;
    bool isFound = toProduct(value);
    --depth;
    if (!isFound)
      fruitless.insert(value);
    return isFound;
  }

  ScoreChain chain;

private:
  bool toProduct(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return false;
    if (auto product = dyn_cast<ContractOp>(op)) {
      chain.product = product;
      return true;
    }
    if (op->hasTrait<mtc::View>())
      return to(op->getOperand(0));
    if (isa<MulOp, DivOp>(op))
      return scaled(op);
    if (auto add = dyn_cast<AddOp>(op))
      return added(add);
    if (auto select = dyn_cast<SelectOp>(op))
      return masked(select);
    // Any other operation ends the walk. The reason is reported only if its operand leads to a
    // contraction.
    std::string ignored;
    Walk next(ignored, fruitless, depth);
    if (op->getNumOperands() > 0 && next.to(op->getOperand(0)))
      reason = ("its scores pass through " + op->getName().getStringRef()).str();
    return false;
  }

  bool scaled(Operation *op) {
    unsigned scores = 0;
    std::optional<double> factor = splatOf(op->getOperand(1));
    if (!factor && isa<MulOp>(op)) {
      factor = splatOf(op->getOperand(0));
      scores = 1;
    }
    if (!factor) {
      std::string ignored;
      if (Walk(ignored, fruitless, depth).to(op->getOperand(0)) ||
          Walk(ignored, fruitless, depth).to(op->getOperand(1)))
        reason = "its scores are multiplied by a value that is not constant";
      return false;
    }
    double before = chain.scale;
    chain.scale = isa<MulOp>(op) ? before * *factor : before / *factor;
    return to(op->getOperand(scores));
  }

  bool added(AddOp add) {
    for (auto [scores, bias] :
         {std::pair(add.getLhs(), add.getRhs()), std::pair(add.getRhs(), add.getLhs())}) {
      Walk next(reason, fruitless, depth);
      next.chain = chain;
      next.chain.biases.push_back({bias, chain.scale});
      if (next.to(scores)) {
        chain = next.chain;
        return true;
      }
    }
    return false;
  }

  bool masked(SelectOp select) {
    for (auto [scores, other, negated] :
         {std::tuple(select.getOnTrue(), select.getOnFalse(), false),
          std::tuple(select.getOnFalse(), select.getOnTrue(), true)}) {
      std::optional<double> number = splatOf(other);
      if (!number)
        continue;
      chain.masks.push_back({select.getCondition(), negated, *number * chain.scale});
      if (to(scores))
        return true;
      chain.masks.pop_back();
    }
    return false;
  }

  /// Only a few operations separate a contraction from its softmax; a longer walk would traverse
  /// the whole model.
  static constexpr unsigned deepest = 64;

  std::string &reason;
  Fruitless &fruitless;
  unsigned depth;
};

} // namespace

std::optional<ScoreChain> mtc::followScores(Value scores, std::string &reason) {
  Fruitless fruitless;
  Walk walk(reason, fruitless);
  if (!walk.to(scores))
    return std::nullopt;
  reason.clear();
  return walk.chain;
}

Value mtc::withoutScale(TensorBuilder &b, Value value, double &factor) {
  Operation *op = value.getDefiningOp();
  if (auto mul = dyn_cast_if_present<MulOp>(op)) {
    for (auto [x, other] :
         {std::pair(mul.getLhs(), mul.getRhs()), std::pair(mul.getRhs(), mul.getLhs())})
      if (std::optional<double> number = splatOf(other)) {
        factor *= *number;
        return withoutScale(b, x, factor);
      }
    return value;
  }
  if (!op || !(isa<StridedMovementOpInterface>(op) || isa<ReshapeOp>(op)))
    return value;
  Value input = withoutScale(b, op->getOperand(0), factor);
  if (input == op->getOperand(0))
    return value;
  Operation *copy = b.clone(*op);
  copy->setOperand(0, input);
  return copy->getResult(0);
}

std::optional<StringRef> mtc::trainedSource(Value value) {
  SmallVector<Value> open{value};
  DenseSet<Value> seen;
  while (!open.empty()) {
    Value next = open.pop_back_val();
    Operation *op = next.getDefiningOp();
    if (!op || !isDifferentiable(next.getType()) || !seen.insert(next).second ||
        op->hasTrait<ZeroGradient>())
      continue;
    if (auto read = dyn_cast<ReadOp>(op)) {
      auto variable = SymbolTable::lookupNearestSymbolFrom<VariableOp>(op, read.getVariableAttr());
      if (variable && variable.getRole() == Role::Parameter)
        return variable.getSymName();
    }
    llvm::append_range(open, op->getOperands());
  }
  return std::nullopt;
}
