//===- StepTables.cpp - Tables of a program's kernels, calls and steps ------------------------===//

#include "codegen/program/StepTables.h"

#include "codegen/target/Target.h"
#include "ir/NodeNames.h"
#include "ir/TypeCode.h"
#include "ir/steps/StepAccess.h"
#include "runtime/abi/program.h"

using namespace mlir;
using namespace mtc;

using llvm::Constant;

static_assert(static_cast<int>(MemorySpace::Device) == MTC_DEVICE &&
              static_cast<int>(MemorySpace::PinnedHost) == MTC_PINNED_HOST &&
              static_cast<int>(MemorySpace::Host) == MTC_HOST &&
              static_cast<int>(MemorySpace::Disk) == MTC_DISK);
static_assert(TransferSlotsOp::alignment == MTC_PAGE);

void StepTables::addKernels(ModuleOp placed) {
  ArenaOp arena = ArenaOp::find(placed);
  checksMemory = arena && arena.getRedzone() > 0;
  for (KernelFunctionOp kernel : placed.getOps<KernelFunctionOp>()) {
    kernelIndex[kernel.getSymName()] = kernelIndex.size();
    scratchBytes.push_back(kernel.getPlan()->getScratchBytes());
    Cost cost = kernel.getCost();
    bool mayFault = !kernel.getBody().getOps<KernelCheckOp>().empty();
    kernels.push_back(c.record(
        field<&MtcKernel::name>(kernel.getSymName()),
        field<&MtcKernel::code>(target.describeKernel(kernel, c)),
        field<&MtcKernel::scratch_bytes>(scratchBytes.back()), field<&MtcKernel::flops>(cost.flops),
        field<&MtcKernel::bytes>(cost.bytes), field<&MtcKernel::may_fault>(mayFault)));
  }
}

int64_t StepTables::number(Block &block, int64_t first, SmallVectorImpl<int64_t> &last) const {
  for (Operation &op : block) {
    if (auto repeat = dyn_cast<RepeatOp>(op)) {
      const auto length = static_cast<int64_t>(repeat.getBody().front().getOperations().size());
      first +=
          target.hasRepeats() ? 1 + length : length * static_cast<int64_t>(repeat.getIterations());
    } else {
      ++first;
    }
    last.push_back(first - 1);
  }
  return first;
}

Constant *StepTables::addFunction(StepOp step) {
  SmallVector<Constant *> operations;
  if (step) {
    SmallVector<int64_t> last;
    const int64_t end = number(step.getBody().front(), 0, last);
    llvm::DenseMap<Value, int64_t> copies; // the index of the operation that produces each token
    for (Operation &op : step.getBody().front()) {
      auto waits =
          llvm::map_to_vector(op.getOperands(), [&](Value token) { return copies.at(token); });
      for (Value token : op.getResults())
        copies[token] = static_cast<int64_t>(operations.size());
      LogicalResult added = isa<RepeatOp>(op)
                                ? addRepeat(cast<RepeatOp>(op), waits, last, end, operations)
                                : add(&op, waits, last, end, /*iteration=*/0, operations);
      if (failed(added))
        return nullptr;
    }
  }
  return c.record(field<&MtcFunction::operation_count>(operations.size()),
                  field<&MtcFunction::operations>(c.array(operations)));
}

LogicalResult StepTables::add(Operation *op, ArrayRef<int64_t> waits, ArrayRef<int64_t> last,
                              int64_t end, int64_t iteration,
                              SmallVectorImpl<Constant *> &operations) {
  Constant *operation =
      describeOperation(op, waits, last, end, iteration, static_cast<int64_t>(operations.size()));
  if (operation)
    operations.push_back(operation);
  return success(operation != nullptr);
}

LogicalResult StepTables::addRepeat(RepeatOp repeat, ArrayRef<int64_t> waits,
                                    ArrayRef<int64_t> last, int64_t end,
                                    SmallVectorImpl<Constant *> &operations) {
  Block &body = repeat.getBody().front();
  const bool isUnrolled = !target.hasRepeats();
  if (!isUnrolled && failed(add(repeat, waits, last, end, 0, operations)))
    return failure();
  const int64_t count = isUnrolled ? static_cast<int64_t>(repeat.getIterations()) : 1;
  for (int64_t iteration = 0; iteration < count; ++iteration) {
    SmallVector<int64_t> inner;
    const int64_t next = number(body, static_cast<int64_t>(operations.size()), inner);
    for (Operation &op : body)
      if (failed(add(&op, isUnrolled && iteration == 0 ? waits : ArrayRef<int64_t>(), inner,
                     next - 1, iteration, operations)))
        return failure();
  }
  return success();
}

