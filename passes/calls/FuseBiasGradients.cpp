//===- FuseBiasGradients.cpp - Fusion of bias gradients into library calls --------------------===//
//
// Runs after `mtc-fuse-column-sums`, which handles the sums over matrices that other kernels visit.
//
//===------------------------------------------------------------------------------------------===//

#include "ir/attributes/OperandLayout.h"
#include "ir/builders/Shape.h"
#include "ir/builders/TensorBuilder.h"
#include "passes/Passes.h"
#include "passes/calls/CallEditing.h"
#include "passes/kernels/KernelEditing.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Remarks.h"

namespace mtc {
#define GEN_PASS_DEF_FUSEBIASGRADIENTS
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

/// A strided range of kept elements: `count` elements, `step` apart in the tensor and `place` apart
/// in the result.
struct Extent {
  int64_t count, step, place;
  bool operator==(const Extent &o) const {
    return count == o.count && step == o.step && place == o.place;
  }
};

/// Sorts extents by step and merges those that are contiguous.
SmallVector<Extent> merged(SmallVector<Extent> extents) {
  llvm::sort(extents, [](const Extent &a, const Extent &b) { return a.step < b.step; });
  SmallVector<Extent> result;
  for (const Extent &e : extents) {
    if (e.count == 1)
      continue;
    Extent *last = result.empty() ? nullptr : &result.back();
    if (last && e.step == last->step * last->count && e.place == last->place * last->count)
      last->count *= e.count;
    else
      result.push_back(e);
  }
  return result;
}

/// A kernel that only sums a tensor over some of its dims.
struct Sums {
  KernelOp kernel;
  Value summed; // Every element is read exactly once.
  SmallVector<Extent> kept;
};

std::optional<Sums> findSums(KernelOp kernel) {
  Block &body = kernel.getBody().front();
  KernelYieldOp yield = yieldOf(kernel);
  if (kernel.getReduced().empty() || kernel->getNumResults() != 1 || !yield.getAdded().empty() ||
      !llvm::hasNItems(body, 3) || isAddendOfRanks(kernel))
    return std::nullopt;
  auto load = dyn_cast<KernelLoadOp>(body.front());
  auto reduce = load ? dyn_cast<KernelReduceOp>(load->getNextNode()) : KernelReduceOp();
  if (!reduce || reduce.getKind() != ReductionKind::Add || !isa<FloatType>(reduce.getType()) ||
      yield.getValues().front() != reduce.getResult())
    return std::nullopt;
  auto type = cast<RankedTensorType>(kernel->getResult(0).getType());
  std::optional<IterationOffsets> read = offsetsOf(kernel, load),
                                  stored = offsetsOf(storedAt(kernel, 0), type.getShape(),
                                                     kernel.getSpace());
  Sums sums{kernel, rootOf(inputOf(kernel, load)), {}};
  auto source = cast<RankedTensorType>(sums.summed.getType());
  if (!read || !stored || read->offset != 0 || stored->offset != 0 ||
      source.getElementType() != type.getElementType() ||
      iterationsOf(kernel) != source.getNumElements())
    return std::nullopt;
  SmallVector<Extent> all;
  for (auto [dim, count] : llvm::enumerate(kernel.getSpace())) {
    all.push_back({count, read->steps[dim], 1});
    if (!llvm::is_contained(kernel.getReduced(), static_cast<int64_t>(dim)))
      sums.kept.push_back({count, read->steps[dim], stored->steps[dim]});
  }
  // The loads must read each element exactly once.
  int64_t next = 1;
  llvm::sort(all, [](const Extent &a, const Extent &b) { return a.step < b.step; });
  for (const Extent &extent : all) {
    if (extent.count != 1 && extent.step != next)
      return std::nullopt;
    next *= extent.count;
  }
  sums.kept = merged(sums.kept);
  return sums;
}

/// Returns the axes of `value`, which is the summed tensor or a view of it, that the sum keeps.
/// Returns nothing if the view does not cover the tensor, or if reducing its other axes yields
/// different sums or another order.
std::optional<SmallVector<int64_t>> keptAxes(const Sums &sums, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> strides = stridesOf(value), kept;
  auto isIn = [](int64_t count, int64_t step, const Extent &extent) {
    return step >= extent.step && step * count <= extent.step * extent.count;
  };
  if (type.getNumElements() != cast<RankedTensorType>(sums.summed.getType()).getNumElements() ||
      offsetInBuffer(value) != 0)
    return std::nullopt;
  SmallVector<Extent> all, own;
  for (auto [axis, count] : llvm::enumerate(type.getShape())) {
    all.push_back({count, strides[axis], strides[axis]});
    if (llvm::any_of(sums.kept, [&](const Extent &e) { return isIn(count, strides[axis], e); }))
      kept.push_back(axis);
  }
  all = merged(all);
  if (all.size() > 1 || (!all.empty() && all.front().step != 1))
    return std::nullopt;
  int64_t place = 1;
  for (int64_t axis : llvm::reverse(kept)) {
    own.push_back({type.getDimSize(axis), strides[axis], place});
    place *= type.getDimSize(axis);
  }
  if (merged(own) != sums.kept)
    return std::nullopt;
  return kept;
}

class FuseBiasGradientsPass : public mtc::impl::FuseBiasGradientsBase<FuseBiasGradientsPass> {
  void runOnOperation() override {
    if (keepsSumOrder(getOperation()))
      return; // The library chooses the order of the sums by the shape of the contraction.
    target = TargetInfo::of(getOperation());
    for (KernelOp kernel : llvm::to_vector(getOperation().getOps<KernelOp>()))
      if (std::optional<Sums> sums = findSums(kernel)) {
        StringRef reason = fuse(*sums);
        if (!reason.empty())
          remark::missed(kernel.getLoc(),
                         remark::RemarkOpts::name("not-fused").category(categoryName))
              << remark::reason("{0}", reason);
      }
  }

