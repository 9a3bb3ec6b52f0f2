//===- TestGradient.cpp - Vector-Jacobian products for tests ----------------------------------===//

#include "ir/ScanBody.h"
#include "ir/builders/TensorBuilder.h"
#include "passes/Passes.h"
#include "passes/autodiff/Autodiff.h"

namespace mtc {
#define GEN_PASS_DEF_TESTGRADIENT
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

struct TestGradientPass : mtc::impl::TestGradientBase<TestGradientPass> {
  using TestGradientBase::TestGradientBase;
  void runOnOperation() override;
};

} // namespace

static LogicalResult buildProduct(func::FuncOp function) {
  OpBuilder builder(function.getContext());
  builder.setInsertionPointAfter(function);
  auto product = cast<func::FuncOp>(builder.clone(*function));
  product.setName((function.getName() + "_vjp").str());
  Operation *terminator = product.front().getTerminator();

  SmallVector<Value> wrt, outputs, cotangents, gradients;
  llvm::append_range(wrt, llvm::make_filter_range(product.getArguments(), [](Value argument) {
                       return isDifferentiable(argument.getType());
                     }));
  for (Value output : terminator->getOperands()) {
    if (!isDifferentiable(output.getType()))
      continue;
    outputs.push_back(output);
    if (failed(product.insertArgument(product.getNumArguments(), output.getType(), {},
                                      product.getLoc())))
      return failure();
    cotangents.push_back(product.getArguments().back());
  }
  if (failed(differentiate(product, outputs, cotangents, wrt, gradients)))
    return failure();

  builder.setInsertionPoint(terminator);
  TensorBuilder b(product.getLoc(), builder);
  for (auto [gradient, value] : llvm::zip_equal(gradients, wrt))
    if (!gradient)
      gradient = b.splat(value, 0.0);
  terminator->setOperands(gradients);
  product.setType(
      builder.getFunctionType(product.getArgumentTypes(), ValueRange(gradients).getTypes()));
  return success();
}

void TestGradientPass::runOnOperation() {
  for (auto function : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
    if (!isScanBody(function) && failed(buildProduct(function)))
      return signalPassFailure();
}
