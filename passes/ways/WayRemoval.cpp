//===- WayRemoval.cpp - Reduction of peak memory by calls without packed operands ------------===//

#include "passes/ways/WayRemoval.h"

#include "ir/attributes/DiscardableAttributes.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mtc;

int64_t WayRemoval::scratchAsStored(LibraryCallOpInterface call) const {
  const Attribute way = call->removeAttr(wayAttribute);
  const int64_t bytes = target.getScratchBytes(call, std::nullopt);
  call->setAttr(wayAttribute, way);
  return bytes;
}

FailureOr<std::optional<PeakReducer::Offer>> WayRemoval::findOffer(int64_t) {
  offered = nullptr;
  Operation *op = goal.getPeakOperation();
  auto call = dyn_cast<LibraryCallOpInterface>(op);
  if (!call || !call->hasAttr(wayAttribute) || refused.contains(op))
    return std::optional<Offer>();
  const int64_t bytes = goal.function[op].scratchBytes - scratchAsStored(call);
  if (!goal.isWorthwhile(bytes))
    return std::optional<Offer>();
  offered = call;
  const double slowdown = call->getAttrOfType<CallWayAttr>(wayAttribute).getSlowdownAsStored();
  return std::optional(Offer{bytes, (slowdown - 1) * times.of(op)});
}

/// Changes the call and, while as many bytes are live at another such call, that one, too.
FailureOr<bool> WayRemoval::take() {
  const int64_t before = goal.liveBytes();
  bool isTaken = false;
  while (offered && goal.liveBytes() == before) {
    const OrderScore score = goal.score();
    const Attribute way = offered->removeAttr(wayAttribute);
    listeners.notifyOperationModified(offered);
    FailureOr<int64_t> excess = goal.findExcess();
    if (failed(excess))
      return failure();
    if (!(goal.score() < score)) {
      offered->setAttr(wayAttribute, way);
      listeners.notifyOperationModified(offered);
      refused.insert(offered);
      if (failed(goal.analysis.update()))
        return failure();
      return isTaken;
    }
    changed.push_back(offered->getLoc());
    refused.clear();
    isTaken = true;
    if (*excess <= 0)
      break;
    if (failed(findOffer(*excess)))
      return failure();
  }
  return isTaken;
}

void WayRemoval::report() const {
  for (Location loc : changed)
    remark::passed(loc, remark::RemarkOpts::name("stored-operands").category("mtc-fit"))
        << remark::add("the call reads its operands as stored, in less scratch memory");
}
