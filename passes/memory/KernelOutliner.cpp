//===- KernelOutliner.cpp - Deduplicates kernels into functions -------------------------------===//

#include "passes/memory/KernelOutliner.h"

#include "ir/attributes/DiscardableAttributes.h"
#include "ir/interfaces/KernelPlans.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mtc;

KernelFunctionOp KernelOutliner::outline(KernelOp kernel, KernelPlanAttrInterface plan) {
  auto [known, isNew] = functions.try_emplace(structureOf(kernel));
  if (!isNew) {
    assert(known->second.getPlanAttr() == plan && "equal kernels have equal plans");
    return known->second;
  }
  OpBuilder builder(module.getContext());
  if (last)
    builder.setInsertionPointAfter(last);
  else
    builder.setInsertionPointToStart(module.getBody());
  SmallVector<Attribute> outputs;
  for (Type type : kernel.getOutputs().getTypes())
    outputs.push_back(TypeAttr::get(type));
  // Names are numbered in order of first use, so that compilation is deterministic.
  last = KernelFunctionOp::create(
      builder, kernel.getLoc(), ("kernel_" + Twine(functions.size() - 1)).str(),
      kernel.getSpaceAttr(), kernel.getReducedAttr(), kernel.getIterationsAttr(),
      kernel.getOnHost(), builder.getArrayAttr(outputs), plan);
  if (kernel->hasAttr(fixedOrderAttribute))
    last->setAttr(fixedOrderAttribute, builder.getUnitAttr());
  last.getBody().takeBody(kernel.getBody());
  known->second = last;
  return last;
}
