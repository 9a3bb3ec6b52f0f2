//===- StepCostTest.cpp - Incremental estimates equal those from scratch ----------------------===//

#include "passes/cost/StepCost.h"
#include "test/passes/RandomModule.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace mtc;
using namespace mtc::test;

namespace {

TEST(StepCost, AnAnswerAfterEditsIsThatFromScratch) {
  constexpr int editCount = 200;
  for (unsigned seed = 0; seed < 10; ++seed) {
    SCOPED_TRACE(seed);
    RandomModule random(seed);
    OwningOpRef<ModuleOp> module = random.build(/*operationCount=*/30);
    ASSERT_TRUE(module);
    StepCost followed(*module);
    Editor editor(random, *module, followed);
    bool hasChanged = false;
    TimedCost first = followed.ofFunction("step");
    EXPECT_GT(first.picoseconds, 0);
    for (int i = 0; i < editCount; ++i) {
      editor.edit();
      if (i % 3) // Several changes before one question, too.
        continue;
      StepCost fresh(*module);
      for (const char *name : {"step", "gradients"})
        ASSERT_EQ(followed.ofFunction(name), fresh.ofFunction(name));
      hasChanged |= followed.ofFunction("step") != first;
    }
    EXPECT_TRUE(hasChanged);
  }
}

TEST(StepCost, AnAnswerEstimatesWhatChanged) {
  RandomModule random(1);
  OwningOpRef<ModuleOp> module = random.build(/*operationCount=*/2000);
  ASSERT_TRUE(module);
  StepCost cost(*module);
  TimedCost before = cost.ofFunction("step");
  EXPECT_GE(cost.getEstimates(), 2000);

  IRRewriter rewriter(&random.context, &cost);
  auto function = *module->getOps<func::FuncOp>().begin();
  KernelOp kernel = *function.getOps<KernelOp>().begin();
  TimedCost ofKernel = cost.of(kernel);
  EXPECT_GT(ofKernel.picoseconds, 0);
  int64_t estimated = cost.getEstimates();
  rewriter.setInsertionPoint(kernel);
  Operation *copy = rewriter.clone(*kernel);
  EXPECT_EQ(cost.ofFunction("step").picoseconds, before.picoseconds + ofKernel.picoseconds);
  EXPECT_EQ(cost.getEstimates(), estimated + 1);
  rewriter.eraseOp(copy);
  EXPECT_EQ(cost.ofFunction("step"), before);
  EXPECT_EQ(cost.getEstimates(), estimated + 1);
}

TEST(StepCost, FollowsTheTargetAndTheFunctions) {
  RandomModule random(2);
  OwningOpRef<ModuleOp> module = random.build(/*operationCount=*/10);
  StepCost cost(*module);
  EXPECT_GT(cost.ofFunction("step").picoseconds, 0);
  EXPECT_EQ(cost.ofFunction("none"), TimedCost());
  EXPECT_EQ(cost.ofStep(), TimedCost()); // Neither @micro_step nor @update.
  IRRewriter rewriter(&random.context, &cost);
  auto function = *module->getOps<func::FuncOp>().begin();
  rewriter.modifyOpInPlace(function, [&] { function.setSymName("micro_step"); });
  EXPECT_GT(cost.ofStep().picoseconds, 0);
  EXPECT_EQ(cost.describeRates(), "as a test has them");
  (*module)->removeAttr("mtc.target");
  EXPECT_GT(cost.ofStep().picoseconds, 0); // By operations and bytes.
  EXPECT_EQ(cost.describeRates(), "");
}

} // namespace
