//===- LibraryCallsTest.cpp - Calls that a target's library cannot run ------------------------===//

#include "codegen/cuda/LibraryCalls.h"
#include "codegen/Codegen.h"
#include "passes/Passes.h"
#include "passes/autodiff/Decompose.h"
#include "passes/kernels/FuseActivations.h"
#include "passes/kernels/FuseBiasGradients.h"
#include "passes/memory/PrepareCalls.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace mtc;

namespace {

/// A module that passes ran over.
class Passed {
public:
  Passed(const char *text, llvm::function_ref<void(OpPassManager &)> add) {
    DialectRegistry registry;
    registerCodegenDialects(registry);
    registry.insert<func::FuncDialect>();
    context.appendDialectRegistry(registry);
    module = parseSourceString<ModuleOp>(text, &context);
    PassManager manager(&context);
    add(manager);
    passed = module && succeeded(manager.run(*module));
  }

  template <typename Op> int count() {
    int found = 0;
    if (passed)
      module->walk([&](Op) { ++found; });
    return passed ? found : -1;
  }

private:
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  bool passed;
};

TargetInfo cudaInfo(bool usesTf32 = false) {
  TargetInfo info;
  cuda::describeLibraryCalls(info, usesTf32);
  return info;
}

std::string attention(int width) {
  std::string heads = "tensor<2x4x8x" + std::to_string(width) + "xf32>";
  return "func.func @f(%q: " + heads + ") -> " + heads +
         " {\n  %o, %s = mtc.attention %q, %q, %q " + "scale 1.0 : (" + heads + ", " + heads +
         ", " + heads + ") -> (" + heads + ", tensor<2x4x8xf32>)\n  return %o : " + heads + "\n}";
}

TEST(LibraryCalls, AttentionIsLeftInPartsWhereNothingRunsIt) {
  auto decomposed = [](int width, TargetInfo info) {
    return Passed(attention(width).c_str(),
                  [&](OpPassManager &m) { m.addPass(createDecomposePass(std::move(info))); });
  };
  // The device's tiles are for heads of at most 128 elements.
  Passed narrow = decomposed(128, cudaInfo());
  EXPECT_EQ(narrow.count<AttentionOp>(), 1);
  Passed wide = decomposed(160, cudaInfo());
  EXPECT_EQ(wide.count<AttentionOp>(), 0);
  EXPECT_EQ(wide.count<ContractOp>(), 2);
  Passed any = decomposed(160, TargetInfo());
  EXPECT_EQ(any.count<AttentionOp>(), 1);
}

TEST(LibraryCalls, AContractionThatNoLibraryRunsBecomesAKernel) {
  // The batch is the innermost axis: no matrix has a unit stride.
  constexpr const char *text = R"(
func.func @f(%x: tensor<8x16x4xf32>, %w: tensor<16x8x4xf32>, %y: tensor<8x16xf32>, %v: tensor<16x8xf32>)
    -> (tensor<4x8x8xf32>, tensor<8x8xf32>) {
  %a = mtc.contract %x, %w batch [2] x [2] over [1] x [0] : tensor<8x16x4xf32>, tensor<16x8x4xf32> -> tensor<4x8x8xf32>
  %b = mtc.contract %y, %v batch [] x [] over [1] x [0] : tensor<8x16xf32>, tensor<16x8xf32> -> tensor<8x8xf32>
  return %a, %b : tensor<4x8x8xf32>, tensor<8x8xf32>
})";
  Passed cuda(text, [](OpPassManager &m) {
    m.nest<func::FuncOp>().addPass(createPrepareCallsPass(cudaInfo()));
  });
  EXPECT_EQ(cuda.count<ContractOp>(), 1);
}

