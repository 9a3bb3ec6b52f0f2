//===- EraseUnreadInputs.cpp - Erases inputs that only @outputs reads -------------------------===//

#include "ir/ReservedNames.h"
#include "passes/GraphSignature.h"
#include "passes/Passes.h"

namespace mtc {
#define GEN_PASS_DEF_ERASEUNREADINPUTS
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

struct EraseUnreadInputsPass : mtc::impl::EraseUnreadInputsBase<EraseUnreadInputsPass> {
  void runOnOperation() override {
    auto outputs = getOperation().lookupSymbol<func::FuncOp>(outputsName);
    if (!outputs)
      return;
    SmallVector<func::FuncOp> steps;
    for (StringRef name : {microStepName, evaluateName})
      if (auto step = getOperation().lookupSymbol<func::FuncOp>(name))
        steps.push_back(step);
    for (BlockArgument input : outputs.getArguments())
      if (!input.use_empty())
        eraseIfUnread(argumentName(outputs, input.getArgNumber()), steps);
  }

private:
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
