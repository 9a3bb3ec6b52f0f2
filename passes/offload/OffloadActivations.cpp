//===- OffloadActivations.cpp - Offloads activations to another memory space ------------------===//

#include "ir/interfaces/TargetInfo.h"
#include "passes/Passes.h"
#include "passes/cost/StepCost.h"
#include "passes/kernels/KernelEditing.h"
#include "passes/memory/MemoryAnalysis.h"
#include "passes/offload/MovedUses.h"
#include "passes/offload/OffloadOptions.h"

#include "mlir/IR/Remarks.h"

namespace mtc {
#define GEN_PASS_DEF_OFFLOADACTIVATIONS
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

/// Smaller copies are dominated by their start-up latency.
constexpr int64_t leastBytes = 16 << 10;

/// A value that is live at the peak but not used there. `begin` is its last use before the peak and
/// `end` its first use after it, in positions of the function's schedule.
struct Gap {
  Value value;
  int64_t bytes = 0, begin = 0, end = 0;

  /// Returns the benefit of offloading: bytes times duration.
  double worth() const { return static_cast<double>(bytes) * static_cast<double>(end - begin); }
};

class ActivationOffloader {
public:
  ActivationOffloader(ModuleOp module, int64_t budget)
      : module(module), budget(budget), analysis(module), cost(module),
        target(TargetInfo::of(module)), rewriter(module.getContext()) {
    rewriter.setListener(&analysis);
  }

  LogicalResult run() {
    for (overlaps = true;; overlaps = false) {
      FailureOr<bool> fits = moveUntilItFits();
      if (failed(fits))
        return failure();
      if (*fits || !overlaps)
        break;
      tighten();
    }
    if (!moves.empty())
      remark::passed(module.getLoc(), remark::RemarkOpts::name("moved").category("mtc-offload"))
          << remark::add("{0} values of {1} bytes are in memory space {2} between two uses",
                         moves.size(), movedBytes, stringifyEnum(target.getOffloadSpace()));
    return success();
  }

private:
  struct Move {
    HoldOp hold; ///< null if no operation runs during the copy
    MoveOp back;
    Operation *reader; ///< first user of the value moved back
  };

  FailureOr<bool> moveUntilItFits();
  const FunctionMemory *findHighest() const;
  std::optional<Gap> findGap(const FunctionMemory &function) const;
  void move(const FunctionMemory &function, const Gap &gap);
  void tighten();

  ModuleOp module;
  int64_t budget; ///< 0: as low as possible
  MemoryAnalysis analysis;
  StepCost cost;
  TargetInfo target;
  IRRewriter rewriter;
  bool overlaps = true; ///< memory is reserved while copies run
  std::vector<Move> moves;
  int64_t movedBytes = 0;
};

} // namespace

FailureOr<bool> ActivationOffloader::moveUntilItFits() {
  for (;;) {
    FailureOr<MemoryPlan> plan = analysis.getPlan();
    if (succeeded(plan) && budget && plan->peak <= budget)
      plan = analysis.getPlanWithLayout();
    if (failed(plan))
      return failure();
    if (budget && plan->peak <= budget)
      return true;
    const FunctionMemory *highest = findHighest();
    std::optional<Gap> gap = highest ? findGap(*highest) : std::nullopt;
    if (!gap)
      return !budget;
    move(*highest, *gap);
  }
}

const FunctionMemory *ActivationOffloader::findHighest() const {
  const FunctionMemory *highest = nullptr;
  auto peakOf = [](const FunctionMemory &function) {
    return function.getLive()[function.getPeakTime()];
  };
  for (const FunctionMemory &function : analysis.getFunctions())
    if (!function.isAside() && (!highest || peakOf(function) > peakOf(*highest)))
      highest = &function;
  return highest;
}