  /// kernel(x) that sums x's rows, and call(x, ..) => call(x, .., summing x). Returns the reason if
  /// no call can compute the sums.
  StringRef fuse(const Sums &sums) {
    StringRef reason = "no library call reads or returns the rows";
    for (auto &[call, value] : candidates(sums)) {
      std::optional<SmallVector<int64_t>> kept = keptAxes(sums, value);
      if (!kept)
        continue;
      OpBuilder builder(call);
      auto summing = dyn_cast_or_null<LibraryCallOpInterface>(
          cast<EpilogueOpInterface>(*call).buildSumming(builder, value, *kept));
      if (!summing) {
        reason = "the library does not support sums in this call";
        continue;
      }
      if (!takesOperandLayouts(summing) || isSupportedLess(target, summing, call)) {
        reason = "the library does not support it, or is slower";
      } else if (!isInTime(sums.kernel, call, summing)) {
        reason = "the sum is needed before the call can run";
      } else {
        replace(sums.kernel, call, summing);
        return {};
      }
      summing->erase();
    }
    return reason;
  }

  /// Returns the calls that write or read the summed tensor, each with the operand or result that
  /// is or views it.
  static SmallVector<std::pair<LibraryCallOpInterface, Value>> candidates(const Sums &sums) {
    SmallVector<LibraryCallOpInterface> calls;
    auto add = [&](Operation *op) {
      auto call = dyn_cast_or_null<LibraryCallOpInterface>(op);
      if (call && call.isLibraryCall() && isa<EpilogueOpInterface>(op) &&
          !llvm::is_contained(calls, call))
        calls.push_back(call);
    };
    add(sums.summed.getDefiningOp());
    SmallVector<Value> values = {sums.summed};
    while (!values.empty())
      for (Operation *user : values.pop_back_val().getUsers()) {
        if (user->hasTrait<mtc::View>())
          values.push_back(user->getResult(0));
        else
          add(user);
      }
    llvm::sort(calls, [](auto a, auto b) { return standsBefore(a, b); });
    SmallVector<std::pair<LibraryCallOpInterface, Value>> found;
    for (LibraryCallOpInterface call : calls) {
      if (call == sums.summed.getDefiningOp())
        found.push_back({call, sums.summed});
      for (Value operand : call->getOperands())
        if (rootOf(operand) == sums.summed)
          found.push_back({call, operand});
    }
    return found;
  }

  /// Moves the call before the users of the sum, if necessary; false if its operands are not
  /// available there.
  static bool isInTime(KernelOp kernel, LibraryCallOpInterface call,
                       LibraryCallOpInterface summing) {
    auto readsBefore = [&](Operation *user) { return standsBefore(user, call); };
    if (llvm::none_of(kernel->getUsers(), readsBefore))
      return true;
    SmallVector<Operation *> moved = {summing};
    for (size_t i = 0; i < moved.size(); ++i)
      for (Value operand : moved[i]->getOperands()) {
        Operation *op = operand.getDefiningOp();
        if (!op || standsBefore(op, kernel))
          continue;
        if (!op->hasTrait<mtc::View>() && !makeAvailable(operand, kernel))
          return false;
        if (op->hasTrait<mtc::View>() && !llvm::is_contained(moved, op))
          moved.push_back(op);
      }
    llvm::sort(moved, standsBefore);
    for (Operation *op : moved)
      op->moveBefore(kernel);
    return true;
  }

  static void replace(KernelOp kernel, LibraryCallOpInterface call,
                      LibraryCallOpInterface summing) {
    OpBuilder builder(kernel);
    builder.setInsertionPointAfter(summing);
    summing->setLoc(FusedLoc::get(builder.getContext(), {call.getLoc(), kernel.getLoc()}));
    Value sums = summing->getResults().back(), old = kernel->getResult(0);
    if (sums.getType() != old.getType())
      sums = ReshapeOp::create(builder, kernel.getLoc(), old.getType(), sums);
    old.replaceAllUsesWith(sums);
    remark::passed(summing.getLoc(), remark::RemarkOpts::name("fused").category(categoryName))
        << remark::metric("sums", cast<RankedTensorType>(old.getType()).getNumElements());
    kernel.erase();
    call->replaceAllUsesWith(summing->getResults().drop_back());
    call->erase();
  }

  static constexpr StringLiteral categoryName = "mtc-fuse-bias-gradients";
  TargetInfo target;
};

} // namespace
