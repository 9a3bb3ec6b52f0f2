//===- ChooseAlgorithms.cpp - Fastest algorithms of library calls -----------------------------===//

#include "ir/attributes/DiscardableAttributes.h"
#include "ir/interfaces/TargetInfo.h"
#include "passes/Passes.h"

#include "mlir/IR/Remarks.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <functional>
#include <map>

namespace mtc {
#define GEN_PASS_DEF_CHOOSEALGORITHMS
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

class ChooseAlgorithmsPass : public mtc::impl::ChooseAlgorithmsBase<ChooseAlgorithmsPass> {
  void runOnOperation() override {
    const TargetInfo target = TargetInfo::of(getOperation());
    // The target measures for a limited time, so the largest calls are measured first, and equal
    // ones in their order.
    std::multimap<int64_t, LibraryCallOpInterface, std::greater<>> calls;
    getOperation().walk([&](LibraryCallOpInterface call) {
      call->removeAttr(algorithmAttribute);
      if (call.isLibraryCall())
        calls.emplace(call.describeCall(std::nullopt).getCost().flops, call);
    });
    for (auto [flops, call] : calls) {
      const ChosenAlgorithm chosen = target.chooseAlgorithm(call);
      if (!chosen.algorithm)
        continue;
      // The speedup is rounded to hundredths, which are more precise than a measurement.
      const double speedup = std::round(100 * chosen.speedup) / 100;
      call->setAttr(algorithmAttribute,
                    CallAlgorithmAttr::get(&getContext(), *chosen.algorithm,
                                           Builder(&getContext()).getF64FloatAttr(speedup)));
      remark::passed(call.getLoc(),
                     remark::RemarkOpts::name("algorithm").category("mtc-choose-algorithms"))
          << remark::add("{0} is {1} x as fast as reading the operands as stored",
                         stringifyEnum(*chosen.algorithm), llvm::formatv("{0:f2}", speedup).str());
    }
  }
};

} // namespace
