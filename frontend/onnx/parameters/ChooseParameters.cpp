//===- ChooseParameters.cpp - Passes that choose parameters -----------------------------------===//

#include "frontend/onnx/parameters/ModuleImages.h"
#include "frontend/onnx/parameters/Parameters.h"
#include "frontend/onnx/parameters/Passes.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace mtc::onnx {

#define GEN_PASS_DEF_CHOOSEPARAMETERSPASS
#define GEN_PASS_DEF_FOLDINITIALIZERSPASS
#include "frontend/onnx/parameters/Passes.h.inc"

namespace {

struct ChooseParametersPass : impl::ChooseParametersPassBase<ChooseParametersPass> {
  using ChooseParametersPassBase::ChooseParametersPassBase;

  void runOnOperation() override {
    Problems problems;
    ParameterPatterns patterns{
        {train.begin(), train.end()}, {freeze.begin(), freeze.end()}, adapters};
    chooseParameters(getOperation(), patterns, problems);
    describeModuleImages(getOperation());
    for (const std::string &problem : problems.get())
      emitError(UnknownLoc::get(&getContext()), problem); // The messages concern the whole model.
    if (!problems.empty())
      signalPassFailure();
  }
};

struct FoldInitializersPass : impl::FoldInitializersPassBase<FoldInitializersPass> {
  using FoldInitializersPassBase::FoldInitializersPassBase;

  void runOnOperation() override {
    GraphOp graph = getOperation();
    for (StringRef name : {producerAttribute, signatureAttribute, signatureShapesAttribute,
                           buffersAttribute, subgraphNamesAttribute})
      graph->removeAttr(name);
    graph.walk([](Operation *op) {
      for (StringRef name :
           {resultsAttribute, moduleAttribute, operandAttribute, initializerAttribute,
            fxOperatorAttribute, argumentsAttribute, rulesAttribute, noGradAttribute,
            foldedFromAttribute, aliasesAttribute, untrainedAttribute, digestAttribute,
            transposedDigestAttribute, oneValueAttribute})
        op->removeAttr(name);
    });
    for (auto initializer : llvm::make_early_inc_range(graph.getOps<InitializerOp>()))
      fold(initializer);
  }

private:
  /// Returns whether the initializer's value is part of the model. The value of a frozen parameter
  /// is not part of it, because it may come from other weights. Exceptions are frozen scalars and
  /// vectors that the exporter does not mark as parameters, because they may be attributes of
  /// operators. If there are other weights, they have the vectors of the module.
  bool isConstant(InitializerOp initializer) const {
    StringRef role = initializer.getRole().value_or("");
    return role == roleName(InitializerRole::Constant) ||
           (role == roleName(InitializerRole::Frozen) && initializer.getKind() != "PARAMETER" &&
            cast<RankedTensorType>(initializer.getType()).getRank() < (keepVectors ? 1 : 2));
  }

  void fold(InitializerOp initializer) const {
    ElementsAttr known = initializer.getSampleAttr();
    bool isFolded = isConstant(initializer) && known && known.getType() == initializer.getType();
    initializer.removeKindAttr();
    initializer.removeSampleAttr();
    if (!isFolded)
      return;
    OpBuilder builder(initializer);
    auto constant = ConstantOp::create(builder, initializer.getLoc(), known.getType(), known);
    initializer.getResult().replaceAllUsesWith(constant.getResult());
    initializer.erase();
  }
};

} // namespace
} // namespace mtc::onnx
