//===- MemoryAnalysisTest.cpp - Queries about a module that is not allocated ------------------===//

#include "passes/memory/MemoryAnalysis.h"
#include "passes/Passes.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace mtc;

namespace {

// The write precedes the last use of the variable's old value.
constexpr const char *text = R"(
mtc.variable parameter @w : tensor<16xf32> = #mtc.zeros
func.func @step(%x: tensor<16xf32> {mtc.name = "x"}) -> tensor<16xf32> {
  %w = mtc.read @w : tensor<16xf32>
  %n = mtc.kernel [16](%w, %x) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32> {
  ^bb0(%a: tensor<16xf32>, %b: tensor<16xf32>):
    %v = mtc.kernel.load %a at affine_map<(d0) -> (15 - d0)> : tensor<16xf32> -> f32
    %u = mtc.kernel.load %b at affine_map<(d0) -> (d0)> : tensor<16xf32> -> f32
    %s = arith.subf %v, %u : f32
    mtc.kernel.yield %s at [affine_map<(d0) -> (d0)>] : f32
  }
  mtc.write @w, %n : tensor<16xf32>
  %y = mtc.kernel [16](%w) : (tensor<16xf32>) -> tensor<16xf32> {
  ^bb0(%a: tensor<16xf32>):
    %v = mtc.kernel.load %a at affine_map<(d0) -> (d0)> : tensor<16xf32> -> f32
    %s = arith.negf %v : f32
    mtc.kernel.yield %s at [affine_map<(d0) -> (d0)>] : f32
  }
  return %y : tensor<16xf32>
}
)";

class MemoryAnalysisTest : public testing::Test {
protected:
  MemoryAnalysisTest() {
    context.loadDialect<MtcDialect, func::FuncDialect>();
    module = parseSourceString<ModuleOp>(text, &context);
  }

  func::FuncOp function() { return *module->getOps<func::FuncOp>().begin(); }

  std::string print() {
    std::string result;
    llvm::raw_string_ostream stream(result);
    module->print(stream);
    return result;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(MemoryAnalysisTest, AsksWithoutTouchingTheModule) {
  const std::string before = print();
  MemoryAnalysis analysis(*module);
  for (int i = 0; i < 2; ++i) {
    FailureOr<MemoryPlan> plan = analysis.getPlanWithLayout();
    ASSERT_TRUE(succeeded(plan));
    EXPECT_EQ(plan->categories.parameters, 64);
    EXPECT_EQ(plan->categories.data, 64);
    EXPECT_EQ(plan->categories.activations, 2 * 64);
    EXPECT_EQ(plan->peak, 4 * 64); // @w, x, and both results at once.
    EXPECT_EQ(plan->live, 4 * 64);
  }
  EXPECT_EQ(print(), before);
}

TEST_F(MemoryAnalysisTest, NoPlanGoesBelowTheFloor) {
  FailureOr<MemoryPlan> plan = MemoryAnalysis(*module).getPlanWithLayout();
  ASSERT_TRUE(succeeded(plan));
  // Only @w and x count, because one result is written to @w and may be computed in its memory, and
  // the other result may be computed in tiles.
  EXPECT_EQ(plan->floor, 2 * 64);
}

TEST_F(MemoryAnalysisTest, NamesWhatIsAliveAtThePeak) {
  auto kernels = llvm::to_vector(function().getOps<KernelOp>());
  FailureOr<MemoryPlan> plan = MemoryAnalysis(*module).getPlan();
  ASSERT_TRUE(succeeded(plan));
  EXPECT_EQ(plan->peakAt, LocationAttr(kernels[1].getLoc()));
  ASSERT_EQ(plan->alive.size(), 2u);
  EXPECT_EQ(plan->alive[0].holder, kernels[0]);
  EXPECT_EQ(plan->alive[0].begin, kernels[0]);
  EXPECT_TRUE(isa<WriteOp>(plan->alive[0].end));
  EXPECT_EQ(plan->alive[1].holder, kernels[1]);
  EXPECT_EQ(plan->alive[1].bytes, 64);
  EXPECT_FALSE(plan->alive[1].isScratch);
}

TEST_F(MemoryAnalysisTest, SchedulesAWriteAfterTheLastUseOfTheOldValue) {
  FailureOr<MemoryPlan> plan = MemoryAnalysis(*module).getPlan();
  ASSERT_TRUE(succeeded(plan));
  std::vector<std::pair<std::string, int64_t>> live;
  for (const MemoryPlan::Point &point : plan->points)
    live.emplace_back(point.op->getName().getStringRef(), point.live);
  EXPECT_EQ(live, (std::vector<std::pair<std::string, int64_t>>{{"mtc.read", 128},
                                                                {"mtc.kernel", 192},
                                                                {"mtc.kernel", 256},
                                                                {"mtc.write", 256},
                                                                {"func.return", 192}}));
}

TEST_F(MemoryAnalysisTest, FollowsAChangeOfTheModule) {
  MemoryAnalysis analysis(*module);
  ASSERT_TRUE(succeeded(analysis.getPlan()));
  IRRewriter rewriter(&context, &analysis);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(function().front())))
    if (isa<WriteOp>(op) || (isa<KernelOp>(op) && op.use_empty()))
      rewriter.eraseOp(&op);
  FailureOr<MemoryPlan> plan = analysis.getPlanWithLayout();
  ASSERT_TRUE(succeeded(plan));
  EXPECT_EQ(plan->peak, 3 * 64);
}

TEST_F(MemoryAnalysisTest, FollowsAChangeOfVariablesAndArguments) {
  MemoryAnalysis analysis(*module);
  ASSERT_TRUE(succeeded(analysis.getPlan()));
  IRRewriter rewriter(&context, &analysis);
  auto type = RankedTensorType::get({32}, rewriter.getF32Type());
  rewriter.setInsertionPointToStart(module->getBody());
  VariableOp::create(rewriter, module->getLoc(), Role::Optimizer, "moment", type,
                     ZerosAttr::get(&context));
  rewriter.modifyOpInPlace(function(), [&] {
    ASSERT_TRUE(succeeded(function().insertArgument(0, type, {}, module->getLoc())));
  });
  FailureOr<MemoryPlan> plan = analysis.getPlan();
  ASSERT_TRUE(succeeded(plan));
  EXPECT_EQ(plan->categories.optimizer, 128);
  EXPECT_EQ(plan->categories.data, 64 + 128);
  EXPECT_EQ(plan->peak, 8 * 64);
}

TEST_F(MemoryAnalysisTest, IsWhatThePassWrites) {
  FailureOr<MemoryPlan> plan = MemoryAnalysis(*module).getPlanWithLayout();
  ASSERT_TRUE(succeeded(plan));
  PassManager manager(&context);
  manager.addPass(createAllocate());
  ASSERT_TRUE(succeeded(manager.run(*module)));
  MemoryPlan placed = MemoryPlan::ofAllocated(*module);
  EXPECT_EQ(placed.peak, plan->peak);
  EXPECT_EQ(placed.live, plan->live);
  EXPECT_EQ(placed.floor, plan->floor);
  EXPECT_EQ(placed.peakAt, plan->peakAt);
  EXPECT_EQ(placed.categories.activations, plan->categories.activations);
}

} // namespace
