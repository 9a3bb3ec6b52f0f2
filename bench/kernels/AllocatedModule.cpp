//===- AllocatedModule.cpp - Kernel texts become allocated programs ---------------------------===//

#include "bench/kernels/AllocatedModule.h"

#include "ir/Mtc.h"

#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace mtc;

/// Creates one step that launches every kernel function, each on its own operands.
static void placeAlone(ModuleOp module, const Target &target) {
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  int64_t offset = 0;
  auto placesOf = [&](ArrayRef<RankedTensorType> types) {
    SmallVector<Attribute> places;
    for (RankedTensorType type : types) {
      places.push_back(AtAttr::get(module.getContext(), offset, type));
      offset += paddedBytes(byteSize(type));
    }
    return places;
  };
  SmallVector<Attribute> inputs, names;
  SmallVector<std::tuple<KernelFunctionOp, SmallVector<Attribute>, SmallVector<Attribute>>>
      launches;
  for (auto kernel : module.getOps<KernelFunctionOp>()) {
    launches.emplace_back(kernel, placesOf(kernel.getInputTypes()),
                          placesOf(kernel.getOutputTypes()));
    for (Attribute place : std::get<1>(launches.back())) {
      names.push_back(b.getStringAttr("input" + Twine(inputs.size())));
      inputs.push_back(place);
    }
  }
  auto step = StepOp::create(b, module.getLoc(), "micro_step", b.getArrayAttr(inputs),
                             b.getArrayAttr(names), b.getArrayAttr({}), b.getArrayAttr({}));
  OpBuilder inStep = OpBuilder::atBlockBegin(&step.getBody().emplaceBlock());
  for (auto &[kernel, reads, writes] : launches) {
    int64_t scratch = target.getAttribute().planKernel(kernel).getScratchBytes();
    LaunchOp::create(inStep, kernel.getLoc(), kernel.getSymName(), b.getArrayAttr(reads),
                     b.getArrayAttr(writes), offset, scratch, ValueRange(), DenseI64ArrayAttr());
    offset += paddedBytes(scratch);
  }
  ArenaOp::create(b, module.getLoc(), offset, offset, 0, 0, 0, 0, 0, LocationAttr(),
                  MemorySpace::Device);
}

OwningOpRef<ModuleOp> bench::readAllocated(MLIRContext &context, StringRef file,
                                           const Target &target) {
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(file, &context);
  if (!module)
    return nullptr;
  if (module->getOps<KernelFunctionOp>().empty() && module->getOps<StepOp>().empty()) {
    module->emitError("no mtc.kernel_function and no mtc.step: there is nothing to measure");
    return nullptr;
  }
  if (module->getOps<StepOp>().empty())
    placeAlone(*module, target);
  // The values of variables do not affect times, and printed modules omit large constants.
  for (auto variable : module->getOps<VariableOp>())
    if (variable.getRole() != Role::Scalar)
      variable.setInitialAttr(ZerosAttr::get(&context));
  return module;
}
