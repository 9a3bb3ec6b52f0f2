//===- StepOrder.cpp - Verifier of memory accesses in a step ----------------------------------===//

#include "ir/steps/StepAccess.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SetVector.h"

#include <array>

using namespace mlir;
using namespace mtc;

namespace {

/// Tracks the copies and transfers that may be in progress through the operations of a step.
class WorkInFlight {
public:
  LogicalResult visit(Operation *op, const StepAccess &access) {
    const std::optional<AsyncWork> work = AsyncWork::of(op);
    // Work that has completed before this operation: for the step, or only for this work.
    SmallPtrSet<Operation *, 4> ended;
    for (Value token : access.dependencies)
      ended.insert_range(before.lookup(token.getDefiningOp()));
    Operation *previous = work ? lastOfStream.lookup(work->stream) : nullptr;
    // Transfers of a stream only end in order.
    if (previous && isa<AsyncCopyOp>(op))
      ended.insert_range(before.lookup(previous));
    if (!work)
      running.remove_if([&](Operation *other) { return ended.contains(other); });

    for (Operation *other : running)
      if (!ended.contains(other) && failed(verifyApart(op, access, other)))
        return failure();
    if (!work)
      return success();
    if (previous)
      ended.insert_range(before.lookup(previous));
    // The preceding work that has completed before this work, but not yet for the step.
    auto &endedWithIt = before[op];
    for (Operation *other : running)
      if (ended.contains(other))
        endedWithIt.push_back(other);
    endedWithIt.push_back(op);
    lastOfStream[work->stream] = op;
    running.insert(op);
    return success();
  }

private:
  static LogicalResult verifyApart(Operation *op, const StepAccess &access, Operation *other) {
    const StringRef kind = isa<AsyncCopyOp>(other) ? "copy" : "transfer";
    const StepAccess ofOther(other);
    auto verify = [&](ArrayRef<AtAttr> slices, StringRef verb, ArrayRef<AtAttr> others,
                      StringRef otherVerb) -> LogicalResult {
      for (AtAttr slice : slices)
        for (AtAttr each : others)
          if (slice.overlaps(each)) {
            InFlightDiagnostic diagnostic =
                op->emitOpError() << verb << ' ' << slice << " while a " << kind << " on stream "
                                  << AsyncWork::of(other)->stream << ' ' << otherVerb
                                  << " it; wait for the " << kind << "'s token (step_c1)";
            diagnostic.attachNote(other->getLoc()) << "the " << kind;
            return diagnostic;
          }
      return success();
    };
    const SmallVector<AtAttr> writes = access.getWrites(), otherWrites = ofOther.getWrites();
    return success(succeeded(verify(writes, "writes", ofOther.reads, "reads")) &&
                   succeeded(verify(writes, "writes", otherWrites, "writes")) &&
                   succeeded(verify(access.reads, "reads", otherWrites, "writes")));
  }

  llvm::SmallSetVector<Operation *, 4> running;
  llvm::DenseMap<int64_t, Operation *> lastOfStream;
  /// Maps work to itself and the work that has completed when it has completed.
  llvm::DenseMap<Operation *, SmallVector<Operation *>> before;
};

/// The maximum sizes of the arenas of each memory space, if the module has arenas.
class ArenaSizes {
public:
  explicit ArenaSizes(ModuleOp module) {
    if (!module)
      return;
    for (auto arena : module.getOps<ArenaOp>()) {
      isKnown = true;
      sizes[static_cast<unsigned>(arena.getSpace())] =
          static_cast<int64_t>(std::max(arena.getSize(), arena.getAside()));
    }
  }

  LogicalResult verify(Operation *op, AtAttr slice) const {
    int64_t size = sizes[static_cast<unsigned>(slice.getSpace())];
    if (!isKnown || (slice.getOffset() >= 0 && slice.getEnd() <= size))
      return success();
    return op->emitOpError("has the slice ")
           << slice << ", but the arena of the space " << stringifyEnum(slice.getSpace()) << " has "
           << size << " bytes (step_c2)";
  }

private:
  std::array<int64_t, getMaxEnumValForMemorySpace() + 1> sizes = {};
  bool isKnown = false;
};

} // namespace

LogicalResult StepOp::verifyRegions() {
  ArenaSizes arenas((*this)->getParentOfType<ModuleOp>());
  WorkInFlight work;
  for (Operation &op : getBody().front()) {
    StepAccess access(&op);
    if (isa<CopyOp, AsyncCopyOp, TransferOp, AsyncTransferOp>(op))
      for (AtAttr slice : llvm::concat<AtAttr>(access.reads, access.results))
        if (failed(arenas.verify(&op, slice)))
          return failure();
    if (failed(work.visit(&op, access)))
      return failure();
  }
  return verifyLifetimes(*this);
}

LogicalResult mtc::verifyRanges(RepeatOp repeat) {
  SmallVector<AtAttr> outer;
  StepAccess access(repeat);
  llvm::append_range(outer, access.reads);
  llvm::append_range(outer, access.getWrites());
  if (auto module = repeat->getParentOfType<ModuleOp>())
    for (auto variable : module.getOps<VariableOp>())
      if (std::optional<int64_t> offset = variable.getOffset();
          offset && variable.getSpace() == MemorySpace::Device)
        outer.push_back(AtAttr::get(repeat.getContext(), *offset, variable.getTensorType()));
  const auto last = static_cast<int64_t>(repeat.getIterations()) - 1;
  for (Operation &op : repeat.getBody().front()) {
    StepAccess inner(&op);
    for (AtAttr slice : llvm::concat<AtAttr>(inner.reads, inner.getWrites())) {
      const int64_t moved = last * slice.getStride();
      const int64_t begin = slice.getOffset() + std::min<int64_t>(moved, 0);
      const int64_t end = slice.getEnd() + std::max<int64_t>(moved, 0);
      auto contains = [&](AtAttr other) {
        return other.getOffset() <= begin &&
               end <= other.getOffset() + paddedBytes(byteSize(other.getType()));
      };
      if (slice.getSpace() != MemorySpace::Device || llvm::none_of(outer, contains))
        return op.emitOpError("accesses ")
               << slice << ", bytes " << begin << " to " << end - 1
               << " in all iterations, which are not within an operand of the repeat (repeat_c2)";
    }
  }
  return success();
}

LogicalResult RepeatOp::verifyRegions() {
  for (Operation &op : getBody().front())
    if (!isa<LaunchOp, CallOp, CopyOp>(op))
      return op.emitOpError("is in a repeat, expected a launch, a call or a copy (repeat_c2)");
  return success(succeeded(verifyRanges(*this)) && succeeded(verifyLifetimes(*this)));
}
