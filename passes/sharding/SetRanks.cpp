//===- SetRanks.cpp - Sets the number of ranks of the program ---------------------------------===//

#include "passes/Passes.h"
#include "passes/sharding/ShardingOptions.h"

namespace mtc {
#define GEN_PASS_DEF_SETRANKS
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

struct SetRanksPass : PassWithOptions<mtc::impl::SetRanksBase<SetRanksPass>, ShardingOptions> {
  using PassWithOptions::PassWithOptions;

  void runOnOperation() override {
    FailureOr<ShardingOptions> options = readOptions();
    if (failed(options))
      return signalPassFailure();
    const int64_t ranks = options->ranks.value_or(0);
    WalkResult result = getOperation().walk([&](AverageOverRanksOp op) {
      if (static_cast<int64_t>(op.getRanks()) == ranks)
        return WalkResult::advance();
      emitError(op.getLoc(), "--ranks ")
          << ranks << ": the model was converted for " << op.getRanks()
          << " ranks (--batch-norm sync); expected the same number";
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    if (options->hasRanks())
      ProgramOp::findOrAdd(getOperation())
          .setRanksAttr(RanksAttr::get(
              &getContext(), ranks, symbolizeShard(options->shard).value_or(Shard::None),
              options->network.empty() ? "shm" : StringRef(options->network),
              symbolizeReduce(options->reduce).value_or(Reduce::Every)));
  }
};

} // namespace

std::unique_ptr<Pass> mtc::createSetRanks(const ShardingOptions &options) {
  return std::make_unique<SetRanksPass>(options);
}
