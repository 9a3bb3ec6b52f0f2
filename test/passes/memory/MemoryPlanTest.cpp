//===- MemoryPlanTest.cpp - Questions about a module that is not placed -----------------------===//

#include "passes/memory/MemoryPlan.h"
#include "passes/Passes.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace mtc;

namespace {

// The write stands in front of the last use of the variable's old value.
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

class MemoryPlanTest : public testing::Test {
protected:
  MemoryPlanTest() {
    context.loadDialect<MtcDialect, func::FuncDialect>();
    module = parseSourceString<ModuleOp>(text, &context);
  }

  std::string print() {
    std::string result;
    llvm::raw_string_ostream stream(result);
    module->print(stream);
    return result;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(MemoryPlanTest, AsksWithoutTouchingTheModule) {
  const std::string before = print();
  for (int i = 0; i < 2; ++i) {
    FailureOr<MemoryPlan> plan = MemoryPlan::compute(*module);
    ASSERT_TRUE(succeeded(plan));
    EXPECT_EQ(plan->getVariables().size, 64);
    EXPECT_EQ(plan->getDataBytes(), 64);
    EXPECT_EQ(plan->getSize(), 4 * 64); // @w, x, and both results at once.
    EXPECT_EQ(plan->getLiveBytes(), 4 * 64);
    EXPECT_TRUE(isa_and_present<KernelOp>(plan->getPeak()));
  }
  EXPECT_EQ(print(), before);
}

TEST_F(MemoryPlanTest, SchedulesAWriteBehindTheLastUseOfTheOldValue) {
  auto function = *module->getOps<func::FuncOp>().begin();
  FailureOr<Schedule> schedule = Schedule::compute(function);
  ASSERT_TRUE(succeeded(schedule));
  std::vector<std::string> names;
  for (Operation *op : schedule->getOrder())
    names.push_back(op->getName().getStringRef().str());
  EXPECT_EQ(names, (std::vector<std::string>{"mtc.read", "mtc.kernel", "mtc.kernel", "mtc.write",
                                             "func.return"}));
}

TEST_F(MemoryPlanTest, FollowsAChangeOfTheModule) {
  auto function = *module->getOps<func::FuncOp>().begin();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(function.front())))
    if (isa<WriteOp>(op) || (isa<KernelOp>(op) && op.use_empty()))
      op.erase();
  FailureOr<MemoryPlan> plan = MemoryPlan::compute(*module);
  ASSERT_TRUE(succeeded(plan));
  EXPECT_EQ(plan->getSize(), 3 * 64);
}

TEST_F(MemoryPlanTest, IsWhatThePassWrites) {
  FailureOr<MemoryPlan> plan = MemoryPlan::compute(*module);
  ASSERT_TRUE(succeeded(plan));
  PassManager manager(&context);
  manager.addPass(createAllocate());
  ASSERT_TRUE(succeeded(manager.run(*module)));
  ArenaOp arena = *module->getOps<ArenaOp>().begin();
  EXPECT_EQ(static_cast<int64_t>(arena.getSize()), plan->getSize());
  EXPECT_EQ(static_cast<int64_t>(arena.getLive()), plan->getLiveBytes());
}

} // namespace
