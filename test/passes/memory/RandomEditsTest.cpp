//===- RandomEditsTest.cpp - Incremental analyses equal those from scratch --------------------===//

#include "passes/memory/MemoryAnalysis.h"
#include "test/passes/RandomModule.h"

#include "mlir/IR/Verifier.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace mtc;
using namespace mtc::test;

namespace {

void expectEqual(const MemoryPlan &followed, const MemoryPlan &fresh) {
  EXPECT_EQ(followed.peak, fresh.peak);
  EXPECT_EQ(followed.live, fresh.live);
  EXPECT_EQ(followed.separateRun, fresh.separateRun);
  EXPECT_EQ(followed.peakAt, fresh.peakAt);
  EXPECT_EQ(followed.categories.activations, fresh.categories.activations);
  EXPECT_EQ(followed.categories.workspace, fresh.categories.workspace);
  ASSERT_EQ(followed.alive.size(), fresh.alive.size());
  for (auto [a, b] : llvm::zip_equal(followed.alive, fresh.alive)) {
    EXPECT_EQ(a.holder, b.holder);
    EXPECT_EQ(a.bytes, b.bytes);
    EXPECT_EQ(a.begin, b.begin);
    EXPECT_EQ(a.end, b.end);
    EXPECT_EQ(a.isScratch, b.isScratch);
  }
  ASSERT_EQ(followed.points.size(), fresh.points.size());
  for (auto [a, b] : llvm::zip_equal(followed.points, fresh.points)) {
    EXPECT_EQ(a.op, b.op);
    EXPECT_EQ(a.live, b.live);
  }
}

TEST(RandomEdits, AnAnswerAfterEditsIsThatFromScratch) {
  constexpr int editCount = 150;
  int answered = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    RandomModule random(seed);
    OwningOpRef<ModuleOp> module = random.build(/*operationCount=*/30);
    ASSERT_TRUE(module);
    // If a write cannot be scheduled, neither analysis has a plan.
    ScopedDiagnosticHandler quiet(&random.context, [](Diagnostic &) { return success(); });
    MemoryAnalysis followed(*module);
    Editor editor(random, *module, followed);
    for (int i = 0; i < editCount; ++i) {
      editor.edit();
      ASSERT_TRUE(succeeded(verify(*module)));
      MemoryAnalysis fresh(*module);
      FailureOr<MemoryPlan> expected = fresh.getPlanWithLayout();
      FailureOr<MemoryPlan> actual = i % 5 ? followed.getPlan() : followed.getPlanWithLayout();
      ASSERT_EQ(succeeded(actual), succeeded(expected));
      if (failed(expected))
        continue;
      ++answered;
      expectEqual(*actual, i % 5 ? *fresh.getPlan() : *expected);
      if (testing::Test::HasFailure())
        return;
    }
  }
  EXPECT_GE(answered, 20 * editCount / 4);
}

TEST(RandomEdits, AnAnswerReadsWhatChanged) {
  RandomModule random(1);
  OwningOpRef<ModuleOp> module = random.build(/*operationCount=*/2000);
  ASSERT_TRUE(module);
  MemoryAnalysis analysis(*module);
  ASSERT_TRUE(succeeded(analysis.getPlan()));
  EXPECT_GE(analysis.getReads(), 2000);

  IRRewriter rewriter(&random.context, &analysis);
  auto function = *module->getOps<func::FuncOp>().begin();
  auto kernels = llvm::to_vector(function.getOps<KernelOp>());
  for (int i = 0; i < 10; ++i) {
    KernelOp kernel = kernels[100 * i];
    int64_t before = analysis.getReads();
    rewriter.setInsertionPoint(kernel);
    Operation *copy = rewriter.clone(*kernel);
    ASSERT_TRUE(succeeded(analysis.getPlan()));
    EXPECT_EQ(analysis.getReads() - before, 1);
    rewriter.eraseOp(copy);
    ASSERT_TRUE(succeeded(analysis.getPlan()));
    EXPECT_EQ(analysis.getReads() - before, 1);
  }
}

} // namespace