TEST(LibraryCalls, ACallThatBecomesAKernelReadsWhatItReadBefore) {
  // The library would read the slice in place; kernels read no strided views.
  TargetInfo info;
  info.isFasterAsKernel = [](Operation *) { return true; };
  constexpr const char *text = R"(
func.func @f(%x: tensor<4x3xf32>, %y: tensor<2xf32>) -> tensor<4xf32> {
  %s = mtc.slice %x offsets [0, 1] strides [1, 1] : tensor<4x3xf32> -> tensor<4x2xf32>
  %r = mtc.contract %s, %y batch [] x [] over [1] x [0] : tensor<4x2xf32>, tensor<2xf32> -> tensor<4xf32>
  return %r : tensor<4xf32>
})";
  Passed prepared(text, [&](OpPassManager &m) {
    m.nest<func::FuncOp>().addPass(createPrepareCallsPass(info));
    m.nest<func::FuncOp>().addPass(createFormKernels());
  });
  EXPECT_EQ(prepared.count<ContractOp>(), 0);
  EXPECT_EQ(prepared.count<StridedViewOp>(), 0);
  EXPECT_EQ(prepared.count<KernelOp>(), 2);
}

/// ReLU of a product of such elements, behind which nothing else is wanted.
std::string reluOf(const std::string &element, const char *columns) {
  std::string text = R"(
func.func @f(%x: tensor<4x8xE>, %w: tensor<8xNxE>) -> tensor<4xNxE> {
  %p = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<4x8xE>, tensor<8xNxE> -> tensor<4xNxE>
  %r = mtc.kernel [4, N] (%p) : (tensor<4xNxE>) -> tensor<4xNxE> {
  ^bb0(%a: tensor<4xNxE>):
    %zero = arith.constant 0.0 : f32
    %v = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<4xNxE> -> f32
    %n = arith.cmpf ole, %v, %zero : f32
    %s = arith.select %n, %zero, %v : f32
    mtc.kernel.yield %s at [affine_map<(d0, d1) -> (d0, d1)>] : f32
  }
  return %r : tensor<4xNxE>
})";
  for (size_t at; (at = text.find("xE")) != std::string::npos;)
    text.replace(at, 2, "x" + element);
  for (size_t at; (at = text.find("xNx")) != std::string::npos;)
    text.replace(at, 3, std::string("x") + columns + "x");
  text.replace(text.find(", N]"), 4, std::string(", ") + columns + "]");
  return text;
}

TEST(LibraryCalls, ActivationsAreTheLibrarysWhereF32NeedNotBeExact) {
  auto count = [](const std::string &text, TargetInfo info) {
    Passed passed(text.c_str(), [&](OpPassManager &m) {
      m.nest<func::FuncOp>().addPass(createFuseActivationsPass(info));
    });
    return passed.count<FusedContractOp>();
  };
  EXPECT_EQ(count(reluOf("f32", "16"), cudaInfo()), 0);
  EXPECT_EQ(count(reluOf("f32", "16"), cudaInfo(/*usesTf32=*/true)), 1);
  EXPECT_EQ(count(reluOf("bf16", "16"), cudaInfo()), 1);
  EXPECT_EQ(count(reluOf("f16", "16"), cudaInfo()), 1);
  // Of no target that says so.
  EXPECT_EQ(count(reluOf("f32", "16"), TargetInfo()), 1);
}

TEST(LibraryCalls, BiasGradientsAreTheLibrarysInAnyPrecision) {
  constexpr const char *text = R"(
func.func @f(%d: tensor<6x5xf32>, %x: tensor<6x8xf32>) -> (tensor<5x8xf32>, tensor<5xf32>) {
  %s = mtc.reduce add %d axes [0] : tensor<6x5xf32> -> tensor<5xf32>
  %w = mtc.contract %d, %x batch [] x [] over [0] x [0] : tensor<6x5xf32>, tensor<6x8xf32> -> tensor<5x8xf32>
  return %w, %s : tensor<5x8xf32>, tensor<5xf32>
})";
  for (bool usesTf32 : {false, true}) {
    Passed passed(text, [&](OpPassManager &m) {
      m.nest<func::FuncOp>().addPass(createFormKernels());
      m.nest<func::FuncOp>().addPass(createFuseBiasGradientsPass(cudaInfo(usesTf32)));
    });
    EXPECT_EQ(passed.count<FusedContractOp>(), 1);
    EXPECT_EQ(passed.count<KernelOp>(), 0);
  }
}

} // namespace
