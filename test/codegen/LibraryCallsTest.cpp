//===- LibraryCallsTest.cpp - Calls that a target's library cannot run ------------------------===//

#include "codegen/cuda/LibraryCalls.h"
#include "codegen/Codegen.h"
#include "passes/Passes.h"
#include "passes/autodiff/Decompose.h"
#include "passes/kernels/FormKernels.h"

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

TargetInfo cudaInfo() {
  TargetInfo info;
  cuda::describeLibraryCalls(info);
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
    m.nest<func::FuncOp>().addPass(createFormKernelsPass(cudaInfo()));
  });
  EXPECT_EQ(cuda.count<ContractOp>(), 1);
}

} // namespace
