//===- StepOrder.cpp - Verifier of memory accesses in a step ----------------------------------===//

#include "ir/steps/StepAccess.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SetVector.h"

#include <array>

using namespace mlir;
using namespace mtc;

namespace {

/// Tracks the copies that may be in progress through the operations of a step.
class CopiesInFlight {
public:
  LogicalResult visit(Operation *op, const StepAccess &access) {
    auto copy = dyn_cast<AsyncCopyOp>(op);
    // Copies that have completed before this operation: for the step, or only for this copy.
    SmallPtrSet<Operation *, 4> ended;
    for (Value token : access.dependencies)
      ended.insert_range(before.lookup(token.getDefiningOp()));
    if (copy)
      if (AsyncCopyOp previous = lastOfStream.lookup(copy.getStream()))
        ended.insert_range(before.lookup(previous));
    if (!copy)
      running.remove_if([&](AsyncCopyOp other) { return ended.contains(other); });

    for (AsyncCopyOp other : running)
      if (!ended.contains(other) && failed(verifyApart(op, access, other)))
        return failure();
    if (!copy)
      return success();
    // The preceding copies that have completed before this copy, but not yet for the step.
    auto &endedWithIt = before[op];
    for (AsyncCopyOp other : running)
      if (ended.contains(other))
        endedWithIt.push_back(other);
    endedWithIt.push_back(op);
    lastOfStream[copy.getStream()] = copy;
    running.insert(copy);
    return success();
  }

private:
  static LogicalResult verifyApart(Operation *op, const StepAccess &access, AsyncCopyOp copy) {
    auto report = [&](AtAttr slice, StringRef verb, StringRef copyVerb) {
      InFlightDiagnostic diagnostic = op->emitOpError()
                                      << verb << ' ' << slice << " while a copy on stream "
                                      << copy.getStream() << ' ' << copyVerb
                                      << " it; wait for the copy's token (step_c1)";
      diagnostic.attachNote(copy.getLoc()) << "the copy";
      return diagnostic;
    };
    for (AtAttr slice : access.getWrites()) {
      if (slice.overlaps(copy.getSource()))
        return report(slice, "writes", "reads");
      if (slice.overlaps(copy.getDestination()))
        return report(slice, "writes", "writes");
    }
    for (AtAttr slice : access.reads)
      if (slice.overlaps(copy.getDestination()))
        return report(slice, "reads", "writes");
    return success();
  }

  llvm::SmallSetVector<AsyncCopyOp, 4> running;
  llvm::DenseMap<uint64_t, AsyncCopyOp> lastOfStream;
  /// Maps a copy to itself and the copies that have completed when it has completed.
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

  LogicalResult verify(Operation *copy, AtAttr slice) const {
    int64_t size = sizes[static_cast<unsigned>(slice.getSpace())];
    if (!isKnown || (slice.getOffset() >= 0 && slice.getEnd() <= size))
      return success();
    return copy->emitOpError("has the slice ")
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
  CopiesInFlight copies;
  for (Operation &op : getBody().front()) {
    StepAccess access(&op);
    if (isa<CopyOp, AsyncCopyOp>(op))
      for (AtAttr slice : {access.reads.front(), access.results.front()})
        if (failed(arenas.verify(&op, slice)))
          return failure();
    if (failed(copies.visit(&op, access)))
      return failure();
  }
  return verifyLifetimes(*this);
}
