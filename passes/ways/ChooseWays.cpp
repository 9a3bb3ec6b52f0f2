//===- ChooseWays.cpp - Fastest ways to compute library calls ---------------------------------===//

#include "ir/attributes/DiscardableAttributes.h"
#include "ir/interfaces/TargetInfo.h"
#include "passes/Passes.h"

#include "mlir/IR/Remarks.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <functional>
#include <map>

namespace mtc {
#define GEN_PASS_DEF_CHOOSEWAYS
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

class ChooseWaysPass : public mtc::impl::ChooseWaysBase<ChooseWaysPass> {
  void runOnOperation() override {
    const TargetInfo target = TargetInfo::of(getOperation());
    // The target measures for a limited time: the largest first, and of equal ones the first.
    std::multimap<int64_t, LibraryCallOpInterface, std::greater<>> calls;
    getOperation().walk([&](LibraryCallOpInterface call) {
      call->removeAttr(wayAttribute);
      if (call.isLibraryCall())
        calls.emplace(call.describeCall(std::nullopt).getCost().flops, call);
    });
    for (auto [flops, call] : calls) {
      const ChosenWay chosen = target.chooseWay(call);
      if (!chosen.way)
        continue;
      // In hundredths, which are more precise than a measurement.
      const double speedup = std::round(100 * chosen.speedup) / 100;
      call->setAttr(wayAttribute,
                    CallWayAttr::get(&getContext(), *chosen.way,
                                     Builder(&getContext()).getF64FloatAttr(speedup)));
      remark::passed(call.getLoc(), remark::RemarkOpts::name("way").category("mtc-choose-ways"))
          << remark::add("{0} is {1} x as fast as reading the operands as stored",
                         stringifyEnum(*chosen.way), llvm::formatv("{0:f2}", speedup).str());
    }
  }
};

} // namespace
