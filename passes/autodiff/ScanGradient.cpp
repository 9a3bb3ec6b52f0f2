//===- ScanGradient.cpp - Gradient of a scan --------------------------------------------------===//

#include "passes/autodiff/ScanGradient.h"

#include "ir/ScanBody.h"
#include "ir/builders/TensorBuilder.h"
#include "passes/autodiff/Autodiff.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace mtc;

namespace {

class ScanDifferentiator {
public:
  ScanDifferentiator(ScanOp scan, OpBuilder &builder, Location location, ArrayRef<Value> cotangents,
                     ArrayRef<bool> needed)
      : scan(scan), b(location, builder), cotangents(cotangents), body(scan.lookUpBody()),
        symbols(body->getParentOfType<ModuleOp>()) {
    const size_t states = scan.getStates().size(), inputs = scan.getInputs().size();
    for (size_t i = 0; i < states; ++i)
      if (isDifferentiable(scan.getStates()[i].getType()))
        floating.push_back(i);
    for (size_t i = 0; i < scan.getOutputs().size(); ++i)
      if (cotangents[states + i])
        reached.push_back(i);
    for (size_t i = 0; i < inputs; ++i)
      if (needed[states + i])
        neededInputs.push_back(i);
    for (size_t i = 0; i < scan.getCaptured().size(); ++i)
      if (needed[states + inputs + i])
        neededCaptured.push_back(i);
  }

  LogicalResult run(SmallVectorImpl<Value> &gradients) {
    if (failed(buildBody()))
      return failure();
    ArrayRef<Value> saved = saveStates();
    buildScan(saved, gradients);
    return success();
  }

private:
  /// Arguments of the gradient's body, in this order.
  struct Arguments {
    SmallVector<Value> dStates, sums, states, inputs, dOutputs, captured;
  };

  /// Clones the body under a new name that ends with `suffix`.
  func::FuncOp clone(StringRef suffix) {
    auto copy = cast<func::FuncOp>(body->clone());
    copy.setName((body.getSymName() + suffix).str());
    symbols.insert(copy, std::next(body->getIterator()));
    return copy;
  }

  LogicalResult buildBody();
  ArrayRef<Value> saveStates();
  void buildScan(ArrayRef<Value> saved, SmallVectorImpl<Value> &gradients);

  ScanOp scan;
  TensorBuilder b;
  ArrayRef<Value> cotangents;
  func::FuncOp body, gradient;
  SymbolTable symbols;
  /// Numbers of the differentiable states, of the outputs with a cotangent, and of the inputs and
  /// captured values whose gradients are needed.
  SmallVector<size_t> floating, reached, neededInputs, neededCaptured;
  /// Numbers of the states, inputs and captured values that the gradient's body reads.
  SmallVector<size_t> readStates, readInputs, readCaptured;
  SmallVector<Value> saved;
};

} // namespace

/// Builds the body of the gradient. With s, x and c the operands of the body and ds, dy cotangents:
///
///     (s', y) = body(s, x, c);  ds = ds' . ds'/ds + dy . dy/ds, dx and dc likewise
///
/// It carries ds and the sums of dc, and returns dx as outputs.
LogicalResult ScanDifferentiator::buildBody() {
  gradient = clone("_gradient");
  Block &block = gradient.front();
  const size_t states = scan.getStates().size(), inputs = scan.getInputs().size();
  Arguments own;
  for (auto [i, argument] : llvm::enumerate(block.getArguments()))
    (i < states ? own.states : i < states + inputs ? own.inputs : own.captured).push_back(argument);
  unsigned number = 0;
  auto insert = [&](Type type) -> Value {
    (void)gradient.insertArgument(number, type, {}, b.getLoc());
    return block.getArgument(number++);
  };
  for (size_t state : floating)
    own.dStates.push_back(insert(own.states[state].getType()));
  for (size_t captured : neededCaptured)
    own.sums.push_back(insert(own.captured[captured].getType()));
  number += states + inputs;
  for (size_t output : reached)
    own.dOutputs.push_back(insert(ScanOp::sliceType(scan.getOutputs()[output].getType())));

  Operation *terminator = block.getTerminator();
  SmallVector<Value> values, seeds, wrt, found;
  for (auto [state, seed] : llvm::zip_equal(floating, own.dStates)) {
    values.push_back(terminator->getOperand(state));
    seeds.push_back(seed);
    wrt.push_back(own.states[state]);
  }
  for (auto [output, seed] : llvm::zip_equal(reached, own.dOutputs)) {
    values.push_back(terminator->getOperand(states + output));
    seeds.push_back(seed);
  }
  for (size_t input : neededInputs)
    wrt.push_back(own.inputs[input]);
  for (size_t captured : neededCaptured)
    wrt.push_back(own.captured[captured]);
  if (failed(differentiate(gradient, values, seeds, wrt, found)))
    return failure();

  OpBuilder inner(terminator);
  TensorBuilder t(b.getLoc(), inner);
  SmallVector<Value> results;
  ArrayRef<Value> rest = found;
  auto take = [&](size_t count) {
    ArrayRef<Value> part = rest.take_front(count);
    rest = rest.drop_front(count);
    return part;
  };
  for (auto [d, state] : llvm::zip_equal(take(floating.size()), floating))
    results.push_back(d ? d : t.splat(own.states[state], 0.0));
  ArrayRef<Value> dInputs = take(neededInputs.size());
  for (auto [d, sum] : llvm::zip_equal(take(neededCaptured.size()), own.sums))
    results.push_back(d ? t.add(sum, d) : sum);
  for (auto [d, input] : llvm::zip_equal(dInputs, neededInputs))
    results.push_back(d ? d : t.splat(own.inputs[input], 0.0));
  terminator->setOperands(results);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();

  // States and inputs that only the original needs are neither saved nor read.
  llvm::BitVector unused(block.getNumArguments());
  auto select = [&](ArrayRef<Value> arguments, SmallVectorImpl<size_t> &read) {
    for (auto [i, argument] : llvm::enumerate(arguments))
      if (argument.use_empty())
        unused.set(cast<BlockArgument>(argument).getArgNumber());
      else
        read.push_back(i);
  };
  select(own.states, readStates);
  select(own.inputs, readInputs);
  select(own.captured, readCaptured);
  (void)gradient.eraseArguments(unused);
  gradient.setType(b.getFunctionType(gradient.getArgumentTypes(), ValueRange(results).getTypes()));
  ScanBody{static_cast<int64_t>(floating.size() + neededCaptured.size()),
           static_cast<int64_t>(readStates.size() + readInputs.size() + reached.size())}
      .mark(gradient);
  return success();
}

