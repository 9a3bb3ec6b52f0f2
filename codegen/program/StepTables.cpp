//===- StepTables.cpp - Tables of a program's kernels, calls and steps ------------------------===//

#include "codegen/program/StepTables.h"

#include "codegen/target/Target.h"
#include "ir/NodeNames.h"
#include "ir/TypeCode.h"
#include "ir/steps/StepAccess.h"
#include "ir/steps/VariableAccess.h"
#include "runtime/abi/program.h"

#include "llvm/ADT/TypeSwitch.h"

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
    if (kernel.getOnHost())
      hostKernels.insert(scratchBytes.size());
    scratchBytes.push_back(kernel.getPlan()->getScratchBytes());
    Cost cost = kernel.getCost();
    bool mayFault = !kernel.getBody().getOps<KernelCheckOp>().empty();
    kernels.push_back(c.record(
        field<&MtcKernel::name>(kernel.getSymName()),
        field<&MtcKernel::code>(target.describeKernel(kernel, c)),
        field<&MtcKernel::scratch_bytes>(scratchBytes.back()), field<&MtcKernel::flops>(cost.flops),
        field<&MtcKernel::bytes>(cost.bytes), field<&MtcKernel::may_fault>(mayFault)));
  }
  for (auto variable : placed.getOps<VariableOp>())
    if (variable.getRole() == Role::Slot && variable.getOffset())
      slots[{variable.getSpace(), static_cast<int64_t>(*variable.getOffset())}] = {
          byteSize(variable.getTensorType()), bytesOfCopy(variable),
          static_cast<int64_t>(variable.getCopies())};
}

const StepTables::Slot *StepTables::findSlot(AtAttr slice) const {
  auto next = slots.upper_bound({slice.getSpace(), slice.getOffset()});
  if (next == slots.begin())
    return nullptr;
  const auto &[place, slot] = *std::prev(next);
  const auto [space, offset] = place;
  return space == slice.getSpace() && slice.getOffset() < offset + slot.bytes ? &slot : nullptr;
}

FailureOr<int64_t> StepTables::countCopies(StepOp step) const {
  std::optional<int64_t> copies;
  const WalkResult result = step.getBody().walk([&](Operation *op) {
    return op->getAttrDictionary().walk([&](AtAttr slice) {
      const Slot *slot = slots.empty() ? nullptr : findSlot(slice);
      if (!slot)
        return WalkResult::advance();
      if (copies.value_or(slot->copies) != slot->copies) {
        op->emitError() << "uses a slot with " << slot->copies
                        << " copies, but another operation of the step one with " << *copies;
        return WalkResult::interrupt();
      }
      copies = slot->copies;
      return WalkResult::advance();
    });
  });
  return result.wasInterrupted() ? FailureOr<int64_t>(failure()) : copies.value_or(1);
}

