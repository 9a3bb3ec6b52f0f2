//===- HostUpdateMover.cpp - Updates offloaded variables on the host --------------------------===//

#include "passes/offload/HostUpdateMover.h"

#include "passes/kernels/KernelEditing.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mtc;

/// Operands that every window reads, such as the learning rate, are copied before the first one.
static constexpr int64_t maxWholeBytes = 64 << 10;

//===------------------------------------------------------------------------------------------===//
// Planning
//===------------------------------------------------------------------------------------------===//

/// Returns why a kernel has other results on the host than on the device; empty if they are
/// bit-identical. All operations of `arith` are exact or rounded to nearest, as IEEE 754
/// prescribes.
static std::string findDifference(KernelOp kernel) {
  for (Operation &op : kernel.getBody().front()) {
    if (auto reduce = dyn_cast<KernelReduceOp>(op);
        reduce && llvm::is_contained({ReductionKind::Add, ReductionKind::Mul}, reduce.getKind()))
      return "its update sums values, in another order than the device";
    // Functions of scalars, which the runtime sets as f64, have errors of a bit of f64.
    if (isa<math::MathDialect>(op.getDialect()) && !op.getResult(0).getType().isF64() &&
        !isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp, math::FloorOp, math::FmaOp,
             math::IsFiniteOp, math::IsInfOp, math::IsNaNOp, math::RoundEvenOp, math::SqrtOp,
             math::TruncOp>(op))
      return "its update computes " + op.getName().getStringRef().str() +
             ", which the device rounds differently";
  }
  return "";
}

/// Returns why a kernel cannot run on the host with `values` in its memory, and plans its copies.
std::string HostUpdateMover::tryHost(const llvm::DenseSet<Value> &values, Update &update) {
  const PlannedOperation &op = *update.op;
  auto kernel = cast<KernelOp>(op.op);
  if (!kernel.getBody().getOps<KernelCheckOp>().empty())
    return "its update checks indices, which only the device reports";
  if (std::string difference = findDifference(kernel); !difference.empty())
    return difference;
  if (target.getHostScratchBytes(kernel))
    return "its update on the host needs scratch memory";
  std::string why;
  FailureOr<KernelWindows> windows = KernelWindows::of(kernel, why);
  if (failed(windows))
    return why;
  SmallVector<unsigned> staged;
  int64_t slotBytes = 0;
  llvm::SmallDenseSet<int64_t, 4> offsets; // A slice that is read and written has one part.
  auto stage = [&](unsigned number, const PlannedValue &value, int64_t &bytes) {
    bytes += value.bytes;
    if (value.buffer->fixedOffset && !offsets.insert(*value.buffer->fixedOffset).second)
      return;
    staged.push_back(number);
    slotBytes += llvm::alignTo(windows->getBytesPerRow(number) * windows->getRows(),
                               TransferSlotsOp::alignment);
  };
  auto isThere = [&](const PlannedValue &value) {
    return value.buffer->space == MemorySpace::PinnedHost || values.contains(value.value);
  };
  for (auto [number, result] : llvm::enumerate(op.results)) {
    const unsigned operand = op.operands.size() + number;
    if (!result.buffer->fixedOffset || !windows->getBytesPerRow(operand))
      return "its update computes values other than variables";
    if (!isThere(result))
      stage(operand, result, update.toDevice);
  }
  for (auto [number, operand] : llvm::enumerate(op.operands)) {
    if (isThere(*operand))
      continue;
    if (windows->getBytesPerRow(number)) {
      stage(number, *operand, update.toHost);
      if (!operand->buffer->fixedOffset) {
        update.held.push_back(operand->value);
        update.heldBytes += operand->bytes;
      }
    } else if (operand->bytes <= maxWholeBytes) {
      update.whole.push_back(number);
    } else {
      return "every row of its update reads all of a large operand";
    }
  }
  if (staged.empty())
    return "";
  const int64_t slot = std::max(hostSlotBytes, std::min(window, slotBytes));
  if (!windows->getMaxRows(slot, staged, paddedBytes(1)))
    return "a few of its rows exceed --offload-window";
  hostSlotBytes = slot;
  return "";
}

std::string HostUpdateMover::plan(const VariableGroup &group) {
  if (!target.hasHostKernels())
    return "the target computes on the host anyway";
  llvm::DenseSet<Value> values; // Values in the variables.
  llvm::MapVector<const PlannedOperation *, Update> planned;
  const SmallVector<Access> users = accessesTo(group, reads), writers = accessesTo(group, writes);
  for (const Access &read : users)
    values.insert(read.op->results.front().value);
  for (const Access &write : writers) {
    const PlannedValue &value = *write.op->operands.front();
    if (!value.definition || !value.definition->isKernel)
      return "no kernel updates it";
    values.insert(value.value);
    planned.insert({value.definition, Update{write.function, value.definition}});
  }
  auto isInUpdate = [&](const FunctionMemory &function, Value value) {
    return llvm::all_of(findUses(value), [&](OpOperand *use) {
      const PlannedOperation &user = function[use->getOwner()];
      return planned.contains(&user) || !user.written.empty();
    });
  };
  for (const Access &read : users)
    if (!isInUpdate(*read.function, read.op->results.front().value))
      return "the device reads it";
  for (const Access &write : writers)
    if (!isInUpdate(*write.function, write.op->operands.front()->value))
      return "the device reads its new value";
  for (auto &[op, update] : planned)
    if (std::string why = tryHost(values, update); !why.empty())
      return why;
  for (auto &[op, update] : planned) {
    update.release = op->time;
    if (update.heldBytes)
      update.release = reserveRelease(*update.function, op->time, update.heldBytes);
    add(*update.function, {.kind = PlannedCopy::Kind::HostUpdate,
                           .time = op->time,
                           .bytes = update.toHost,
                           .other = update.release,
                           .bytesBack = update.toDevice});
    updates.push_back(update);
  }
  llvm::append_range(variables, group.variables);
  return "";
}

//===------------------------------------------------------------------------------------------===//
// Queries and application
//===------------------------------------------------------------------------------------------===//

int64_t HostUpdateMover::getCopiedBytes(const FunctionMemory &function, int64_t time) const {
  int64_t bytes = 0;
  for (const Update &update : updates)
    if (update.function == &function && update.op->time < time && time <= update.release)
      bytes += update.heldBytes;
  return bytes;
}

/// Copies the operands that every window reads, once for all kernels.
void HostUpdateMover::copyOperands(const Update &update, EditLog &edits) {
  for (unsigned number : update.whole) {
    OpOperand &operand = update.op->op->getOpOperand(number);
    Value &copy = onHost[operand.get()];
    if (!copy) {
      OpBuilder builder(module.getContext());
      builder.setInsertionPointAfterValue(operand.get());
      copy = edits.insert(MoveOp::create(builder, operand.get().getLoc(), operand.get().getType(),
                                         operand.get(), MemorySpace::PinnedHost));
    }
    edits.setOperand(operand, copy);
  }
}

void HostUpdateMover::apply(EditLog &edits) {
  for (VariableOp variable : variables)
    edits.setSpace(variable, MemorySpace::PinnedHost);
  provideSlots(MemorySpace::PinnedHost, hostSlotBytes, edits);
  for (const Update &update : updates) {
    copyOperands(update, edits);
    edits.setOnHost(cast<KernelOp>(update.op->op));
    hold(*update.function, update.held, update.op->time, update.release, edits);
  }
}