std::optional<Gap> ActivationOffloader::findGap(const FunctionMemory &function) const {
  const int64_t peak = function.getPeakTime();
  llvm::MapVector<const PlannedValue *, Gap> gaps;
  for (PlannedOperation *op : function.getOrder().take_front(peak))
    for (PlannedValue &result : op->results)
      if (op->isCompute && !isa<MoveOp>(op->op) && result.lastUse > peak &&
          result.bytes >= leastBytes && !result.buffer->fixedOffset)
        gaps.insert({&result, {result.value, result.bytes, op->time, result.lastUse}});
  for (PlannedOperation *op : function.getOrder()) {
    if (op->op->hasTrait<mtc::View>())
      continue;
    for (PlannedValue *operand : op->operands) {
      auto known = gaps.find(operand);
      if (known == gaps.end())
        continue;
      Gap &gap = known->second;
      if (op->time < peak)
        gap.begin = std::max(gap.begin, op->time);
      else if (op->time > peak)
        gap.end = std::min(gap.end, op->time);
      else
        gap.value = {}; // The value is used at the peak.
      if (isa<MoveOp>(op->op))
        gap.value = {}; // The value is already offloaded and only held until the copy has ended.
    }
  }
  std::optional<Gap> best;
  for (auto &[value, gap] : gaps)
    if (gap.value && (!best || gap.worth() > best->worth()))
      best = gap;
  return best;
}

void ActivationOffloader::move(const FunctionMemory &function, const Gap &gap) {
  // Only writes may run later than their position in the block.
  ArrayRef<PlannedOperation *> text = function.getText();
  SmallVector<Operation *> late;
  Operation *last = gap.value.getDefiningOp(), *peak = nullptr;
  for (PlannedOperation *op : text) {
    if (op->time == function.getPeakTime())
      peak = op->op;
    if (op->op->hasTrait<mtc::View>() ||
        llvm::none_of(op->operands, [&](PlannedValue *each) { return each->value == gap.value; }))
      continue;
    if (op->time < gap.end)
      last = op->op;
    else
      late.push_back(op->op);
  }
  const MemorySpace space = target.getOffloadSpace();
  auto secondsOf = [&](MemorySpace from, MemorySpace to) {
    return overlaps ? target.getTransferSeconds(from, to, gap.bytes) : 0;
  };
  // Walks operations until their estimated time covers the copy, but not past the peak.
  auto walk = [&](Operation *op, double seconds, auto next) {
    for (Operation *then = next(op); then && then != peak && seconds > 0; then = next(op)) {
      seconds -= cost.of(then).seconds();
      op = then;
    }
    return op;
  };
  rewriter.setInsertionPointAfter(last);
  Location location = gap.value.getLoc();
  auto away = MoveOp::create(rewriter, location, gap.value.getType(), gap.value, space);
  Operation *held = walk(away, secondsOf(MemorySpace::Device, space),
                         [](Operation *op) { return op->getNextNode(); });
  HoldOp hold;
  if (held != away) {
    rewriter.setInsertionPointAfter(held);
    hold = HoldOp::create(rewriter, location, ValueRange(gap.value));
  }
  rewriter.setInsertionPoint(walk(late.front(), secondsOf(space, MemorySpace::Device),
                                  [](Operation *op) { return op->getPrevNode(); }));
  auto back = MoveOp::create(rewriter, location, gap.value.getType(), away, MemorySpace::Device);

  readMoved(rewriter, late, gap.value, back);
  moves.push_back({hold, back, late.front()});
  movedBytes += gap.bytes;
}

/// Removes the memory reservations for the duration of copies.
void ActivationOffloader::tighten() {
  for (Move &each : moves) {
    if (each.hold)
      rewriter.eraseOp(std::exchange(each.hold, HoldOp()));
    // Insert before the views of the moved value, which precede their users.
    Operation *place = each.reader;
    for (Operation *user : each.back->getUsers())
      if (user->isBeforeInBlock(place))
        place = user;
    if (each.back->getNextNode() != place)
      rewriter.moveOpBefore(each.back, place);
  }
}

namespace {

class OffloadActivationsPass
    : public PassWithOptions<mtc::impl::OffloadActivationsBase<OffloadActivationsPass>,
                             OffloadOptions> {
public:
  using PassWithOptions::PassWithOptions;

private:
  void runOnOperation() override {
    FailureOr<OffloadOptions> options = readOptions();
    if (failed(options))
      return signalPassFailure();
    const bool isAsked =
        options->takes("activations") || (options->isAutomatic() && options->budget);
    if (isAsked && failed(ActivationOffloader(getOperation(), options->budget).run()))
      signalPassFailure();
  }
};

} // namespace

std::unique_ptr<Pass> mtc::createOffloadActivations(const OffloadOptions &options) {
  return std::make_unique<OffloadActivationsPass>(options);
}
