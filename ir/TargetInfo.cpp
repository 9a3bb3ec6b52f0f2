//===- TargetInfo.cpp - What passes ask of the target that a module is for --------------------===//

#include "ir/TargetInfo.h"

#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace mtc;

#include "ir/MtcAttributeInterfaces.cpp.inc"

namespace {

/// A call's placed form, for a question: it lies in no block, and its places are made up.
struct OperationEraser {
  void operator()(Operation *op) const { op->erase(); }
};
using DetachedCall = std::unique_ptr<Operation, OperationEraser>;

DetachedCall buildDetached(LibraryCallOpInterface call,
                           ArrayRef<std::optional<unsigned>> shared = {}) {
  CallPlaces places;
  int64_t next = 0;
  auto placeAt = [](int64_t offset, Type type) {
    return AtAttr::get(type.getContext(), offset, cast<RankedTensorType>(type));
  };
  for (Type type : call->getOperandTypes())
    places.operands.push_back(placeAt(next++, type));
  for (auto [i, type] : llvm::enumerate(call->getResultTypes())) {
    std::optional<unsigned> operand = i < shared.size() ? shared[i] : std::nullopt;
    places.results.push_back(placeAt(operand ? int64_t(*operand) : next++, type));
  }
  OpBuilder builder(call.getContext());
  return DetachedCall(call.buildCall(builder, places));
}

} // namespace

TargetInfo TargetInfo::of(Operation *op) {
  auto module = isa<ModuleOp>(op) ? cast<ModuleOp>(op) : op->getParentOfType<ModuleOp>();
  return TargetInfo(module ? module->getAttrOfType<TargetAttrInterface>(targetAttribute)
                           : TargetAttrInterface());
}

int64_t TargetInfo::getScratchBytes(LibraryCallOpInterface call,
                                    ArrayRef<std::optional<unsigned>> shared) const {
  return target ? target.getScratchBytes(buildDetached(call, shared).get()) : 0;
}

int64_t TargetInfo::getScratchBytes(KernelOp kernel) const {
  return target ? target.getKernelScratchBytes(kernel) : 0;
}

unsigned TargetInfo::getSupportLevel(LibraryCallOpInterface call) const {
  return target ? target.getSupportLevel(buildDetached(call).get()) : 1;
}

bool TargetInfo::isFasterAsKernel(LibraryCallOpInterface call) const {
  return target && target.isFasterAsKernel(buildDetached(call).get());
}
