//===- StepAccess.cpp - Memory accesses of operations in a step -------------------------------===//

#include "ir/steps/StepAccess.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mtc;

int64_t CallShapes::spanOf(ArrayRef<int64_t> extents, ArrayRef<int64_t> strides) {
  if (llvm::is_contained(extents, 0))
    return 0;
  int64_t last = 0;
  for (auto [extent, stride] : llvm::zip_equal(extents, strides))
    last += (extent - 1) * stride;
  return last + 1;
}

/// Returns the ranges that a call accesses in its slices. A slice has the size of its value, but
/// strided operands may extend beyond it.
static SmallVector<AtAttr> spansOf(ArrayAttr slices, ArrayRef<CallShapes::Shape> shapes) {
  SmallVector<AtAttr> spans;
  for (auto [slice, shape] : llvm::zip_equal(slices.getAsRange<AtAttr>(), shapes))
    spans.push_back(shape.span ? AtAttr::get(slice.getContext(), slice.getOffset(),
                                             RankedTensorType::get(
                                                 {*shape.span}, slice.getType().getElementType()),
                                             slice.getSpace(), slice.getStride())
                               : slice);
  return spans;
}

StepAccess::StepAccess(Operation *op) {
  auto readRun = [&](auto run) {
    llvm::append_range(results, run.getOutputs().template getAsRange<AtAttr>());
    if (auto bytes = static_cast<int64_t>(run.getScratchBytes()); bytes > 0)
      scratch = AtAttr::get(op->getContext(), run.getScratchOffset(),
                            RankedTensorType::get({bytes}, IntegerType::get(op->getContext(), 8)));
    lastUses = run.getLastUses().value_or(ArrayRef<int64_t>());
    dependencies = run.getDependencies();
  };
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](LaunchOp launch) {
        llvm::append_range(reads, launch.getInputs().getAsRange<AtAttr>());
        readRun(launch);
        written = results;
      })
      .Case([&](RepeatOp repeat) {
        llvm::append_range(reads, repeat.getInputs().getAsRange<AtAttr>());
        readRun(repeat);
        written = results;
      })
      .Case([&](CallOp call) {
        CallShapes shapes = call.getCall().getShapes();
        reads = spansOf(call.getInputs(), shapes.operands);
        readRun(call);
        written = spansOf(call.getOutputs(), shapes.results);
      })
      .Case<TransferOp, AsyncTransferOp, AsyncLaunchOp>([&](auto work) {
        llvm::append_range(reads, work.getInputs().template getAsRange<AtAttr>());
        llvm::append_range(results, work.getOutputs().template getAsRange<AtAttr>());
        written = results;
        lastUses = work.getLastUses().value_or(ArrayRef<int64_t>());
        dependencies = work.getDependencies();
      })
      .Case<CopyOp, AsyncCopyOp>([&](auto copy) {
        reads.push_back(copy.getSource());
        results.push_back(copy.getDestination());
        written = results;
        lastUses = copy.getLastUses().value_or(ArrayRef<int64_t>());
        dependencies = copy.getDependencies();
      });
}

SmallVector<AtAttr> StepAccess::getWrites() const {
  SmallVector<AtAttr> writes = written;
  if (scratch)
    writes.push_back(scratch);
  return writes;
}

AccessedRanges::AccessedRanges(const StepAccess &access) {
  for (AtAttr slice : access.getWrites())
    ranges.push_back(ByteRange(slice));
  writes = ranges.size();
  for (AtAttr slice : access.reads)
    ranges.push_back(ByteRange(slice));
}

bool AccessedRanges::conflictsWith(const AccessedRanges &other) const {
  auto overlap = [](ArrayRef<ByteRange> one, ArrayRef<ByteRange> two) {
    return llvm::any_of(one, [&](const ByteRange &range) {
      return llvm::any_of(two, [&](const ByteRange &each) { return range.overlaps(each); });
    });
  };
  return overlap(getWrites(), other.ranges) ||
         overlap(ArrayRef(ranges).drop_front(writes), other.getWrites());
}

void mtc::setLastUses(Operation *op, ArrayRef<int64_t> lastUses) {
  llvm::TypeSwitch<Operation *>(op)
      .Case<LaunchOp, AsyncLaunchOp, CallOp, CopyOp, AsyncCopyOp, TransferOp, AsyncTransferOp,
            RepeatOp>([&](auto access) { access.setLastUses(lastUses); });
}

std::optional<AsyncWork> AsyncWork::of(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<AsyncWork>>(op)
      .Case<AsyncCopyOp, AsyncTransferOp, AsyncLaunchOp>([](auto work) {
        return AsyncWork{static_cast<int64_t>(work.getStream()), work.getToken()};
      })
      .Default(std::nullopt);
}
