//===- TileExchanges.cpp - Tiles of contractions and their exchanges --------------------------===//

#include "passes/Passes.h"
#include "passes/overlap/ExchangeTiler.h"

#include "mlir/IR/Remarks.h"

namespace mtc {
#define GEN_PASS_DEF_TILEEXCHANGES
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

class TileExchangesPass : public mtc::impl::TileExchangesBase<TileExchangesPass> {
public:
  using TileExchangesBase::TileExchangesBase;

private:
  void runOnOperation() override {
    ProgramOp program = ProgramOp::find(getOperation());
    if (tiles == 1 || !program || program.getSharingRanks() == 1)
      return;
    OperationTimes times(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      const int64_t count = ExchangeTiler(function, times, tiles).run();
      exchanges += count;
      if (count)
        remark::passed(function.getLoc(),
                       remark::RemarkOpts::name("tiled").category("mtc-tile-exchanges"))
            << remark::add("{0} has {1} exchanges in tiles", function.getSymName(), count);
    }
  }
};

} // namespace
