//===- RematerializerTest.cpp - Tests of evictions --------------------------------------------===//

#include "passes/recompute/Rematerializer.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace mtc;

namespace {

// Both kernels compute their first results in the same way, so that the kernels that recompute only
// these results are equal.
constexpr const char *text = R"(
#map = affine_map<(d0, d1) -> (d0, d1)>
func.func @step(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %a = mtc.kernel [64, 64](%x) : (tensor<64x64xf32>) -> tensor<64x64xf32> {
  ^bb0(%p: tensor<64x64xf32>):
    %0 = mtc.kernel.load %p at #map : tensor<64x64xf32> -> f32
    %1 = math.exp %0 : f32
    mtc.kernel.yield %1 at [#map] : f32
  }
  %b:2 = mtc.kernel [64, 64](%x, %y) : (tensor<64x64xf32>, tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  ^bb0(%p: tensor<64x64xf32>, %q: tensor<64x64xf32>):
    %0 = mtc.kernel.load %p at #map : tensor<64x64xf32> -> f32
    %1 = math.exp %0 : f32
    %2 = mtc.kernel.load %q at #map : tensor<64x64xf32> -> f32
    %3 = arith.addf %1, %2 : f32
    mtc.kernel.yield %1, %3 at [#map, #map] : f32, f32
  }
  %first = mtc.contract %x, %y batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %between = mtc.contract %a, %b#0 batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %second = mtc.contract %first, %between batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %late = mtc.contract %second, %a batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %later = mtc.contract %late, %b#0 batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  return %later : tensor<64x64xf32>
}
)";

/// A trial of one value applies to all values with an equal hash, and refers to operands of their
/// operations by number.
TEST(RematerializerTest, HashesOfCopiedResultsDifferByTheirOperations) {
  MLIRContext context;
  context.loadDialect<MtcDialect, func::FuncDialect, arith::ArithDialect, math::MathDialect>();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  ASSERT_TRUE(module);
  Block &block = (*module->getOps<func::FuncOp>().begin()).front();
  SmallVector<KernelOp> kernels(block.getOps<KernelOp>());
  SmallVector<Operation *> calls = llvm::map_to_vector(
      block.getOps<ContractOp>(), [](ContractOp op) { return op.getOperation(); });
  const OpResult a = kernels[0]->getResult(0), b = kernels[1]->getResult(0);

  OperationTimes times(*module);
  Rematerializer values(block, times);
  for (OpResult value : {a, b})
    ASSERT_TRUE(values.evict(value, calls[2], Rematerializer::DeadOperands::ComputeAgain));
  const auto hashOf = [&](OpResult value) {
    return values.hashEviction(value, calls[0], times, /*maxTime=*/1);
  };
  ASSERT_TRUE(hashOf(a) && hashOf(b));
  EXPECT_NE(hashOf(a), hashOf(b));
}

// The first result is also used before the position of the recomputation.
constexpr const char *manyResults = R"(
#map = affine_map<(d0, d1) -> (d0, d1)>
func.func @step(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %a:3 = mtc.kernel [64, 64](%x) : (tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) {
  ^bb0(%p: tensor<64x64xf32>):
    %0 = mtc.kernel.load %p at #map : tensor<64x64xf32> -> f32
    %1 = math.exp %0 : f32
    %2 = math.exp %1 : f32
    %3 = math.exp %2 : f32
    mtc.kernel.yield %1, %2, %3 at [#map, #map, #map] : f32, f32, f32
  }
  %place = mtc.contract %x, %a#0 batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %late = mtc.contract %place, %a#2 batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %later = mtc.contract %late, %a#1 batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %latest = mtc.contract %later, %a#0 batch [] x [] over [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  return %latest : tensor<64x64xf32>
}
)";

TEST(RematerializerTest, ResultsOfOneOperationShareACopy) {
  MLIRContext context;
  context.loadDialect<MtcDialect, func::FuncDialect, arith::ArithDialect, math::MathDialect>();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(manyResults, &context);
  ASSERT_TRUE(module);
  Block &block = (*module->getOps<func::FuncOp>().begin()).front();
  KernelOp kernel = *block.getOps<KernelOp>().begin();
  SmallVector<ContractOp> calls(block.getOps<ContractOp>());
  OperationTimes times(*module);
  Rematerializer values(block, times);

  auto added = values.evictTogether({kernel->getResult(1), kernel->getResult(2)}, calls[0]);
  ASSERT_TRUE(added);
  ASSERT_EQ(added->copies.size(), 1u);
  Operation *copy = added->copies[0].copy;
  EXPECT_EQ(copy->getNextNode(), calls[1]);
  EXPECT_EQ(calls[1]->getOperand(1), copy->getResult(2));
  EXPECT_EQ(calls[2]->getOperand(1), copy->getResult(1));
  EXPECT_EQ(calls[3]->getOperand(1), kernel->getResult(0));

  values.undoTo(0);
  EXPECT_EQ(calls[1]->getOperand(1), kernel->getResult(2));
  EXPECT_EQ(calls[2]->getOperand(1), kernel->getResult(1));
  EXPECT_EQ(llvm::range_size(block.getOps<KernelOp>()), 1u);
}

} // namespace
