//===- ReachStage.cpp - Sets the stage of the module ------------------------------------------===//

#include "passes/Passes.h"

namespace mtc {
#define GEN_PASS_DEF_REACHSTAGE
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mtc;

namespace {

struct ReachStagePass : mtc::impl::ReachStageBase<ReachStagePass> {
  using ReachStageBase::ReachStageBase;
  void runOnOperation() override {
    if (ProgramOp program = ProgramOp::find(getOperation()))
      program.setStage(stage);
  }
};

} // namespace
