//===- CandidatesTest.cpp - Candidates of the offloading techniques ---------------------------===//

#include "passes/offload/ActivationOffload.h"
#include "passes/offload/VariableOffload.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace mtc;

namespace {

// %a is used by the first and the last kernel, and two other values are live in between.
constexpr const char *text = R"(
#row = affine_map<(d0, d1) -> (d0, d1)>
#reversed = affine_map<(d0, d1) -> (d1, d0)>
mtc.variable optimizer @m : tensor<128x128xf32> = #mtc.zeros
mtc.variable optimizer @n : tensor<128x128xf32> = #mtc.zeros
mtc.variable optimizer @small : tensor<16x16xf32> = #mtc.zeros
func.func @step(%x: tensor<128x128xf32> {mtc.name = "x"}) -> (tensor<128x128xf32> {mtc.name = "y"}) {
  %a = mtc.kernel [128, 128](%x) : (tensor<128x128xf32>) -> tensor<128x128xf32> {
  ^bb0(%p: tensor<128x128xf32>):
    %v = mtc.kernel.load %p at #row : tensor<128x128xf32> -> f32
    mtc.kernel.yield %v at [#row] : f32
  }
  %b = mtc.kernel [128, 128](%x) : (tensor<128x128xf32>) -> tensor<128x128xf32> {
  ^bb0(%p: tensor<128x128xf32>):
    %v = mtc.kernel.load %p at #row : tensor<128x128xf32> -> f32
    %s = arith.negf %v : f32
    mtc.kernel.yield %s at [#row] : f32
  }
  %c = mtc.kernel [128, 128](%b) : (tensor<128x128xf32>) -> tensor<128x128xf32> {
  ^bb0(%p: tensor<128x128xf32>):
    %v = mtc.kernel.load %p at #reversed : tensor<128x128xf32> -> f32
    mtc.kernel.yield %v at [#row] : f32
  }
  %y = mtc.kernel [128, 128](%a, %c) : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32> {
  ^bb0(%p: tensor<128x128xf32>, %q: tensor<128x128xf32>):
    %v = mtc.kernel.load %p at #row : tensor<128x128xf32> -> f32
    %u = mtc.kernel.load %q at #row : tensor<128x128xf32> -> f32
    %s = arith.addf %v, %u : f32
    mtc.kernel.yield %s at [#row] : f32
  }
  %m = mtc.read @m : tensor<128x128xf32>
  %m2 = mtc.kernel [128, 128](%m) : (tensor<128x128xf32>) -> tensor<128x128xf32> {
  ^bb0(%p: tensor<128x128xf32>):
    %v = mtc.kernel.load %p at #row : tensor<128x128xf32> -> f32
    %s = arith.negf %v : f32
    mtc.kernel.yield %s at [#row] : f32
  }
  mtc.write @m, %m2 : tensor<128x128xf32>
  %n = mtc.read @n : tensor<128x128xf32>
  %n2 = mtc.kernel [128, 128](%n) : (tensor<128x128xf32>) -> tensor<128x128xf32> {
  ^bb0(%p: tensor<128x128xf32>):
    %v = mtc.kernel.load %p at #row : tensor<128x128xf32> -> f32
    %s = arith.negf %v : f32
    mtc.kernel.yield %s at [#row] : f32
  }
  mtc.write @n, %n2 : tensor<128x128xf32>
  %k = mtc.read @small : tensor<16x16xf32>
  %k2 = mtc.kernel [16, 16](%k) : (tensor<16x16xf32>) -> tensor<16x16xf32> {
  ^bb0(%p: tensor<16x16xf32>):
    %v = mtc.kernel.load %p at #row : tensor<16x16xf32> -> f32
    %s = arith.negf %v : f32
    mtc.kernel.yield %s at [#row] : f32
  }
  mtc.write @small, %k2 : tensor<16x16xf32>
  return %y : tensor<128x128xf32>
}
)";
constexpr int64_t bytes = 64 << 10, window = 4096;

class CandidatesTest : public testing::Test {
protected:
  explicit CandidatesTest(const std::string &source = text) {
    context.loadDialect<MtcDialect, func::FuncDialect, arith::ArithDialect>();
    module = parseSourceString<ModuleOp>(source, &context);
    analysis = std::make_unique<MemoryAnalysis>(*module);
    times = std::make_unique<OperationTimes>(*module);
    EXPECT_TRUE(succeeded(analysis->getPlan()));
    budget = std::make_unique<FunctionBudget>(
        FunctionBudget{*analysis->getFunctions().begin(), *analysis, 0});
  }

  PeakReducer::Candidate candidateOf(PeakReducer &technique, int64_t excess) {
    auto candidate = technique.findCandidate(excess);
    EXPECT_TRUE(succeeded(candidate) && candidate->has_value());
    return **candidate;
  }
  bool take(PeakReducer &technique) {
    FailureOr<bool> isTaken = technique.applyCandidate();
    EXPECT_TRUE(succeeded(isTaken));
    return *isTaken;
  }
  bool hasCandidate(PeakReducer &technique) {
    auto candidate = technique.findCandidate(1 << 20);
    EXPECT_TRUE(succeeded(candidate));
    return candidate->has_value();
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::unique_ptr<MemoryAnalysis> analysis;
  std::unique_ptr<OperationTimes> times;
  std::unique_ptr<FunctionBudget> budget;
};

TEST_F(CandidatesTest, MovesAnActivationThatIsNotUsedAtThePeak) {
  ActivationOffload technique(*budget, *times);
  const int64_t before = budget->liveBytes();
  EXPECT_EQ(candidateOf(technique, 1 << 20).bytes, bytes);
  EXPECT_TRUE(take(technique));
  EXPECT_EQ(budget->liveBytes(), before - bytes);
  EXPECT_EQ(technique.getCount(), 1U);
  EXPECT_EQ(technique.getBytes(), bytes);
  EXPECT_FALSE(hasCandidate(technique)); // All other values are used at the peak.
  EXPECT_TRUE(succeeded(verify(*module)));
}

TEST_F(CandidatesTest, CountsTransferSlotsWithTheFirstGroup) {
  VariableOffload technique(*budget, *times, OffloadKind::Optimizer, window);
  const int64_t before = budget->liveBytes();
  EXPECT_EQ(candidateOf(technique, /*excess=*/1).bytes, bytes - 4 * window);
  EXPECT_TRUE(take(technique));
  // Slots start at a multiple of the page size.
  EXPECT_NEAR(budget->liveBytes(), before - (bytes - 4 * window), 4096);
  EXPECT_EQ(candidateOf(technique, /*excess=*/1).bytes, bytes);
  EXPECT_TRUE(take(technique));
  EXPECT_NEAR(budget->liveBytes(), before - (2 * bytes - 4 * window), 4096);
  EXPECT_FALSE(hasCandidate(technique)); // The last variable is small.
  EXPECT_TRUE(succeeded(verify(*module)));
}

TEST_F(CandidatesTest, HasSeveralGroupsIfOneFreesLessThanTheSlotsNeed) {
  VariableOffload technique(*budget, *times, OffloadKind::Optimizer, /*window=*/16 << 10);
  EXPECT_EQ(candidateOf(technique, 1 << 20).bytes, 2 * bytes - 4 * (16 << 10));
  EXPECT_TRUE(take(technique));
  EXPECT_FALSE(hasCandidate(technique));
}

/// The update of @m needs a copy of the whole variable.
std::string textOfWholeCopies() {
  std::string source = text;
  const size_t update = source.find("%m2 = ");
  const std::string row = "%p at #row";
  return source.replace(source.find(row, update), row.size(), "%p at #reversed");
}

class WholeCopies : public CandidatesTest {
protected:
  WholeCopies() : CandidatesTest(textOfWholeCopies()) {}

  Operation *findUpdate() {
    Operation *update = nullptr;
    module->walk([&](WriteOp write) {
      if (write.getVariable() == "m")
        update = write.getValue().getDefiningOp();
    });
    return update;
  }
};

// Trials of other techniques replace operations without a notification.
TEST_F(WholeCopies, ArePlannedAgainAfterOperationsHaveChanged) {
  VariableOffload technique(*budget, *times, OffloadKind::Optimizer, window);
  candidateOf(technique, /*excess=*/1 << 20);
  Operation *update = findUpdate();
  ASSERT_TRUE(update);
  Listeners listeners(*analysis, *times);
  IRRewriter rewriter(&context, &listeners);
  rewriter.setInsertionPoint(update);
  Operation *copy = rewriter.clone(*update);
  rewriter.replaceAllUsesWith(update->getResults(), copy->getResults());
  listeners.notifyOperationErased(update);
  update->dropAllReferences();
  update->remove();
  EXPECT_TRUE(succeeded(analysis->update()));
  EXPECT_TRUE(take(technique));
  EXPECT_FALSE(isa<ReadOp>(copy->getOperand(0).getDefiningOp())); // But a copy on the device.
  EXPECT_TRUE(succeeded(verify(*module)));
  update->destroy();
}

TEST_F(CandidatesTest, HasNoVariablesOfOtherKinds) {
  for (OffloadKind kind : {OffloadKind::Parameters, OffloadKind::Gradients}) {
    VariableOffload technique(*budget, *times, kind, window);
    EXPECT_FALSE(hasCandidate(technique));
  }
}

} // namespace
