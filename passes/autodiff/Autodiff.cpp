//===- Autodiff.cpp - Reverse-mode differentiation of a block ---------------------------------===//

#include "passes/autodiff/Autodiff.h"
#include "ir/NodeNames.h"
#include "ir/builders/TensorBuilder.h"
#include "passes/autodiff/ScanGradient.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace mtc;

namespace {

class ReverseMode {
public:
  ReverseMode(func::FuncOp function)
      : function(function), builder(function.front().getTerminator()) {}

  LogicalResult run(ArrayRef<Value> outputs, ArrayRef<Value> seeds, ArrayRef<Value> wrt);
  /// Returns the cotangent of a value, or null if the outputs do not depend on it.
  Value cotangentOf(Value value) const { return cotangents.lookup(value); }

private:
  void findVarying(ArrayRef<Value> wrt);
  void findUnbounded();
  LogicalResult visit(Operation *op);
  void contribute(Value value, Value cotangent, Location location);
  bool hasUnboundedFactor(Operation *op, unsigned operand) const;
  Value withoutUnselected(Operation *op, unsigned operand, Value result, TensorBuilder &b,
                          Value cotangent);
  LogicalResult report();

  func::FuncOp function;
  OpBuilder builder;
  /// Values that depend on `wrt` through operations with a derivative.
  DenseSet<Value> varying;
  /// Operations with a varying operand and a varying result, in program order.
  SmallVector<Operation *> onPath;
  DenseMap<Value, Value> cotangents;
  /// Results of chains of elementwise operations that may be infinite or NaN.
  DenseSet<Value> unbounded;
  /// Cotangents with elements that a select has set to 0, and cotangents that elementwise
  /// operations compute from such cotangents.
  DenseSet<Value> selected;
  SmallVector<Operation *> withoutGradient;
  /// Scans that were replaced by scans which save their states.
  SmallVector<ScanOp> replaced;
};

} // namespace

void ReverseMode::findVarying(ArrayRef<Value> wrt) {
  varying.insert(wrt.begin(), wrt.end());
  for (Operation &op : function.front()) {
    if (op.hasTrait<ZeroGradient>() ||
        llvm::none_of(op.getOperands(), [&](Value operand) { return varying.contains(operand); }))
      continue;
    bool varies = false;
    for (Value result : op.getResults())
      if (isDifferentiable(result.getType()))
        varies = varying.insert(result).second || varies;
    if (varies)
      onPath.push_back(&op);
  }
}

static bool isUnbounded(Operation *op) {
  auto differentiable = dyn_cast<GradientOpInterface>(op);
  return differentiable && differentiable.isUnbounded();
}

void ReverseMode::findUnbounded() {
  for (Operation &op : function.front()) {
    auto isIn = [&](Value operand) { return unbounded.contains(operand); };
    if (isa<ElementwiseOpInterface>(op) &&
        (isUnbounded(&op) || llvm::any_of(op.getOperands(), isIn)))
      unbounded.insert(op.result_begin(), op.result_end());
  }
}

/// Returns whether an operand's cotangent is that of the result times a constant.
static bool isConstantMultiple(Value operandCotangent, Value resultCotangent) {
  if (operandCotangent == resultCotangent)
    return true;
  Operation *op = operandCotangent.getDefiningOp();
  return isa_and_present<ElementwiseOpInterface>(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return operand == resultCotangent || !isDifferentiable(operand.getType()) ||
                  matchPattern(operand, m_Constant());
         });
}

/// Returns whether the derivative with respect to an operand may be infinite or NaN: that of the
/// operation, or a factor of a product.
bool ReverseMode::hasUnboundedFactor(Operation *op, unsigned operand) const {
  return isUnbounded(op) || llvm::any_of(op->getOpOperands(), [&](OpOperand &other) {
           return other.getOperandNumber() != operand && unbounded.contains(other.get());
         });
}

