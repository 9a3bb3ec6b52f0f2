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
    const int64_t different = options->ranks.value_or(0) / options->getSharingRanks();
    WalkResult result = getOperation().walk([&](AverageOverRanksOp op) {
      if (static_cast<int64_t>(op.getRanks()) == different)
        return WalkResult::advance();
      emitError(op.getLoc(), "--ranks ")
          << options->ranks.value_or(0) << ": " << different
          << " ranks have different samples, but the model was converted for " << op.getRanks()
          << " (--batch-norm sync); expected the same number";
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    // Pieces of one rank would only be copied. Without other groups, they test a transport.
    if ((options->getSharingRanks() > 1 || options->pipeline) && options->getDataRanks() == 1)
      options->shard = "none";
    if (options->hasRanks())
      ProgramOp::findOrAdd(getOperation())
          .setRanksAttr(RanksAttr::get(
              &getContext(), *options->ranks, options->tensor, options->tensorChunks.value_or(0),
              options->context, options->contextChunks.value_or(0),
              symbolizeShard(options->shard).value_or(Shard::None),
              options->network.empty() ? "shm" : StringRef(options->network),
              symbolizeReduce(options->reduce).value_or(Reduce::Every),
              options->pipeline.value_or(0)));
  }
};

} // namespace

std::unique_ptr<Pass> mtc::createSetRanks(const ShardingOptions &options) {
  return std::make_unique<SetRanksPass>(options);
}
