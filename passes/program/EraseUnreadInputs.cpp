//===- EraseUnreadInputs.cpp - Erases inputs that only @outputs reads -------------------------===//

#include "ir/ReservedNames.h"
#include "ir/ScanBody.h"
#include "passes/GraphSignature.h"
#include "passes/Passes.h"

#include "llvm/ADT/BitVector.h"

namespace mtc {
#define GEN_PASS_DEF_ERASEUNREADINPUTS
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

struct EraseUnreadInputsPass : mtc::impl::EraseUnreadInputsBase<EraseUnreadInputsPass> {
  void runOnOperation() override {
    ProgramOp program = ProgramOp::find(getOperation());
    if (program && program.getPipelineStage())
      eraseInputsOfOtherStages();
    for (unsigned shape = 0, count = program ? program.getShapeCount() : 1; shape < count; ++shape)
      eraseOfShape(shape);
  }

private:
  void eraseOfShape(unsigned shape) {
    auto find = [&](StringRef name) {
      return getOperation().lookupSymbol<func::FuncOp>(nameForShape(name, shape));
    };
    func::FuncOp outputs = find(outputsName);
    if (!outputs)
      return;
    SmallVector<func::FuncOp> steps;
    for (StringRef name : {microStepName, evaluateName})
      if (func::FuncOp step = find(name))
        steps.push_back(step);
    for (BlockArgument input : outputs.getArguments())
      if (!input.use_empty())
        eraseIfUnread(argumentName(outputs, input.getArgNumber()), steps);
  }

  /// Erases the inputs that only other pipeline stages read.
  void eraseInputsOfOtherStages() {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (isScanBody(function))
        continue;
      llvm::BitVector unread(function.getNumArguments());
      for (BlockArgument argument : function.getArguments())
        unread[argument.getArgNumber()] = argument.use_empty();
      if (failed(function.eraseArguments(unread)))
        llvm_unreachable("an unread argument of a function can be erased");
    }
  }

  static void eraseIfUnread(StringRef name, ArrayRef<func::FuncOp> steps) {
    auto isRead = [&](func::FuncOp step) {
      std::optional<unsigned> index = findArgument(step, name);
      return index && !step.getArgument(*index).use_empty();
    };
    if (llvm::any_of(steps, isRead))
      return;
    for (func::FuncOp step : steps)
      if (std::optional<unsigned> index = findArgument(step, name))
        if (failed(step.eraseArgument(*index)))
          llvm_unreachable("an unread argument of a function can be erased");
  }
};

} // namespace
