//===- PlannedOperation.cpp - Cached analysis results of an operation -------------------------===//

#include "passes/memory/PlannedOperation.h"

#include "ir/attributes/OperandLayout.h"
#include "ir/steps/VariableAccess.h"
#include "passes/kernels/KernelEditing.h"

using namespace mlir;
using namespace mtc;

PlannedOperation::PlannedOperation(Operation *op)
    : op(op), isView(op->hasTrait<mtc::View>()), isKernel(isa<KernelOp>(op)),
      isMove(isa<MoveOp>(op)),
      isCompute(isa<KernelOp, LibraryCallOpInterface, MoveOp, CollectiveOpInterface, ScanOp>(op)),
      isAssembly(isa<AssembleOp>(op)) {
  if (isView)
    return;
  for (Value result : op->getResults())
    results.emplace_back(result, this);
}

LogicalResult PlannedOperation::refresh(llvm::function_ref<PlannedValue *(Value)> find) {
  read = readVariables(op);
  written = writtenVariables(op);
  if (!isCompute && !isAssembly && !isView && !op->hasTrait<OpTrait::IsTerminator>() &&
      read.empty() && written.empty() && !isa<HoldOp>(op))
    return op->emitOpError("is neither a kernel nor a library call: it cannot be allocated");
  for (PlannedValue &result : results)
    result.bytes = PlannedValue::bytesOf(result.value);
  operands.clear();
  for (Value operand : op->getOperands())
    operands.push_back(find(rootOf(operand)));
  sharing.clear();
  scratchAnswer.reset();
  isStale = false;
  return success();
}

/// Returns whether `map` depends on a non-unit dimension of the iteration space that `other` does
/// not.
static bool variesBeyond(AffineMap map, AffineMap other, ArrayRef<int64_t> space) {
  return llvm::any_of(llvm::enumerate(space), [&](auto dim) {
    return dim.value() > 1 && map.isFunctionOfDim(dim.index()) &&
           !other.isFunctionOfDim(dim.index());
  });
}

/// Replaces the unit dimensions of the iteration space by 0, so that equal indices have equal maps.
static AffineMap withoutUnitDims(AffineMap map, ArrayRef<int64_t> space) {
  SmallVector<AffineExpr> dims;
  for (auto [number, extent] : llvm::enumerate(space))
    dims.push_back(extent == 1 ? getAffineConstantExpr(0, map.getContext())
                               : getAffineDimExpr(number, map.getContext()));
  return simplifyAffineMap(
      map.replaceDimsAndSymbols(dims, {}, map.getNumDims(), map.getNumSymbols()));
}

/// Returns whether a value is used only as the initial value of the kernel's result.
static bool mayAddOnto(KernelOp kernel, Value root) {
  auto onto = dyn_cast_if_present<BlockArgument>(yieldOf(kernel).getOnto());
  if (!onto || !onto.hasOneUse())
    return false;
  Value base = kernel.getInputs()[onto.getArgNumber()];
  auto users = llvm::make_filter_range(kernel.getInputs(),
                                       [&](Value input) { return rootOf(input) == root; });
  return rootOf(base) == root && llvm::hasSingleElement(users) && offsetInBuffer(base) == 0 &&
         byteSize(cast<RankedTensorType>(root.getType())) ==
             byteSize(cast<RankedTensorType>(base.getType()));
}

