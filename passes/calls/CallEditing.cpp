//===- CallEditing.cpp - Helpers of passes that rewrite library calls -------------------------===//

#include "passes/calls/CallEditing.h"

#include "ir/builders/TensorBuilder.h"
#include "ir/steps/VariableAccess.h"
#include "passes/kernels/KernelEditing.h"

using namespace mlir;
using namespace mtc;

bool mtc::isSupportedLess(const TargetInfo &target, LibraryCallOpInterface call,
                          LibraryCallOpInterface than) {
  return target.getSupportLevel(call) < target.getSupportLevel(than) ||
         target.getScratchBytes(call, std::nullopt) < 0;
}

bool mtc::isRoundedWithoutFusion(LibraryCallOpInterface call) {
  return elementBytes(getElementTypeOrSelf(call->getResult(0))) == 2 && keepsSumOrder(call);
}

bool mtc::makeAvailable(Value value, Operation *user) {
  Operation *source = value.getDefiningOp();
  if (!source || standsBefore(source, user))
    return true;
  SmallVector<FlatSymbolRefAttr> variables = readVariables(source);
  if (variables.empty())
    return false;
  for (Operation *op = user; op != source; op = op->getNextNode())
    if (llvm::any_of(writtenVariables(op),
                     [&](FlatSymbolRefAttr v) { return llvm::is_contained(variables, v); }))
      return false;
  source->moveBefore(user);
  return true;
}

Value mtc::readAs(OpBuilder &builder, Value root, const IterationOffsets &offsets,
                  const IterationOffsets &own, RankedTensorType type, ArrayRef<int64_t> space) {
  auto source = cast<RankedTensorType>(root.getType());
  if (source.getElementType() != type.getElementType())
    return {};
  if (source == type && offsets == own)
    return root;
  if (offsets == own && source.getNumElements() == type.getNumElements())
    return ReshapeOp::create(builder, root.getLoc(), type, root);
  std::optional<StridedLayout> layout = layoutAt(offsets, own, type.getShape(), space);
  if (!layout || layout->offset < 0 ||
      llvm::any_of(layout->strides, [](int64_t stride) { return stride < 0; }))
    return {};
  return StridedViewOp::create(builder, root.getLoc(), type, root, layout->offset, layout->strides);
}

Value mtc::inputOf(KernelOp kernel, KernelLoadOp load) {
  return kernel.getInputs()[cast<BlockArgument>(load.getSource()).getArgNumber()];
}

std::optional<IterationOffsets> mtc::offsetsOf(KernelOp kernel, KernelLoadOp load) {
  if (load.getGuard() || !load.getSymbols().empty())
    return std::nullopt;
  auto type = cast<RankedTensorType>(load.getSource().getType());
  return offsetsOf(load.getMap(), type.getShape(), kernel.getSpace());
}

bool mtc::isReadByAlone(KernelOp kernel, Value input) {
  Value root = rootOf(input);
  for (Value value = input;; value = value.getDefiningOp()->getOperand(0)) {
    if (!value.hasOneUse())
      return false;
    if (value == root)
      return true;
  }
}
