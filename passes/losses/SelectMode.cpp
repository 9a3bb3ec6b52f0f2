//===- SelectMode.cpp - Selection of training or inference mode -------------------------------===//

#include "ir/ReservedNames.h"
#include "passes/Passes.h"

namespace mtc {
#define GEN_PASS_DEF_SELECTMODE
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

struct SelectModePass : mtc::impl::SelectModeBase<SelectModePass> {
  void runOnOperation() override {
    const bool trains = getOperation().getName() == microStepName;
    getOperation().walk([&](SelectByModeOp select) {
      select.replaceAllUsesWith(trains ? select.getTraining() : select.getInference());
      select.erase();
    });
  }
};

} // namespace
