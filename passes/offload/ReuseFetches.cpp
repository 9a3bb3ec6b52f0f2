//===- ReuseFetches.cpp - Updates read parameters that are on the device ----------------------===//

#include "passes/Passes.h"
#include "passes/memory/MemoryAnalysis.h"
#include "passes/offload/EditLog.h"

#include "mlir/IR/Remarks.h"

namespace mtc {
#define GEN_PASS_DEF_REUSEFETCHES
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

/// Redirects the operands of a function's kernels to copies that other operations have fetched.
class FetchReuse {
public:
  FetchReuse(const FunctionMemory &function, int64_t limit)
      : limit(limit), live(function.getLive()) {
    for (const PlannedOperation *op : function.getOrder())
      visit(*op);
  }

  /// The operands, with the copies to read.
  ArrayRef<std::pair<OpOperand *, Value>> getUses() const { return uses; }

private:
  void visit(const PlannedOperation &op) {
    if (auto move = dyn_cast<MoveOp>(op.op); move && move.getSpace() == MemorySpace::Device)
      if (auto read = move.getValue().getDefiningOp<ReadOp>()) {
        const PlannedValue &copy = op.results.front();
        fetches[read.getVariableAttr()] = {copy.value, copy.bytes, copy.lastUse};
      }
    if (op.runsInWindows() && !op.isOnHost())
      for (OpOperand &operand : op.op->getOpOperands())
        if (auto read = operand.get().getDefiningOp<ReadOp>())
          if (auto known = fetches.find(read.getVariableAttr()); known != fetches.end())
            reuse(known->second, operand, op.time);
    for (FlatSymbolRefAttr variable : op.written)
      fetches.erase(variable);
  }

  struct Fetch {
    Value copy;
    int64_t bytes, lastUse;
  };

  void reuse(Fetch &fetch, OpOperand &operand, int64_t time) {
    for (int64_t next = fetch.lastUse + 1; next <= time; ++next)
      if (live[next] + fetch.bytes > limit)
        return;
    for (int64_t next = fetch.lastUse + 1; next <= time; ++next)
      live[next] += fetch.bytes;
    fetch.lastUse = std::max(fetch.lastUse, time);
    uses.push_back({&operand, fetch.copy});
  }

  const int64_t limit; ///< of live bytes
  SmallVector<int64_t, 0> live;
  llvm::DenseMap<Attribute, Fetch> fetches; ///< the last one of each variable
  SmallVector<std::pair<OpOperand *, Value>, 0> uses;
};

class ReuseFetchesPass : public mtc::impl::ReuseFetchesBase<ReuseFetchesPass> {
  void runOnOperation() override {
    if (!TransferSlotsOp::find(getOperation()))
      return; // No kernel runs in windows.
    MemoryAnalysis analysis(getOperation());
    FailureOr<int64_t> arena = analysis.findArenaBytes();
    if (failed(arena))
      return signalPassFailure();
    // The layout of the arena is known only after the changes. If the arena grows, they are
    // repeated with less memory.
    int64_t limit = analysis.getLiveBytes() - analysis.getFixedBytes();
    for (int attempt = 0; attempt < maxAttempts; ++attempt) {
      EditLog edits(analysis);
      const auto [count, bytes] = apply(analysis, limit, edits);
      FailureOr<int64_t> after = analysis.findArenaBytes(*arena);
      if (failed(after))
        return signalPassFailure();
      if (*after <= *arena) {
        report(count, bytes);
        return;
      }
      edits.undoTo(0);
      if (failed(analysis.update()))
        return signalPassFailure();
      limit -= std::max(2 * (*after - *arena), limit / 16);
    }
  }

  static std::pair<size_t, int64_t> apply(const MemoryAnalysis &analysis, int64_t limit,
                                          EditLog &edits) {
    size_t count = 0;
    int64_t bytes = 0;
    for (const FunctionMemory &function : analysis.getFunctions()) {
      if (function.hasSeparateArena())
        continue;
      const FetchReuse reuse(function, limit);
      for (auto [operand, copy] : reuse.getUses()) {
        edits.setOperand(*operand, copy);
        bytes += PlannedValue::bytesOf(copy);
      }
      count += reuse.getUses().size();
    }
    return {count, bytes};
  }

  void report(size_t count, int64_t bytes) {
    if (count)
      remark::passed(getOperation().getLoc(),
                     remark::RemarkOpts::name("reused").category("mtc-reuse-fetches"))
          << remark::add("{0} operands of {1} bytes are not fetched again", count, bytes);
  }

  static constexpr int maxAttempts = 6;
};

} // namespace
