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
    if (options->ranks)
      ProgramOp::findOrAdd(getOperation())
          .setRanksAttr(RanksAttr::get(&getContext(), options->ranks,
                                       symbolizeShard(options->shard).value_or(Shard::None),
                                       options->network));
  }
};

} // namespace

std::unique_ptr<Pass> mtc::createSetRanks(const ShardingOptions &options) {
  return std::make_unique<SetRanksPass>(options);
}
