//===- MicroStepSplitTest.cpp - Memory of micro-steps before and after their split ------------===//

#include "passes/Passes.h"
#include "passes/memory/MemoryAnalysis.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace mtc;

namespace {

// The backward part reads an input, a value that is assembled from tiles, one that is sent, and one
// that it also writes to a variable. It begins before the forward part ends.
constexpr const char *text = R"(
mtc.variable parameter @w : tensor<16x16xf32> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<16x16xf32> = #mtc.zeros of @w
mtc.variable state @last : tensor<64x16xf32> = #mtc.zeros
mtc.variable slot @out copies 3 : tensor<1024xf32> = #mtc.zeros
mtc.variable slot @out.grad copies 3 : tensor<64x16xf32> = #mtc.zeros
mtc.message sent channel 0 [@out] stage 1
mtc.message backward channel 1 [@out.grad] stage 1
func.func @micro_step(%x: tensor<64x16xf32> {mtc.name = "x"}) {
  %w = mtc.read @w : tensor<16x16xf32>
  %g = mtc.read @out.grad : tensor<64x16xf32>
  %p = mtc.tile %x from 0 : tensor<64x16xf32> -> tensor<32x16xf32>
  %q = mtc.tile %x from 512 : tensor<64x16xf32> -> tensor<32x16xf32>
  %a = mtc.contract %p, %w batch [] x [] over [1] x [0] : tensor<32x16xf32>, tensor<16x16xf32> -> tensor<32x16xf32>
  %b = mtc.contract %q, %w batch [] x [] over [1] x [0] : tensor<32x16xf32>, tensor<16x16xf32> -> tensor<32x16xf32>
  %whole = mtc.assemble %a, %b : tensor<32x16xf32>, tensor<32x16xf32> -> tensor<64x16xf32>
  %early = mtc.contract %g, %w batch [] x [] over [1] x [1] : tensor<64x16xf32>, tensor<16x16xf32> -> tensor<64x16xf32>
  %c = mtc.contract %whole, %w batch [] x [] over [1] x [0] : tensor<64x16xf32>, tensor<16x16xf32> -> tensor<64x16xf32>
  %d = mtc.contract %c, %w batch [] x [] over [1] x [0] : tensor<64x16xf32>, tensor<16x16xf32> -> tensor<64x16xf32>
  %y = mtc.contract %d, %w batch [] x [] over [1] x [0] : tensor<64x16xf32>, tensor<16x16xf32> -> tensor<64x16xf32>
  %flat = mtc.reshape %y : tensor<64x16xf32> -> tensor<1024xf32>
  mtc.write @out, %flat : tensor<1024xf32>
  mtc.write @last, %c : tensor<64x16xf32>
  %e = mtc.contract %y, %w batch [] x [] over [1] x [1] : tensor<64x16xf32>, tensor<16x16xf32> -> tensor<64x16xf32>
  %f = mtc.contract %early, %e batch [] x [] over [0] x [0] : tensor<64x16xf32>, tensor<64x16xf32> -> tensor<16x16xf32>
  %h = mtc.contract %whole, %f batch [] x [] over [1] x [0] : tensor<64x16xf32>, tensor<16x16xf32> -> tensor<64x16xf32>
  %n = mtc.contract %x, %h batch [] x [] over [0] x [0] : tensor<64x16xf32>, tensor<64x16xf32> -> tensor<16x16xf32>
  mtc.write @w.grad, %n : tensor<16x16xf32>
  return
}
)";

// The slots are also occupied while the update runs, which needs more temporaries.
constexpr const char *update = R"(
func.func @update() {
  %g = mtc.read @w.grad : tensor<16x16xf32>
  %a = mtc.contract %g, %g batch [] x [] over [] x [] : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16x16x16xf32>
  %b = mtc.contract %a, %a batch [] x [] over [1, 2, 3] x [1, 2, 3] : tensor<16x16x16x16xf32>, tensor<16x16x16x16xf32> -> tensor<16x16xf32>
  mtc.write @w, %b : tensor<16x16xf32>
  return
}
)";

class MicroStepSplitTest : public testing::TestWithParam<std::pair<bool, int64_t>> {};

TEST_P(MicroStepSplitTest, TheSplitHasThePlannedPeak) {
  const auto [hasUpdate, redzone] = GetParam();
  MLIRContext context;
  context.loadDialect<MtcDialect, func::FuncDialect>();
  auto module =
      parseSourceString<ModuleOp>(std::string(text) + (hasUpdate ? update : ""), &context);
  ASSERT_TRUE(module);
  MemoryAnalysis analysis(*module, redzone);
  FailureOr<MemoryPlan> planned = analysis.getPlanWithLayout();
  ASSERT_TRUE(succeeded(planned));
  // Three copies of the input, of the assembled value and of the one that is written to @last. That
  // of the sent one exists.
  EXPECT_EQ(analysis.getSavedBytes(), 3 * (3 * 4096 + redzone));

  PassManager manager(&context);
  manager.addPass(createSplitMicroSteps());
  ASSERT_TRUE(succeeded(manager.run(*module)));
  MemoryAnalysis after(*module, redzone);
  FailureOr<MemoryPlan> split = after.getPlanWithLayout();
  ASSERT_TRUE(succeeded(split));
  EXPECT_EQ(split->peak, planned->peak);
  EXPECT_EQ(split->live, planned->live);
  EXPECT_EQ(after.getSavedBytes(), 0);
  EXPECT_EQ(split->floor, planned->floor);
  EXPECT_EQ(split->categories.activations, planned->categories.activations);
}

INSTANTIATE_TEST_SUITE_P(All, MicroStepSplitTest,
                         testing::Values(std::pair(false, 0), std::pair(true, 0),
                                         std::pair(false, 64), std::pair(true, 64)));

} // namespace
