//===- StoreGradients.cpp - 16-bit storage of accumulated gradients ---------------------------===//

#include "ir/builders/TensorBuilder.h"
#include "passes/Passes.h"
#include "passes/autodiff/Accumulation.h"
#include "passes/autodiff/GradientStorage.h"

namespace mtc {
#define GEN_PASS_DEF_STOREGRADIENTS
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

struct StoreGradientsPass
    : PassWithOptions<mtc::impl::StoreGradientsBase<StoreGradientsPass>, GradientStorageOptions> {
  using PassWithOptions::PassWithOptions;
  void runOnOperation() override;
};

} // namespace

/// Returns the term that a write adds to a gradient, without the old value of the gradient. Returns
/// null if the write does something else.
static Value takeTerm(WriteOp write) {
  auto isOld = [&](Value value) {
    auto read = value.getDefiningOp<ReadOp>();
    return read && read.getVariable() == write.getVariable() && read->hasOneUse();
  };
  if (auto add = write.getValue().getDefiningOp<AddOp>(); add && add->hasOneUse()) {
    if (isOld(add.getLhs()))
      return add.getRhs();
    if (isOld(add.getRhs()))
      return add.getLhs();
  }
  auto rows = write.getValue().getDefiningOp<ScatterAddOp>();
  if (!rows || !rows->hasOneUse() || !rows.getOnto() || !isOld(rows.getOnto()))
    return {};
  Operation *old = rows.getOnto().getDefiningOp();
  rows.getOntoMutable().clear();
  old->erase();
  return rows;
}

/// Returns the f32 term. A contraction whose result mtc-narrow-storage rounds to a narrower type
/// returns f32 instead, since the sum is rounded anyway.
static Value withoutRounding(Value term) {
  auto wide = term.getDefiningOp<CastOp>();
  if (!wide || !wide.getStorage() || !wide->hasOneUse())
    return term;
  SmallVector<Value> chain = {wide.getInput()};
  Operation *op = chain.back().getDefiningOp();
  while (op && (op->hasTrait<mtc::View>() || isa<TransposeOp>(op))) {
    chain.push_back(op->getOperand(0));
    op = chain.back().getDefiningOp();
  }
  auto contraction = dyn_cast_or_null<PrecisionOpInterface>(op);
  if (!contraction || contraction.getPrecisionClass() != PrecisionClass::Contraction ||
      !contraction.acceptsResultType(cast<OpResult>(chain.back()).getResultNumber(),
                                     typeOf(chain.back()).getElementType(),
                                     typeOf(term).getElementType()) ||
      !llvm::all_of(chain, [](Value value) { return value.hasOneUse(); }))
    return term;
  for (Value value : chain)
    value.setType(typeOf(value).clone(typeOf(term).getElementType()));
  return chain.front();
}

/// Erases an operation and its operands as far as they have no other users.
static void eraseDead(Operation *op) {
  SmallVector<Value> operands(op->getOperands());
  op->erase();
  for (Value operand : operands)
    if (Operation *producer = operand.getDefiningOp(); producer && isOpTriviallyDead(producer))
      eraseDead(producer);
}

/// Stores a gradient in bf16. `writes` add to the sum, each as soon as its term is known.
static LogicalResult store(VariableOp gradient, ArrayRef<WriteOp> writes) {
  SmallVector<Value> terms;
  for (WriteOp write : writes) {
    Value term = takeTerm(write);
    if (!term)
      return write.emitOpError("does not add to the gradient; run mtc-store-gradients before "
                               "mtc-optimizer");
    terms.push_back(withoutRounding(term));
  }
  RankedTensorType type = gradient.getTensorType();
  OpBuilder builder(gradient.getContext());
  RankedTensorType stored = type.clone(builder.getBF16Type());
  gradient.setType(stored);
  if (terms.empty())
    return success();
  WriteOp last = writes.back();
  const Location location = last.getLoc();
  // The terms are added to one sum, so that a micro-step rounds once.
  Value sum = sumWhereKnown(terms, location);
  builder.setInsertionPointAfterValue(sum);
  TensorBuilder b(location, builder);
  const StringRef name = gradient.getSymName();
  Value old = b.create<CastOp>(type, b.create<ReadOp>(stored, name), /*storage=*/true);
  b.create<WriteOp>(name, b.create<CastOp>(stored, b.add(old, sum), /*storage=*/true));
  for (WriteOp write : writes)
    eraseDead(write);
  return success();
}

void StoreGradientsPass::runOnOperation() {
  FailureOr<GradientStorageOptions> options = readOptions();
  if (failed(options))
    return signalPassFailure();
  if (options->bits == 32)
    return;
  const Location everywhere = UnknownLoc::get(&getContext());
  ProgramOp program = ProgramOp::find(getOperation());
  if (!program || program.getMicroSteps() == 1) {
    emitWarning(everywhere, "--gradient-bits 16 has no effect: gradients are not accumulated; "
                            "use it with --accumulate");
    return;
  }
  if (program.getRanks()) {
    emitError(everywhere, "--gradient-bits 16: not supported with --ranks, which sums gradients in "
                          "f32; use it without --ranks");
    return signalPassFailure();
  }
  llvm::StringMap<SmallVector<WriteOp>> writes;
  getOperation().walk([&](WriteOp write) { writes[write.getVariable()].push_back(write); });
  bool isStored = false;
  for (auto variable : getOperation().getOps<VariableOp>()) {
    if (variable.getRole() != Role::Gradient || !variable.getTensorType().getElementType().isF32())
      continue;
    isStored = true;
    if (failed(store(variable, writes[variable.getSymName()])))
      return signalPassFailure();
  }
  if (!isStored)
    emitWarning(everywhere, "--gradient-bits 16 has no effect: no gradient is f32");
}

std::unique_ptr<Pass> mtc::createStoreGradients(const GradientStorageOptions &options) {
  return std::make_unique<StoreGradientsPass>(options);
}
