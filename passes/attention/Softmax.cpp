//===- Softmax.cpp - Matching of decomposed softmax -------------------------------------------===//

#include "passes/attention/Softmax.h"

#include "passes/attention/Masks.h"

using namespace mlir;
using namespace mtc;

/// Returns the per-row values that `value` broadcasts along its last axis; null if it does not.
static Value repeatedRows(Value value) {
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  int64_t last = typeOf(value).getRank() - 1;
  return broadcast && broadcast.getAxes() == ArrayRef<int64_t>{last} ? broadcast.getInput()
                                                                     : Value();
}

/// Strips stop-gradients and selects that substitute `guard` in fully masked rows.
static Value unguarded(Value value, double guard) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto detach = dyn_cast<DetachOp>(op)) {
      value = detach.getInput();
      continue;
    }
    auto select = dyn_cast<SelectOp>(op);
    if (!select || splatOf(select.getOnTrue()) != guard)
      break;
    value = select.getOnFalse();
  }
  return value;
}

static bool reducesRows(Value value, ReductionKind kind, Value of) {
  auto reduce = value.getDefiningOp<ReduceOp>();
  return reduce && reduce.getKind() == kind && reduce.getInput() == of &&
         reduce.getAxes() == ArrayRef<int64_t>{typeOf(of).getRank() - 1};
}

Value mtc::softmaxInput(DivOp division) {
  auto exponential = division.getLhs().getDefiningOp<ExpOp>();
  Value sum = repeatedRows(division.getRhs());
  if (!exponential || !sum ||
      !reducesRows(unguarded(sum, 1), ReductionKind::Add, exponential.getResult()))
    return {};
  auto shifted = exponential.getInput().getDefiningOp<SubOp>();
  Value maximum = shifted ? repeatedRows(shifted.getRhs()) : Value();
  if (!maximum || !reducesRows(unguarded(maximum, 0), ReductionKind::Max, shifted.getLhs()))
    return {};
  return shifted.getLhs();
}

/// Returns whether a value is computed from random bits by elementwise operations and views.
static bool isRandom(Value value, int depth = 8) {
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0)
    return false;
  if (isa<RandomBitsOp>(op))
    return true;
  return (isa<ElementwiseOpInterface>(op) || op->hasTrait<mtc::View>()) &&
         llvm::any_of(op->getOperands(), [&](Value x) { return isRandom(x, depth - 1); });
}

/// Returns whether a contraction is reachable through elementwise operations and data movement.
static bool reachesProduct(Value value, int depth = 8) {
  return depth > 0 && llvm::any_of(value.getUsers(), [&](Operation *user) {
           if (isa<ContractOp>(user))
             return true;
           bool passes =
               isa<ElementwiseOpInterface, StridedMovementOpInterface, SelectByModeOp>(user) ||
               user->hasTrait<mtc::View>();
           return passes && reachesProduct(user->getResult(0), depth - 1);
         });
}

/// Returns whether dropout applies to the value in training but not in inference.
static bool isDroppedInTraining(Value value) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    auto select = dyn_cast<SelectByModeOp>(user);
    return select && select.getInference() == value && isRandom(select.getTraining());
  });
}

ContractOp mtc::productOfWeights(Value weights, Value &read, std::string &reason) {
  if (!reachesProduct(weights))
    return {};
  if (isDroppedInTraining(weights)) {
    reason = "dropout is between its weights and the values";
    return {};
  }
  if (!weights.hasOneUse()) {
    reason = "its weights have other users";
    return {};
  }
  Operation *user = *weights.user_begin();
  if (auto product = dyn_cast<ContractOp>(user)) {
    read = weights;
    return product;
  }
  if (isa<ReshapeOp>(user))
    return productOfWeights(user->getResult(0), read, reason);
  bool drops = llvm::any_of(user->getOperands(), [](Value x) { return isRandom(x); });
  reason = drops ? std::string("dropout is between its weights and the values")
                 : ("its weights pass through " + user->getName().getStringRef()).str();
  return {};
}
