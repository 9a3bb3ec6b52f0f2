//===- OverlapExchanges.cpp - Overlaps exchanges between ranks with computation ---------------===//

#include "passes/Passes.h"
#include "passes/kernels/KernelEditing.h"
#include "passes/memory/OrderText.h"
#include "passes/overlap/ExchangeSchedule.h"

#include "mlir/IR/Remarks.h"

namespace mtc {
#define GEN_PASS_DEF_OVERLAPEXCHANGES
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

class OverlapExchangesPass : public mtc::impl::OverlapExchangesBase<OverlapExchangesPass> {
public:
  using OverlapExchangesBase::OverlapExchangesBase;

private:
  void runOnOperation() override {
    ProgramOp program = ProgramOp::find(getOperation());
    if (!program || !program.getRanks())
      return;
    MemoryAnalysis analysis(getOperation());
    OperationTimes times(getOperation());
    FailureOr<int64_t> arena = analysis.findArenaBytes();
    if (failed(arena))
      return signalPassFailure();
    allowed = std::max<int64_t>(*arena, memory);
    for (const FunctionMemory &function : analysis.getFunctions())
      if (!function.hasSeparateArena() && failed(schedule(function, analysis, times)))
        return signalPassFailure();
  }

  LogicalResult schedule(const FunctionMemory &function, MemoryAnalysis &analysis,
                         OperationTimes &times) {
    Block &block = function.getFunction().front();
    if (llvm::none_of(block, [&](Operation &op) { return isExchange(&op, times); }))
      return success();
    const double before = ExchangeSchedule(function, times, std::nullopt).run();
    const SmallVector<Operation *> holds = insertHolds(block, analysis, times);
    if (failed(analysis.update()))
      return failure();
    const SmallVector<Operation *, 0> text = textOf(block);
    int64_t limit = allowed - analysis.getFixedBytes();
    bool isKept = false;
    // The layout of the arena is known only after the moves. If it exceeds the arena, the moves are
    // repeated with less memory.
    for (int attempt = 0; attempt < maxAttempts && !isKept; ++attempt) {
      ExchangeSchedule exchanges(function, times, limit);
      const double after = exchanges.run();
      if (after > minGain * before)
        break;
      setText(block, reordered(text, exchanges.getModel()), analysis);
      FailureOr<int64_t> bytes = analysis.findArenaBytes(allowed);
      if (failed(bytes))
        return failure();
      isKept = *bytes <= allowed;
      if (isKept) {
        moves += exchanges.getMoves();
        remark::passed(function.getFunction().getLoc(),
                       remark::RemarkOpts::name("overlapped").category("mtc-overlap-exchanges"))
            << remark::add("{0} takes {1} us instead of {2} us, by {3} moves",
                           function.getFunction().getSymName(), std::llround(1e6 * after),
                           std::llround(1e6 * before), exchanges.getMoves());
        break;
      }
      setText(block, text, analysis);
      if (failed(analysis.update()))
        return failure();
      limit -= std::max(2 * (*bytes - allowed), limit / 16);
    }
    eraseUselessHolds(holds, analysis, /*areAll=*/!isKept);
    return analysis.update();
  }

  /// Holds the sent values of each exchange, so far only until the exchange.
  static SmallVector<Operation *> insertHolds(Block &block, MemoryAnalysis &analysis,
                                              OperationTimes &times) {
    SmallVector<Operation *> holds;
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (!isExchange(&op, times))
        continue;
      // Variables and arguments have memory of their own.
      SmallVector<Value> values = llvm::filter_to_vector(op.getOperands(), [](Value value) {
        Operation *source = rootOf(value).getDefiningOp();
        return source && !isa<ReadOp>(source);
      });
      if (values.empty())
        continue;
      OpBuilder builder(op.getContext());
      builder.setInsertionPointAfter(&op);
      holds.push_back(HoldOp::create(builder, op.getLoc(), values));
      analysis.notifyOperationInserted(holds.back(), {});
    }
    return holds;
  }

  /// Erases the holds directly after their exchanges.
  static void eraseUselessHolds(ArrayRef<Operation *> holds, MemoryAnalysis &analysis,
                                bool areAll) {
    for (Operation *hold : holds)
      if (areAll || isa_and_present<CollectiveOpInterface>(hold->getPrevNode())) {
        analysis.notifyOperationErased(hold);
        hold->erase();
      }
  }

  static constexpr int maxAttempts = 6;
  static constexpr double minGain = 0.999; ///< of the time that a function takes afterwards
  int64_t allowed = 0;
};

} // namespace
