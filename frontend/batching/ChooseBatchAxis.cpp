//===- ChooseBatchAxis.cpp - Inputs with a batch axis -----------------------------------------===//

#include "frontend/batching/BatchAxis.h"
#include "frontend/batching/Passes.h"
#include "ir/ReservedNames.h"
#include "ir/attributes/DiscardableAttributes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mtc {
#define GEN_PASS_DEF_CHOOSEBATCHAXIS
#include "frontend/batching/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

struct ChooseBatchAxis : mtc::impl::ChooseBatchAxisBase<ChooseBatchAxis> {
  using ChooseBatchAxisBase::ChooseBatchAxisBase;
  void runOnOperation() override;
};

} // namespace

/// Returns the inputs of the step, and adds them to the program.
static std::vector<mtc::StepInput> collectInputs(func::FuncOp microStep, ProgramOp program) {
  std::vector<mtc::StepInput> inputs;
  for (unsigned i = 0; i < microStep.getNumArguments(); ++i) {
    auto name = microStep.getArgAttrOfType<StringAttr>(i, nameAttribute);
    InputOp known = program.findOrAddInput(name ? name.getValue() : "");
    auto type = cast<RankedTensorType>(microStep.getArgument(i).getType());
    inputs.push_back({.name = known.getName().str(),
                      .firstDim = known.getAxis().value_or("").str(),
                      .shape = llvm::to_vector(type.getShape()),
                      .isLabel = known.getLabel()});
  }
  return inputs;
}

void ChooseBatchAxis::runOnOperation() {
  ModuleOp module = getOperation();
  auto unknown = UnknownLoc::get(&getContext()); // For diagnostics about the whole program.
  auto microStep = module.lookupSymbol<func::FuncOp>(microStepName);
  if (!microStep) {
    emitError(unknown, "the module has no function @micro_step; run mtc-attach-loss first");
    return signalPassFailure();
  }
  ProgramOp program = ProgramOp::findOrAdd(module);
  Problems problems;
  std::optional<mtc::BatchAxis> axis =
      mtc::chooseBatchAxis(collectInputs(microStep, program), *batchInputs, problems);
  for (const std::string &problem : problems.get())
    emitError(unknown, problem);
  if (!axis)
    return signalPassFailure();
  program.setBatch(axis->batch);
  for (auto input : program.getInputs().getOps<InputOp>())
    input.setRows(axis->inputs.contains(input.getName()));
  if (!axis->note.empty())
    emitRemark(unknown, axis->note);
}