Constant *StepTables::describeOperation(Operation *op, ArrayRef<int64_t> waits,
                                        ArrayRef<int64_t> last, int64_t end, int64_t iteration,
                                        int64_t number) {
  uint32_t kind = MTC_LAUNCH, index = 0, stream = 0;
  AtAttr source, destination; // of a copy
  int64_t bytes = 0, iterations = 0;
  SmallVector<int64_t> offsets, strides;
  auto addSlice = [&](Attribute attribute) {
    auto slice = cast<AtAttr>(attribute);
    offsets.push_back(slice.getOffset() + iteration * slice.getStride());
    strides.push_back(target.hasRepeats() ? slice.getStride() : 0);
  };
  if (auto launchOp = dyn_cast<LaunchOp>(op)) {
    auto known = kernelIndex.find(launchOp.getKernel());
    if (known == kernelIndex.end()) {
      op->emitError() << "launches @" << launchOp.getKernel() << ", which is not a kernel function";
      return nullptr;
    }
    index = known->second;
    for (Attribute slice : llvm::concat<const Attribute>(launchOp.getInputs().getValue(),
                                                         launchOp.getOutputs().getValue()))
      addSlice(slice);
    if (launchOp.getScratchBytes() != static_cast<uint64_t>(scratchBytes[index])) {
      op->emitError() << "was allocated with " << launchOp.getScratchBytes()
                      << " bytes of scratch, but the target '" << target.getName() << "' needs "
                      << scratchBytes[index];
      return nullptr;
    }
    if (scratchBytes[index])
      offsets.push_back(static_cast<int64_t>(launchOp.getScratchOffset()));
  } else if (auto call = dyn_cast<CallOp>(op)) {
    kind = MTC_CALL;
    index = addCall(call);
    for (Attribute slice :
         llvm::concat<const Attribute>(call.getInputs().getValue(), call.getOutputs().getValue()))
      addSlice(slice);
    offsets.push_back(static_cast<int64_t>(call.getScratchOffset()));
  } else if (auto repeat = dyn_cast<RepeatOp>(op)) {
    kind = MTC_REPEAT;
    index = repeat.getBody().front().getOperations().size();
    iterations = static_cast<int64_t>(repeat.getIterations());
  } else if (auto transfer = dyn_cast<TransferOp>(op)) {
    kind = MTC_TRANSFER;
    index = addCollective(transfer.getCollective(), transfer.getInputs(), transfer.getOutputs(),
                          offsets);
  } else if (auto transfer = dyn_cast<AsyncTransferOp>(op)) {
    kind = MTC_TRANSFER;
    stream = transfer.getStream();
    index = addCollective(transfer.getCollective(), transfer.getInputs(), transfer.getOutputs(),
                          offsets);
  } else if (auto copy = dyn_cast<CopyOp>(op)) {
    source = copy.getSource();
    destination = copy.getDestination();
  } else if (auto copy = dyn_cast<AsyncCopyOp>(op)) {
    source = copy.getSource();
    destination = copy.getDestination();
    stream = copy.getStream();
  } else {
    op->emitError("expected only launches, calls, copies and transfers in a step");
    return nullptr;
  }
  if (source) {
    if (StringRef reason = target.refuseCopy(source.getSpace(), destination.getSpace());
        !reason.empty()) {
      op->emitError() << "copies from " << source << " to " << destination << ", but " << reason;
      return nullptr;
    }
    kind = MTC_COPY;
    bytes = byteSize(source.getType());
    addSlice(source);
    addSlice(destination);
  }
  if (llvm::all_of(strides, [](int64_t stride) { return stride == 0; }))
    strides.clear();
  else
    strides.resize(offsets.size()); // Scratch memory does not move.
  SmallVector<Constant *> writes = describeWrites(op, last, end, iteration, number);
  return c.record(
      field<&MtcOperation::kind>(kind), field<&MtcOperation::index>(index),
      field<&MtcOperation::operand_count>(offsets.size()),
      field<&MtcOperation::operands>(c.i64Array(offsets)),
      field<&MtcOperation::strides>(c.i64Array(strides)), field<&MtcOperation::bytes>(bytes),
      field<&MtcOperation::iterations>(iterations),
      field<&MtcOperation::nodes>(nodeNames(op->getLoc())),
      field<&MtcOperation::wait_count>(waits.size()),
      field<&MtcOperation::waits>(c.i64Array(waits)), field<&MtcOperation::stream>(stream),
      field<&MtcOperation::source_space>(source ? source.getSpace() : MemorySpace::Device),
      field<&MtcOperation::destination_space>(source ? destination.getSpace()
                                                     : MemorySpace::Device),
      field<&MtcOperation::write_count>(writes.size()),
      field<&MtcOperation::writes>(c.array(writes)));
}

