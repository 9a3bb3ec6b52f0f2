//===- MicroSteps.cpp - Loss and random bits of micro-steps -----------------------------------===//

#include "passes/losses/MicroSteps.h"

#include "ir/ReservedNames.h"

using namespace mlir;
using namespace mtc;

static Block::iterator endOfVariables(ModuleOp module) {
  auto functions = module.getOps<func::FuncOp>();
  return functions.empty() ? module.getBody()->end() : (*functions.begin())->getIterator();
}

static ModuleOp moduleOf(TensorBuilder &b) {
  return b.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
}

/// Adds a scalar to a new f64 variable, which is initially zero.
static void addTo(TensorBuilder &b, StringRef name, Value value) {
  ModuleOp module = moduleOf(b);
  auto type = RankedTensorType::get({}, b.getF64Type());
  OpBuilder builder(b.getContext());
  SymbolTable(module).insert(VariableOp::create(builder, module.getLoc(), Role::Optimizer, name,
                                                type, ZerosAttr::get(b.getContext())),
                             endOfVariables(module));
  Value sum = b.add(b.create<ReadOp>(type, name), b.cast(value, b.getF64Type()));
  b.create<WriteOp>(name, sum);
}

/// Records the accumulation in the program; `targets` is the number of targets, 0 if each has
/// weight 1.
static void describe(TensorBuilder &b, int64_t microSteps, int64_t targets) {
  ProgramOp::findOrAdd(moduleOf(b))
      .setAccumulationAttr(AccumulationAttr::get(b.getContext(), microSteps, targets));
}

static Value divide(TensorBuilder &b, Value x, int64_t divisor) {
  return b.div(x, b.splat(x, static_cast<double>(divisor)));
}

Value mtc::buildPartOfLoss(TensorBuilder &b, const LossTerms &terms, int64_t microSteps,
                           bool hasShapes) {
  RankedTensorType type = typeOf(terms.losses);
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(type.getRank()));
  const int64_t targets = hasShapes ? microSteps : microSteps * type.getNumElements();
  Value part = divide(b, b.sum(terms.losses, axes), targets);
  const bool isCounted = terms.weights || hasShapes;
  describe(b, microSteps, isCounted ? targets : 0);
  addTo(b, lossSumName, part);
  if (terms.weights)
    addTo(b, targetCountName, b.sum(terms.weights, axes));
  else if (isCounted)
    addTo(b, targetCountName,
          b.splat(RankedTensorType::get({}, type.getElementType()),
                  static_cast<double>(type.getNumElements())));
  return part;
}

Value mtc::buildPartOfLoss(TensorBuilder &b, Value loss, int64_t microSteps) {
  Value part = divide(b, loss, microSteps);
  describe(b, microSteps, /*targets=*/0);
  addTo(b, lossSumName, part);
  return part;
}

void mtc::numberRandomBits(func::FuncOp microStep, int64_t microSteps) {
  auto module = microStep->getParentOfType<ModuleOp>();
  SymbolTable symbols(module);
  for (auto bits : microStep.front().getOps<RandomBitsOp>()) {
    VariableOp variable =
        VariableOp::findOrAddScalar(symbols, RuntimeScalar::MicroStep, endOfVariables(module));
    OpBuilder builder(bits);
    TensorBuilder b(bits.getLoc(), builder);
    // Numbers micro-step m (from 0) of step s (from 1) as (s - 1) * microSteps + m + 1.
    Value step = bits.getStep(), one = b.splat(step, 1.0);
    Value before = b.mul(b.sub(step, one), b.splat(step, static_cast<double>(microSteps)));
    Value own = b.create<ReadOp>(variable.getTensorType(), variable.getSymName());
    bits.getStepMutable().set(b.add(b.add(before, own), one));
  }
}
