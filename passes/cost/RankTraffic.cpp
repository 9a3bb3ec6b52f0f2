//===- RankTraffic.cpp - Bytes that ranks exchange in a step ----------------------------------===//

#include "passes/cost/RankTraffic.h"

#include "ir/ReservedNames.h"
#include "passes/cost/Network.h"

using namespace mlir;
using namespace mtc;

static CollectiveAttr collectiveOf(Operation &op) {
  if (auto transfer = dyn_cast<TransferOp>(op))
    return transfer.getCollective();
  if (auto transfer = dyn_cast<AsyncTransferOp>(op))
    return transfer.getCollective();
  return {};
}

StringRef mtc::nameOfGroup(CollectiveAttr collective, ProgramOp program) {
  const RankGroup group{collective.getRanks(), collective.getStride()};
  if (group.count > 1 && group == program.getTensorGroup())
    return "tensor";
  if (group.count > 1 && group == program.getStageGroup())
    return "stage";
  return group.count > 1 && group == program.getContextGroup() ? "context" : "data";
}

SmallVector<RankTraffic, 2> mtc::findTraffic(ModuleOp placed) {
  SmallVector<RankTraffic, 2> all;
  ProgramOp program = ProgramOp::find(placed);
  if (!program || !program.getRanks())
    return all;
  for (auto step : placed.getOps<StepOp>()) {
    if (!isMicroStep(step.getSymName()) && step.getSymName() != updateName)
      continue;
    const int64_t times = isMicroStep(step.getSymName()) ? program.getMicroStepsOfRank() : 1;
    for (Operation &op : step.getBody().front()) {
      CollectiveAttr collective = collectiveOf(op);
      if (!collective || collective.getKind() == CollectiveKind::OwnPiece)
        continue;
      const StringRef group = nameOfGroup(collective, program);
      auto *traffic = llvm::find_if(all, [&](const RankTraffic &each) {
        return each.kind == collective.getKind() && each.group == group;
      });
      if (traffic == all.end()) {
        all.push_back(
            {collective.getKind(), group, 0, SmallVector<int64_t>(program.getRankCount()), 0});
        traffic = &all.back();
      }
      traffic->transfers += times;
      traffic->seconds += static_cast<double>(times) *
                          estimateTransfer(collective, program.getRanksAttr().getNetwork());
      for (auto [rank, bytes] : llvm::enumerate(traffic->sentBytes))
        bytes += times * collective.getSentBytes(static_cast<int64_t>(rank));
    }
  }
  return all;
}