int64_t StepTables::offsetOf(AtAttr slice, int64_t iteration) const {
  const Slot *slot = copy == 0 ? nullptr : findSlot(slice);
  return slice.getOffset() + iteration * slice.getStride() + (slot ? copy * slot->distance : 0);
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

Constant *StepTables::addFunction(StepOp step, int64_t copyOfSlots) {
  copy = copyOfSlots;
  SmallVector<int64_t> last;
  const int64_t end = number(step.getBody().front(), 0, last);
  const std::string symbol = ("mtc_operations." + prefix + Twine(functionCount++)).str();
  operations.beginTable(symbol, static_cast<size_t>(end) * sizeof(MtcOperation));
  int64_t count = 0;
  llvm::DenseMap<Value, int64_t> copies; // the index of the operation that produces each token
  for (Operation &op : step.getBody().front()) {
    auto waits =
        llvm::map_to_vector(op.getOperands(), [&](Value token) { return copies.at(token); });
    for (Value token : op.getResults())
      copies[token] = count;
    LogicalResult added = isa<RepeatOp>(op) ? addRepeat(cast<RepeatOp>(op), waits, last, end, count)
                                            : add(&op, waits, last, end, /*iteration=*/0, count);
    if (failed(added))
      return nullptr;
  }
  return c.record(field<&MtcFunction::operation_count>(count),
                  field<&MtcFunction::operations>(count ? c.data(symbol) : c.null()));
}

LogicalResult StepTables::addSequence(StringRef name, StepOp step) {
  if (!step || step.getBody().front().empty())
    return success();
  FailureOr<int64_t> copies = countCopies(step);
  if (failed(copies))
    return failure();
  for (int64_t number = 0; number < *copies; ++number) {
    Constant *function = addFunction(step, number);
    if (!function)
      return failure();
    numbers[name].push_back(functions.size());
    functions.push_back(function);
  }
  return success();
}

std::optional<uint32_t> StepTables::findFunction(StringRef name, int64_t microStep) const {
  auto known = numbers.find(name);
  if (known == numbers.end())
    return std::nullopt;
  return known->second[static_cast<size_t>(microStep) % known->second.size()];
}

Constant *StepTables::sequenceOf(StringRef name) {
  const std::optional<uint32_t> first = findFunction(name, /*microStep=*/0);
  return c.record(field<&MtcSequence::count>(first ? 1 : 0),
                  field<&MtcSequence::functions>(first ? c.array({c.u32(*first)}) : c.null()));
}

LogicalResult StepTables::addRepeat(RepeatOp repeat, ArrayRef<int64_t> waits,
                                    ArrayRef<int64_t> last, int64_t end, int64_t &count) {
  Block &body = repeat.getBody().front();
  const bool isUnrolled = !target.hasRepeats();
  if (!isUnrolled && failed(add(repeat, waits, last, end, 0, count)))
    return failure();
  const int64_t iterations = isUnrolled ? static_cast<int64_t>(repeat.getIterations()) : 1;
  for (int64_t iteration = 0; iteration < iterations; ++iteration) {
    SmallVector<int64_t> inner;
    const int64_t next = number(body, count, inner);
    for (Operation &op : body)
      if (failed(add(&op, isUnrolled && iteration == 0 ? waits : ArrayRef<int64_t>(), inner,
                     next - 1, iteration, count)))
        return failure();
  }
  return success();
}

struct StepTables::Entry {
  uint32_t kind = MTC_LAUNCH, index = 0, stream = 0;
  AtAttr source, destination; ///< Of a copy.
  int64_t bytes = 0, iterations = 0;
  SmallVector<int64_t> offsets, strides;
};

void StepTables::addSlices(ArrayRef<Attribute> slices, int64_t iteration, Entry &entry) const {
  for (Attribute attribute : slices) {
    auto slice = cast<AtAttr>(attribute);
    entry.offsets.push_back(offsetOf(slice, iteration));
    entry.strides.push_back(target.hasRepeats() ? slice.getStride() : 0);
  }
}

/// Sets the kernel of a launch that was allocated with `scratch` bytes.
LogicalResult StepTables::describeLaunch(Operation *launch, StringRef kernel, int64_t scratch,
                                         Entry &entry) const {
  auto known = kernelIndex.find(kernel);
  if (known == kernelIndex.end())
    return launch->emitError() << "launches @" << kernel << ", which is not a kernel function";
  entry.index = known->second;
  entry.kind = hostKernels.contains(entry.index) ? MTC_HOST_LAUNCH : MTC_LAUNCH;
  const int64_t needed = scratchBytes[entry.index];
  if (scratch != needed)
    return launch->emitError() << "was allocated with " << scratch
                               << " bytes of scratch, but the target '" << target.getName()
                               << "' needs " << needed;
  return success();
}

LogicalResult StepTables::describeCopy(Operation *op, AtAttr source, AtAttr destination,
                                       int64_t iteration, Entry &entry) const {
  if (StringRef reason = target.refuseCopy(source.getSpace(), destination.getSpace());
      !reason.empty())
    return op->emitError() << "copies from " << source << " to " << destination << ", but "
                           << reason;
  entry.kind = MTC_COPY;
  entry.source = source;
  entry.destination = destination;
  entry.bytes = byteSize(source.getType());
  addSlices({source, destination}, iteration, entry);
  return success();
}

LogicalResult StepTables::describe(Operation *op, int64_t iteration, Entry &entry) {
  auto describeTransfer = [&](auto transfer) {
    entry.kind = MTC_TRANSFER;
    entry.index = addCollective(transfer.getCollective(), transfer.getInputs(),
                                transfer.getOutputs(), entry.offsets);
    return success();
  };
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](LaunchOp launch) {
        addSlices(launch.getInputs().getValue(), iteration, entry);
        addSlices(launch.getOutputs().getValue(), iteration, entry);
        const auto scratch = static_cast<int64_t>(launch.getScratchBytes());
        if (scratch)
          entry.offsets.push_back(static_cast<int64_t>(launch.getScratchOffset()));
        return describeLaunch(op, launch.getKernel(), scratch, entry);
      })
      .Case([&](AsyncLaunchOp launch) {
        entry.stream = launch.getStream();
        addSlices(launch.getInputs().getValue(), iteration, entry);
        addSlices(launch.getOutputs().getValue(), iteration, entry);
        return describeLaunch(op, launch.getKernel(), /*scratch=*/0, entry);
      })
      .Case([&](CallOp call) {
        entry.kind = MTC_CALL;
        entry.index = addCall(call);
        addSlices(call.getInputs().getValue(), iteration, entry);
        addSlices(call.getOutputs().getValue(), iteration, entry);
        entry.offsets.push_back(static_cast<int64_t>(call.getScratchOffset()));
        return success();
      })
      .Case([&](RepeatOp repeat) {
        entry.kind = MTC_REPEAT;
        entry.index = repeat.getBody().front().getOperations().size();
        entry.iterations = static_cast<int64_t>(repeat.getIterations());
        return success();
      })
      .Case([&](TransferOp transfer) { return describeTransfer(transfer); })
      .Case([&](AsyncTransferOp transfer) {
        entry.stream = transfer.getStream();
        return describeTransfer(transfer);
      })
      .Case([&](CopyOp copy) {
        return describeCopy(op, copy.getSource(), copy.getDestination(), iteration, entry);
      })
      .Case([&](AsyncCopyOp copy) {
        entry.stream = copy.getStream();
        return describeCopy(op, copy.getSource(), copy.getDestination(), iteration, entry);
      })
      .Default([&](Operation *) {
        return op->emitError("expected only launches, calls, copies and transfers in a step");
      });
}

