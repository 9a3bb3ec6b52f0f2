//===- TileSearchTest.cpp - Trials of tilings -------------------------------------------------===//

#include "passes/tiling/TileSearch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace mtc;

namespace {

// %y, %z and %part can be computed in tiles. The peak is at %c, where %y is live. With tiles, %z is
// live there instead.
constexpr const char *text = R"(
#row = affine_map<(d0, d1) -> (d0, d1)>
#reversed = affine_map<(d0, d1) -> (d1, d0)>
mtc.variable parameter @w : tensor<32x4096xf32> = #mtc.zeros
func.func @step(%x: tensor<64x32xf32> {mtc.name = "x"}, %u: tensor<512x512xf32> {mtc.name = "u"})
    -> (tensor<512x512xf32> {mtc.name = "c"}, tensor<64x4096xf32> {mtc.name = "z"}, tensor<256x256xf32> {mtc.name = "e"}) {
  %w = mtc.read @w : tensor<32x4096xf32>
  %y = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<64x32xf32>, tensor<32x4096xf32> -> tensor<64x4096xf32>
  %b = mtc.kernel [512, 512](%u) : (tensor<512x512xf32>) -> tensor<512x512xf32> {
  ^bb0(%p: tensor<512x512xf32>):
    %v = mtc.kernel.load %p at #row : tensor<512x512xf32> -> f32
    %s = arith.negf %v : f32
    mtc.kernel.yield %s at [#row] : f32
  }
  %c = mtc.kernel [512, 512](%b) : (tensor<512x512xf32>) -> tensor<512x512xf32> {
  ^bb0(%p: tensor<512x512xf32>):
    %v = mtc.kernel.load %p at #reversed : tensor<512x512xf32> -> f32
    mtc.kernel.yield %v at [#row] : f32
  }
  %part = mtc.kernel [64, 16](%y) : (tensor<64x4096xf32>) -> tensor<64x16xf32> {
  ^bb0(%p: tensor<64x4096xf32>):
    %v = mtc.kernel.load %p at #row : tensor<64x4096xf32> -> f32
    mtc.kernel.yield %v at [#row] : f32
  }
  %z = mtc.kernel [64, 4096](%y) : (tensor<64x4096xf32>) -> tensor<64x4096xf32> {
  ^bb0(%p: tensor<64x4096xf32>):
    %v = mtc.kernel.load %p at #row : tensor<64x4096xf32> -> f32
    %s = arith.negf %v : f32
    mtc.kernel.yield %s at [#row] : f32
  }
  %d = mtc.kernel [256, 256](%u) : (tensor<512x512xf32>) -> tensor<256x256xf32> {
  ^bb0(%p: tensor<512x512xf32>):
    %v = mtc.kernel.load %p at #row : tensor<512x512xf32> -> f32
    mtc.kernel.yield %v at [#row] : f32
  }
  %e = mtc.kernel [256, 256](%d) : (tensor<256x256xf32>) -> tensor<256x256xf32> {
  ^bb0(%p: tensor<256x256xf32>):
    %v = mtc.kernel.load %p at #reversed : tensor<256x256xf32> -> f32
    mtc.kernel.yield %v at [#row] : f32
  }
  return %c, %z, %e : tensor<512x512xf32>, tensor<64x4096xf32>, tensor<256x256xf32>
}
)";

class TileSearchTest : public testing::Test {
protected:
  TileSearchTest() {
    context.loadDialect<MtcDialect, func::FuncDialect, arith::ArithDialect>();
    module = parseSourceString<ModuleOp>(text, &context);
    analysis = std::make_unique<MemoryAnalysis>(*module);
    times = std::make_unique<OperationTimes>(*module);
    EXPECT_TRUE(succeeded(analysis->getPlan()));
    budget = std::make_unique<FunctionBudget>(
        FunctionBudget{*analysis->getFunctions().begin(), *analysis, 0});
  }

  bool hasCandidate(PeakReducer &technique) {
    auto candidate = technique.findCandidate(1 << 20);
    EXPECT_TRUE(succeeded(candidate));
    return succeeded(candidate) && candidate->has_value();
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::unique_ptr<MemoryAnalysis> analysis;
  std::unique_ptr<OperationTimes> times;
  std::unique_ptr<FunctionBudget> budget;
};

// After tiling, the peak is outside of the tiles. Trials of 2 and of 4 tiles show this; those of 8,
// 16, 32 and 64 tiles are skipped, but count as effort.
TEST_F(TileSearchTest, CountsSkippedTrialsAsEffort) {
  TileSearch technique(*budget, *times);
  const int64_t reads = analysis->getReads(), effort = analysis->getEffort();
  EXPECT_FALSE(hasCandidate(technique));
  constexpr int64_t tiles = 2 + 4 + 8 + 16 + 32 + 64, operations = 3, effortOfRead = 64;
  EXPECT_LT(analysis->getReads() - reads, tiles);
  EXPECT_GT(analysis->getEffort() - effort, tiles * operations * effortOfRead);
}

// Another technique may raise the peak elsewhere. A tiling that did not help before may help there.
TEST_F(TileSearchTest, TriesAgainAtAHigherPeak) {
  TileSearch technique(*budget, *times);
  EXPECT_FALSE(hasCandidate(technique));
  auto function = *module->getOps<func::FuncOp>().begin();
  SmallVector<KernelOp> kernels = llvm::to_vector(function.getOps<KernelOp>());
  Listeners listeners(*analysis, *times);
  IRRewriter rewriter(&context, &listeners);
  rewriter.moveOpAfter(kernels[2], kernels[5]); // %y is live at %e.
  EXPECT_TRUE(succeeded(analysis->update()));
  EXPECT_TRUE(hasCandidate(technique));
}

} // namespace