/// Returns whether a kernel's result may be computed in place of an operand: every access to the
/// operand must have the index at which the result is stored, with equal element sizes. The index
/// must not vary along dimensions that the result lacks, because a guarded load reads in only some
/// of the iterations that the result combines, possibly after the result is stored.
static bool mayShareKernel(KernelOp kernel, unsigned result, Value root) {
  FusibleShape shape = kernel.getShape();
  if (shape == FusibleShape::Scatter)
    return mayAddOnto(kernel, root);
  if (shape != FusibleShape::Elementwise && shape != FusibleShape::RowReduction)
    return false;
  Block &body = kernel.getBody().front();
  auto yield = cast<KernelYieldOp>(body.getTerminator());
  const AffineMap stored =
      withoutUnitDims(cast<AffineMapAttr>(yield.getMaps()[result]).getValue(), kernel.getSpace());
  auto resultType = cast<RankedTensorType>(kernel.getOutputs()[result].getType());
  for (auto [input, argument] : llvm::zip_equal(kernel.getInputs(), body.getArguments())) {
    if (rootOf(input) != root)
      continue;
    auto type = cast<RankedTensorType>(input.getType());
    if (type.getNumElements() != resultType.getNumElements() ||
        elementBytes(type.getElementType()) != elementBytes(resultType.getElementType()) ||
        type.getNumElements() != cast<RankedTensorType>(root.getType()).getNumElements())
      return false;
    for (Operation *user : argument.getUsers()) {
      auto load = dyn_cast<KernelLoadOp>(user);
      if (!load || !load.getSymbols().empty())
        return false;
      AffineMap map = withoutUnitDims(load.getMap(), kernel.getSpace());
      if (variesBeyond(map, stored, kernel.getSpace()))
        return false;
      if (type.getShape() != resultType.getShape())
        map = withoutUnitDims(
            reshapeMap(map, type.getShape(), resultType.getShape(), kernel.getSpace()),
            kernel.getSpace());
      if (map != stored)
        return false;
    }
  }
  return true;
}

static bool mayShareCall(EpilogueOpInterface call, unsigned result, Value root) {
  auto bytes = [](Value value) { return byteSize(cast<RankedTensorType>(value.getType())); };
  if (!call || result != 0 || bytes(root) != bytes(call->getResult(0)))
    return false;
  // A second read of the operand may happen after the result is written.
  auto reads = llvm::make_filter_range(
      call->getOpOperands(), [&](OpOperand &operand) { return rootOf(operand.get()) == root; });
  return llvm::hasSingleElement(reads) && offsetInBuffer((*reads.begin()).get()) == 0 &&
         call.mayAccumulate((*reads.begin()).getOperandNumber());
}

/// Returns whether the iterations of a scan may update a state in the memory of its initial value.
/// Other states with the same initial value are copied from it before.
static bool mayShareScan(ScanOp scan, unsigned result, Value root) {
  const size_t states = scan.getStates().size();
  if (result >= states || llvm::any_of(scan->getOperands().drop_front(states),
                                       [&](Value operand) { return rootOf(operand) == root; }))
    return false;
  Value initial = scan.getStates()[result];
  return rootOf(initial) == root && offsetInBuffer(initial) == 0 &&
         byteSize(cast<RankedTensorType>(initial.getType())) ==
             byteSize(cast<RankedTensorType>(root.getType()));
}

bool PlannedOperation::runsInWindows() const {
  if (!isKernel)
    return false;
  const MemorySpace own = cast<KernelOp>(op).getSpaceOfOperands();
  auto isElsewhere = [&](const std::optional<Buffer> &buffer) {
    return buffer && buffer->space != own;
  };
  return (
      llvm::any_of(operands, [&](PlannedValue *each) { return isElsewhere(each->buffer); }) ||
      llvm::any_of(results, [&](const PlannedValue &each) { return isElsewhere(each.buffer); }));
}

bool PlannedOperation::mayShare(unsigned result, PlannedValue *operand) {
  auto [known, isNew] = sharing.try_emplace({result, operand});
  if (isNew) {
    if (auto kernel = dyn_cast<KernelOp>(op))
      known->second = mayShareKernel(kernel, result, operand->value);
    else if (auto scan = dyn_cast<ScanOp>(op))
      known->second = mayShareScan(scan, result, operand->value);
    else
      known->second = mayShareCall(dyn_cast<EpilogueOpInterface>(op), result, operand->value);
  }
  return known->second;
}

int64_t PlannedOperation::getScratchBytes(const TargetInfo &target,
                                          std::optional<unsigned> accumulated) {
  if (isa<ScanOp>(op))
    return scratchBytes;
  if (scratchAnswer && scratchAnswer->first == accumulated)
    return scratchAnswer->second;
  int64_t bytes = 0;
  if (auto kernel = dyn_cast<KernelOp>(op)) {
    kernelPlan = target.planKernel(kernel);
    bytes = kernelPlan ? kernelPlan.getScratchBytes() : 0;
  } else if (auto call = dyn_cast<LibraryCallOpInterface>(op); call && takesOperandLayouts(call)) {
    bytes = target.getScratchBytes(call, accumulated);
  }
  scratchAnswer = {accumulated, bytes};
  return bytes;
}