/// A select propagates the cotangent 0 to the operand that it does not choose, whose elements may
/// be infinite or NaN: `select(x > 0, log(x), 0)`. Their derivatives times 0 are NaN. Returns the
/// operand's cotangent with 0 where the result's cotangent is 0. The result differs from the
/// product only where the product is NaN.
Value ReverseMode::withoutUnselected(Operation *op, unsigned operand, Value result,
                                     TensorBuilder &b, Value cotangent) {
  if (!isa<ElementwiseOpInterface>(op) || !selected.contains(result))
    return cotangent;
  if (hasUnboundedFactor(op, operand) && !isConstantMultiple(cotangent, result)) {
    Value isZero = b.compare(Predicate::Eq, result, b.splat(result, 0.0));
    cotangent = b.select(isZero, b.splat(cotangent, 0.0), cotangent);
  }
  selected.insert(cotangent);
  return cotangent;
}

void ReverseMode::contribute(Value value, Value cotangent, Location location) {
  assert(value.getType() == cotangent.getType() && "a cotangent has its value's type");
  if (cotangent.getDefiningOp<SelectOp>())
    selected.insert(cotangent);
  Value &sum = cotangents[value];
  bool isSelected = selected.contains(cotangent) || (sum && selected.contains(sum));
  sum = sum ? TensorBuilder(location, builder).add(sum, cotangent) : cotangent;
  if (isSelected)
    selected.insert(sum);
}

LogicalResult ReverseMode::visit(Operation *op) {
  SmallVector<Value> results = llvm::map_to_vector(
      op->getResults(), [&](Value result) { return cotangents.lookup(result); });
  if (llvm::none_of(results, [](Value cotangent) { return bool(cotangent); }))
    return success();
  SmallVector<bool> needed = llvm::map_to_vector(
      op->getOperands(), [&](Value operand) { return varying.contains(operand); });

  Location location = backwardLocation(op->getLoc());
  if (auto scan = dyn_cast<ScanOp>(op)) {
    SmallVector<Value> gradients;
    if (failed(differentiateScan(scan, builder, location, results, needed, gradients)))
      return failure();
    for (auto [i, cotangent] : llvm::enumerate(gradients))
      if (needed[i] && cotangent)
        contribute(op->getOperand(i), cotangent, location);
    if (op->use_empty())
      replaced.push_back(scan);
    return success();
  }
  GradientBuilder gradient(builder, location, results, needed);
  auto rule = dyn_cast<GradientOpInterface>(op);
  if (rule) {
    rule.buildGradient(gradient);
  } else {
    // Placeholder cotangents continue the traversal, so that all operations without a gradient are
    // reported at once.
    withoutGradient.push_back(op);
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      if (needed[i])
        gradient.set(i, gradient.splat(operand, 0.0));
  }
  for (auto [i, cotangent] : llvm::enumerate(gradient.getOperandCotangents()))
    if (needed[i] && cotangent)
      contribute(op->getOperand(i), withoutUnselected(op, i, results[0], gradient, cotangent),
                 location);
  return success();
}

LogicalResult ReverseMode::report() {
  if (withoutGradient.empty())
    return success();
  InFlightDiagnostic error = emitError(function.getLoc(), "no gradient exists for ");
  error << withoutGradient.size() << " operation" << (withoutGradient.size() == 1 ? "" : "s")
        << " between the parameters and the loss: ";
  llvm::interleave(
      llvm::reverse(withoutGradient),
      [&](Operation *op) { error << op->getName() << " of node " << nodeNames(op->getLoc()); },
      [&] { error << ", "; });
  return error;
}

LogicalResult ReverseMode::run(ArrayRef<Value> outputs, ArrayRef<Value> seeds,
                               ArrayRef<Value> wrt) {
  findVarying(wrt);
  findUnbounded();
  for (auto [output, seed] : llvm::zip_equal(outputs, seeds))
    if (varying.contains(output))
      contribute(output, seed, backwardLocation(output.getLoc()));
  for (Operation *op : llvm::reverse(onPath))
    if (failed(visit(op)))
      return failure();
  for (ScanOp scan : replaced)
    scan.erase();
  return report();
}

LogicalResult mtc::differentiate(func::FuncOp function, ArrayRef<Value> outputs,
                                 ArrayRef<Value> cotangents, ArrayRef<Value> wrt,
                                 SmallVectorImpl<Value> &gradients) {
  ReverseMode engine(function);
  if (failed(engine.run(outputs, cotangents, wrt)))
    return failure();
  for (Value value : wrt)
    gradients.push_back(engine.cotangentOf(value));
  return success();
}