SmallVector<Constant *> StepTables::describeWrites(Operation *op, ArrayRef<int64_t> last,
                                                   int64_t end, int64_t iteration, int64_t number) {
  SmallVector<Constant *> writes;
  auto add = [&](AtAttr slice, int64_t lastUse) {
    if (slice.getSpace() == MemorySpace::Device &&
        (checksMemory || slice.getType().getElementType().isF16()))
      writes.push_back(
          c.record(field<&MtcWrite::offset>(slice.getOffset() + iteration * slice.getStride()),
                   field<&MtcWrite::bytes>(slice.getEnd() - slice.getOffset()),
                   field<&MtcWrite::last_use>(lastUse),
                   field<&MtcWrite::type>(typeCode(slice.getType().getElementType())),
                   field<&MtcWrite::stride>(target.hasRepeats() ? slice.getStride() : 0)));
  };
  // Live ranges are given by the numbers of operations in a block.
  auto entryOf = [&](int64_t operation) {
    return operation < 0                                   ? operation
           : operation < static_cast<int64_t>(last.size()) ? last[operation]
                                                           : end;
  };
  StepAccess access(op);
  // The live ranges of results are optional in text input, and are only needed to detect overflows.
  for (auto [i, result] : llvm::enumerate(access.results))
    add(result, access.lastUses.empty() ? -1 : entryOf(access.lastUses[i]));
  if (access.scratch && !isa<RepeatOp>(op))
    add(access.scratch, number);
  return writes;
}

uint32_t StepTables::addCollective(CollectiveAttr collective, ArrayAttr inputs, ArrayAttr outputs,
                                   llvm::SmallVectorImpl<int64_t> &offsets) {
  for (Attribute slice : llvm::concat<const Attribute>(inputs.getValue(), outputs.getValue()))
    offsets.push_back(cast<AtAttr>(slice).getOffset());
  collectives.push_back(
      c.record(field<&MtcCollective::kind>(static_cast<uint32_t>(collective.getKind())),
               field<&MtcCollective::count>(collective.getTotals().size()),
               field<&MtcCollective::ranks>(collective.getRanks()),
               field<&MtcCollective::element_bytes>(elementBytes(collective.getElement())),
               field<&MtcCollective::pieces>(c.i64Array(collective.getPieces())),
               field<&MtcCollective::totals>(c.i64Array(collective.getTotals()))));
  return collectives.size() - 1;
}

uint32_t StepTables::addCall(CallOp call) {
  CallAttrInterface description = call.getCall();
  auto [known, isFirst] = descriptions.try_emplace(description);
  auto &[bytes, code] = known->second;
  if (isFirst) {
    bytes = c.bytes(description.getBytes());
    code = target.describeCallCode(description, c);
  }
  Cost cost = description.getCost();
  Constant *entry = c.record(
      field<&MtcCall::kind>(description.getKind()), field<&MtcCall::description>(bytes),
      field<&MtcCall::scratch_bytes>(call.getScratchBytes()), field<&MtcCall::flops>(cost.flops),
      field<&MtcCall::bytes>(cost.bytes), field<&MtcCall::code>(code));
  auto [entered, isNew] = callIndex.try_emplace(entry, calls.size());
  if (isNew)
    calls.push_back(entry);
  return entered->second;
}