DataObject::Address StepTables::addNodes(Location location) {
  auto [known, isNew] = nodes.try_emplace(location);
  if (isNew)
    known->second = operations.addString(nodeNames(location));
  return known->second;
}

LogicalResult StepTables::add(Operation *op, ArrayRef<int64_t> waits, ArrayRef<int64_t> last,
                              int64_t end, int64_t iteration, int64_t &count) {
  Entry entry;
  if (failed(describe(op, iteration, entry)))
    return failure();
  if (llvm::all_of(entry.strides, [](int64_t stride) { return stride == 0; }))
    entry.strides.clear();
  else
    entry.strides.resize(entry.offsets.size()); // Scratch memory does not move.
  const Writes writes = addWrites(op, last, end, iteration, count++);
  auto spaceOf = [](AtAttr slice) { return slice ? slice.getSpace() : MemorySpace::Device; };
  operations.addEntry(
      field<&MtcOperation::kind>(entry.kind), field<&MtcOperation::index>(entry.index),
      field<&MtcOperation::operand_count>(entry.offsets.size()),
      field<&MtcOperation::operands>(operations.addNumbers(entry.offsets)),
      field<&MtcOperation::strides>(operations.addNumbers(entry.strides)),
      field<&MtcOperation::bytes>(entry.bytes), field<&MtcOperation::iterations>(entry.iterations),
      field<&MtcOperation::nodes>(addNodes(op->getLoc())),
      field<&MtcOperation::wait_count>(waits.size()),
      field<&MtcOperation::waits>(operations.addNumbers(waits)),
      field<&MtcOperation::stream>(entry.stream),
      field<&MtcOperation::source_space>(spaceOf(entry.source)),
      field<&MtcOperation::destination_space>(spaceOf(entry.destination)),
      field<&MtcOperation::write_count>(writes.count), field<&MtcOperation::writes>(writes.first));
  return success();
}

StepTables::Writes StepTables::addWrites(Operation *op, ArrayRef<int64_t> last, int64_t end,
                                         int64_t iteration, int64_t number) {
  Writes writes;
  auto add = [&](AtAttr slice, int64_t lastUse) {
    if (slice.getSpace() != MemorySpace::Device ||
        (!checksMemory && !hasSmallRange(slice.getType().getElementType())))
      return;
    const DataObject::Address write =
        operations.addStruct(field<&MtcWrite::offset>(offsetOf(slice, iteration)),
                             field<&MtcWrite::bytes>(slice.getEnd() - slice.getOffset()),
                             field<&MtcWrite::last_use>(lastUse),
                             field<&MtcWrite::type>(typeCode(slice.getType().getElementType())),
                             field<&MtcWrite::stride>(target.hasRepeats() ? slice.getStride() : 0));
    if (writes.count++ == 0)
      writes.first = write;
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
    offsets.push_back(offsetOf(cast<AtAttr>(slice)));
  collectives.push_back(
      c.record(field<&MtcCollective::kind>(static_cast<uint32_t>(collective.getKind())),
               field<&MtcCollective::count>(collective.getTotals().size()),
               field<&MtcCollective::ranks>(collective.getRanks()),
               field<&MtcCollective::stride>(collective.getStride()),
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
