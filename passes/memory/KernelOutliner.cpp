//===- KernelOutliner.cpp - Deduplicates kernels into functions -------------------------------===//

#include "passes/memory/KernelOutliner.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mtc;

KernelFunctionOp KernelOutliner::outline(KernelOp kernel, KernelPlanAttrInterface plan) {
  OpBuilder builder(module.getContext());
  builder.setInsertionPointToStart(module.getBody());
  SmallVector<Attribute> outputs;
  for (Type type : kernel.getOutputs().getTypes())
    outputs.push_back(TypeAttr::get(type));
  auto function = KernelFunctionOp::create(
      builder, kernel.getLoc(), "kernel", kernel.getSpaceAttr(), kernel.getReducedAttr(),
      kernel.getPointsAttr(), builder.getArrayAttr(outputs), plan);
  function.getBody().takeBody(kernel.getBody());

  std::string text;
  llvm::raw_string_ostream stream(text);
  // Locations are never printed, regardless of the tool's flags: a kernel of other nodes is the
  // same kernel.
  function->print(stream,
                  OpPrintingFlags().useLocalScope().printGenericOpForm().enableDebugInfo(false));
  auto [it, isNew] = functions.try_emplace(text, function);
  if (!isNew) {
    function.erase();
    return it->second;
  }
  // Names are numbered in order of first use, so that compilation is deterministic.
  function.setSymName(("kernel_" + Twine(functions.size() - 1)).str());
  if (last)
    function->moveAfter(last);
  last = function;
  return function;
}
