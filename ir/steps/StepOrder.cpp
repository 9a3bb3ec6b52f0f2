//===- StepOrder.cpp - Verifier of memory accesses in a step ----------------------------------===//

#include "ir/CheckedExtents.h"
#include "ir/ReservedNames.h"
#include "ir/steps/StepAccess.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/CheckedArithmetic.h"

#include <array>
#include <map>

using namespace mlir;
using namespace mtc;

namespace {

/// Tracks the asynchronous work that may be in progress through the operations of a step.
class WorkInFlight {
public:
  LogicalResult visit(Operation *op, const StepAccess &access) {
    const std::optional<AsyncWork> work = AsyncWork::of(op);
    // Work that has completed before this operation, as seen from the step or only from this work.
    Clock ended = endedInStep;
    for (Value token : access.dependencies)
      if (auto known = after.find(token.getDefiningOp()); known != after.end())
        advance(ended, known->second);
    Stream *stream = work ? &streams[work->stream] : nullptr;
    const bool isFirst = !stream || stream->work.empty();
    // Transfers of a stream only end in order.
    if (!isFirst && !isa<AsyncTransferOp>(op))
      advance(ended, after[stream->work.back().first]);

    const AccessedRanges ranges(access);
    for (const auto &[number, each] : streams)
      for (const auto &[other, ofOther] : ArrayRef(each.work).drop_front(ended.lookup(number)))
        if (ranges.conflictsWith(ofOther))
          return reportConflict(op, access, other);
    if (!work) {
      endedInStep = std::move(ended);
      return success();
    }
    if (!isFirst)
      advance(ended, after[stream->work.back().first]);
    stream->work.push_back({op, ranges});
    ended[work->stream] = stream->work.size();
    after[op] = std::move(ended);
    return success();
  }

private:
  static LogicalResult reportConflict(Operation *op, const StepAccess &access, Operation *other) {
    const StringRef kind = isa<AsyncCopyOp>(other)     ? "copy"
                           : isa<AsyncLaunchOp>(other) ? "launch"
                                                       : "transfer";
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

  /// The number of operations of each stream that have completed.
  using Clock = llvm::SmallDenseMap<int64_t, size_t, 8>;
  struct Stream {
    SmallVector<std::pair<Operation *, AccessedRanges>, 0> work; ///< in order
  };

  static void advance(Clock &clock, const Clock &other) {
    for (auto [stream, count] : other)
      clock[stream] = std::max(clock[stream], count);
  }

  std::map<int64_t, Stream> streams;
  Clock endedInStep;
  /// What has completed when an operation on a stream has.
  llvm::DenseMap<Operation *, Clock> after;
};

/// The sizes of the arenas in which a step runs, if the module has arenas.
class ArenaSizes {
public:
  explicit ArenaSizes(StepOp step) {
    sizes.fill(INT64_MAX);
    auto module = step->getParentOfType<ModuleOp>();
    if (!module || module.getOps<ArenaOp>().empty())
      return;
    sizes.fill(0);
    // The runtime reserves the larger arena only for runs of the other steps.
    const bool isTraining = isMicroStep(step.getSymName()) ||
                            llvm::is_contained(ArrayRef<StringRef>{microStepName, agreementName,
                                                                   updateName, evaluateName},
                                               withoutShape(step.getSymName()));
    for (auto arena : module.getOps<ArenaOp>()) {
      const auto size = static_cast<int64_t>(arena.getSize()),
                 separate = static_cast<int64_t>(arena.getSeparate());
      sizes[static_cast<unsigned>(arena.getSpace())] = isTraining ? size : std::max(size, separate);
      if (arena.getSpace() == MemorySpace::Device)
        staging = static_cast<int64_t>(arena.getStaging());
    }
  }

  /// Verifies the inputs of the step, and the slices into which the next batch is read.
  LogicalResult verifyInputs(StepOp step) const {
    for (auto input : step.getInputs().getAsRange<AtAttr>()) {
      std::optional<int64_t> staged = llvm::checkedAdd(input.getOffset(), staging);
      if (failed(verify(step, input)) ||
          (withoutShape(step.getSymName()) == microStepName &&
           failed(verify(step, AtAttr::get(step.getContext(), staged.value_or(-1), input.getType(),
                                           input.getSpace())))))
        return failure();
    }
    return success();
  }

  LogicalResult verify(Operation *op, AtAttr slice) const {
    int64_t size = sizes[static_cast<unsigned>(slice.getSpace())];
    ArrayRef<int64_t> shape = slice.getType().getShape();
    if (slice.getOffset() >= 0 && isAddressable(shape) &&
        byteSize(slice.getType()) <= size - slice.getOffset())
      return success();
    return op->emitOpError("has the slice ")
           << slice << ", but the arena of the space " << stringifyEnum(slice.getSpace()) << " has "
           << size << " bytes (step_c2)";
  }

  LogicalResult verify(Operation *op, ArrayRef<AtAttr> slices) const {
    return success(
        llvm::all_of(slices, [&](AtAttr slice) { return succeeded(verify(op, slice)); }));
  }

private:
  std::array<int64_t, getMaxEnumValForMemorySpace() + 1> sizes;
  int64_t staging = 0;
};

} // namespace

/// Verifies that scratch memory has a size, of which 0 means none.
static LogicalResult verifyScratch(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<LaunchOp, CallOp, RepeatOp>([](auto run) -> LogicalResult {
        if (static_cast<int64_t>(run.getScratchBytes()) >= 0)
          return success();
        return run.emitOpError("has scratch memory of ")
               << static_cast<int64_t>(run.getScratchBytes()) << " bytes (step_c2)";
      })
      .Default(success());
}

LogicalResult StepOp::verifyRegions() {
  const ArenaSizes arenas(*this);
  if (failed(arenas.verifyInputs(*this)) ||
      failed(arenas.verify(*this, llvm::to_vector(getOutputs().getAsRange<AtAttr>()))))
    return failure();
  WorkInFlight work;
  for (Operation &op : getBody().front()) {
    if (failed(verifyScratch(&op)))
      return failure();
    StepAccess access(&op);
    if (failed(arenas.verify(&op, access.reads)) || failed(arenas.verify(&op, access.results)) ||
        failed(arenas.verify(&op, access.getWrites())) || failed(work.visit(&op, access)))
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
    if (failed(verifyScratch(&op)))
      return failure();
    StepAccess inner(&op);
    for (AtAttr slice : llvm::concat<AtAttr>(inner.reads, inner.getWrites())) {
      const int64_t moved = llvm::checkedMul(last, slice.getStride()).value_or(INT64_MIN);
      const int64_t bytes =
          isAddressable(slice.getType().getShape()) ? byteSize(slice.getType()) : INT64_MAX;
      if (slice.getOffset() < 0 || moved < -slice.getOffset() ||
          saturatingSum({slice.getOffset(), std::max<int64_t>(moved, 0), bytes}) == INT64_MAX)
        return op.emitOpError("accesses ")
               << slice << ", which 64 bits cannot address in all iterations (repeat_c2)";
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
