//===- RunSteps.cpp - Execution of steps on inputs from attributes ----------------------------===//

#include "tools/mtc-run/RunSteps.h"

#include "codegen/Jit.h"
#include "tools/mtc-run/Elements.h"

using namespace mlir;
using namespace mtc;

LogicalResult mtc::runSteps(ModuleOp module, Target &target) {
  if (target.getName() != "cpu")
    return module.emitError("steps of the target '" + target.getName() +
                            "' run only in programs; use --check to run its kernels");
  FailureOr<std::unique_ptr<JitProgram>> program = JitProgram::create(module, target);
  if (failed(program))
    return failure();
  bool ranOne = false;
  for (StepOp step : module.getOps<StepOp>()) {
    auto given = step->getAttrOfType<ArrayAttr>("run.inputs");
    if (!given)
      continue;
    ranOne = true;
    SmallVector<std::vector<char>> inputs, outputs;
    for (auto elements : given.getAsRange<ElementsAttr>())
      inputs.push_back(toBytes(elements));
    for (auto at : step.getOutputs().getAsRange<AtAttr>())
      outputs.emplace_back(byteSize(at.getType()));
    SmallVector<const void *> inputPointers;
    SmallVector<void *> outputPointers;
    for (auto &input : inputs)
      inputPointers.push_back(input.data());
    for (auto &output : outputs)
      outputPointers.push_back(output.data());
    if (llvm::Error error = (*program)->run(step.getSymName(), inputPointers, outputPointers))
      return step.emitError(llvm::toString(std::move(error)));
    for (auto [name, place, bytes] :
         llvm::zip_equal(step.getOutputNames().getAsValueRange<StringAttr>(),
                         step.getOutputs().getAsRange<AtAttr>(), outputs))
      printElements(llvm::outs(), name, place.getType(), bytes.data());
  }
  if (!ranOne)
    return module.emitError("no mtc.step has the attribute 'run.inputs', so no step was run");
  return success();
}