/// Replaces the uses of the scan by a scan that also stacks the states before each iteration that
/// the gradient reads. Returns the stacked states.
ArrayRef<Value> ScanDifferentiator::saveStates() {
  if (readStates.empty())
    return {};
  func::FuncOp saving = clone("_saved");
  Operation *terminator = saving.front().getTerminator();
  SmallVector<Type> types(scan.getResultTypes());
  const auto iterations = static_cast<int64_t>(scan.getIterations());
  for (size_t state : readStates) {
    Value before = saving.getArgument(state);
    terminator->insertOperands(terminator->getNumOperands(), before);
    types.push_back(ScanOp::stackedType(before.getType(), iterations));
  }
  saving.setType(b.getFunctionType(saving.getArgumentTypes(), terminator->getOperandTypes()));
  OpBuilder before(scan);
  auto replacement =
      ScanOp::create(before, scan.getLoc(), types, saving.getSymName(), scan.getIterations(),
                     scan.getReversed(), scan.getStates(), scan.getInputs(), scan.getCaptured());
  scan->replaceAllUsesWith(replacement->getResults().take_front(scan->getNumResults()));
  saved = llvm::to_vector_of<Value>(replacement->getResults().drop_front(scan->getNumResults()));
  return saved;
}

void ScanDifferentiator::buildScan(ArrayRef<Value> saved, SmallVectorImpl<Value> &gradients) {
  const size_t states = scan.getStates().size(), inputs = scan.getInputs().size();
  const auto iterations = static_cast<int64_t>(scan.getIterations());
  SmallVector<Value> initial, scanned(saved), captured;
  for (size_t state : floating)
    initial.push_back(cotangents[state] ? cotangents[state]
                                        : b.splat(scan.getStates()[state], 0.0));
  for (size_t number : neededCaptured)
    initial.push_back(b.splat(scan.getCaptured()[number], 0.0));
  for (size_t number : readInputs)
    scanned.push_back(scan.getInputs()[number]);
  for (size_t number : reached)
    scanned.push_back(cotangents[states + number]);
  for (size_t number : readCaptured)
    captured.push_back(scan.getCaptured()[number]);
  SmallVector<Type> types(ValueRange(initial).getTypes());
  for (Type slice : gradient.getResultTypes().drop_front(initial.size()))
    types.push_back(ScanOp::stackedType(slice, iterations));
  auto backward = b.create<ScanOp>(types, gradient.getSymName(), scan.getIterations(),
                                   !scan.getReversed(), initial, scanned, captured);
  gradients.assign(scan->getNumOperands(), Value());
  for (auto [i, state] : llvm::enumerate(floating))
    gradients[state] = backward.getFinals()[i];
  for (auto [i, number] : llvm::enumerate(neededCaptured))
    gradients[states + inputs + number] = backward.getFinals()[floating.size() + i];
  for (auto [i, number] : llvm::enumerate(neededInputs))
    gradients[states + number] = backward.getOutputs()[i];
}

LogicalResult mtc::differentiateScan(ScanOp scan, OpBuilder &builder, Location location,
                                     ArrayRef<Value> cotangents, ArrayRef<bool> needed,
                                     SmallVectorImpl<Value> &gradients) {
  return ScanDifferentiator(scan, builder, location, cotangents, needed).run(gradients);
}
