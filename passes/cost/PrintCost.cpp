//===- PrintCost.cpp - Printing of cost estimates ---------------------------------------------===//

#include "ir/NodeNames.h"
#include "passes/Passes.h"
#include "passes/cost/StepCost.h"

#include "llvm/Support/FormatVariadic.h"

namespace mtc {
#define GEN_PASS_DEF_PRINTCOST
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

struct PrintCost : mtc::impl::PrintCostBase<PrintCost> {
  void runOnOperation() override {
    StepCost costs(getOperation());
    auto print = [](StringRef function, StringRef kind, const TimedCost &cost, StringRef text) {
      llvm::errs() << llvm::formatv("{0}\t{1}\t{2:e3}\t{3}\t{4}\t{5}\n", function, kind,
                                    cost.seconds(), cost.flops, cost.bytes, text);
    };
    for (Operation &function : *getOperation().getBody())
      if (isa<func::FuncOp, StepOp>(function))
        for (Operation &op : function.getRegion(0).front())
          if (StepCost::OperationCost cost = costs.of(&op); !cost.kind.empty())
            print(SymbolTable::getSymbolName(&function), cost.kind, cost, nodeNames(op.getLoc()));
    print("step", "", costs.ofStep(), costs.describeRates());
    markAllAnalysesPreserved();
  }
};

} // namespace
