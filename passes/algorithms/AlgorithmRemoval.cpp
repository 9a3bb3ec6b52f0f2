//===- AlgorithmRemoval.cpp - Reduction of peak memory by calls without packed operands -------===//

#include "passes/algorithms/AlgorithmRemoval.h"

#include "ir/attributes/DiscardableAttributes.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mtc;

int64_t AlgorithmRemoval::scratchAsStored(LibraryCallOpInterface call) const {
  const Attribute algorithm = call->removeAttr(algorithmAttribute);
  const int64_t bytes = target.getScratchBytes(call, std::nullopt);
  call->setAttr(algorithmAttribute, algorithm);
  return bytes;
}

FailureOr<std::optional<PeakReducer::Candidate>> AlgorithmRemoval::findCandidate(int64_t) {
  candidate = nullptr;
  Operation *op = budget.getPeakOperation();
  auto call = dyn_cast<LibraryCallOpInterface>(op);
  if (!call || !call->hasAttr(algorithmAttribute) || call->hasAttr(fixedOrderAttribute) ||
      refused.contains(op))
    return std::optional<Candidate>();
  const int64_t bytes = budget.function[op].scratchBytes - scratchAsStored(call);
  if (!budget.isWorthwhile(bytes))
    return std::optional<Candidate>();
  candidate = call;
  const double slowdown =
      call->getAttrOfType<CallAlgorithmAttr>(algorithmAttribute).getSlowdownAsStored();
  return std::optional(Candidate{bytes, (slowdown - 1) * times.of(op)});
}

/// Changes the call. As long as just as many bytes are live at another such call, changes that
/// call, too.
FailureOr<bool> AlgorithmRemoval::applyCandidate() {
  const int64_t before = budget.liveBytes();
  bool isTaken = false;
  while (candidate && budget.liveBytes() == before) {
    const OrderScore score = budget.score();
    const Attribute algorithm = candidate->removeAttr(algorithmAttribute);
    listeners.notifyOperationModified(candidate);
    FailureOr<int64_t> excess = budget.findExcess();
    if (failed(excess))
      return failure();
    if (!(budget.score() < score)) {
      candidate->setAttr(algorithmAttribute, algorithm);
      listeners.notifyOperationModified(candidate);
      refused.insert(candidate);
      if (failed(budget.analysis.update()))
        return failure();
      return isTaken;
    }
    changed.push_back(candidate->getLoc());
    refused.clear();
    isTaken = true;
    if (*excess <= 0)
      break;
    if (failed(findCandidate(*excess)))
      return failure();
  }
  return isTaken;
}

void AlgorithmRemoval::report() const {
  for (Location loc : changed)
    remark::passed(loc, remark::RemarkOpts::name("stored-operands").category("mtc-fit"))
        << remark::add("the call reads its operands as stored, in less scratch memory");
}
