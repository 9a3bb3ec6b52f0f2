//===- TransferCost.cpp - Time of copies and of transfers between ranks -----------------------===//

#include "passes/cost/TransferCost.h"

#include "ir/ReservedNames.h"
#include "ir/interfaces/TargetInfo.h"
#include "passes/cost/Network.h"

#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace mtc;

static void follow(StepOp step, StringRef network, StepCost &cost, TransferCost &sum) {
  TargetInfo target = TargetInfo::of(step);
  SymbolTableCollection symbols;
  llvm::DenseMap<Value, double> ended;    // Completion time by the copy's token.
  llvm::DenseMap<int64_t, double> stream; // Completion time of the last copy on each stream.
  double now = 0, computing = 0;
  for (Operation &op : step.getBody().front()) {
    double begin = now;
    for (Value token : op.getOperands())
      begin = std::max(begin, ended.lookup(token));
    auto secondsOf = [&](AtAttr source, AtAttr destination) {
      const int64_t bytes = byteSize(source.getType());
      const double seconds =
          target.getTransferSeconds(source.getSpace(), destination.getSpace(), bytes);
      sum.bytes += bytes;
      sum.seconds += seconds;
      return seconds;
    };
    if (auto copy = dyn_cast<AsyncCopyOp>(op)) {
      double &last = stream[copy.getStream()];
      last = std::max(begin, last) + secondsOf(copy.getSource(), copy.getDestination());
      ended[copy.getToken()] = last;
      continue;
    }
    if (auto transfer = dyn_cast<AsyncTransferOp>(op)) {
      double &last = stream[transfer.getStream()];
      last = std::max(begin, last) + estimateTransfer(transfer.getCollective(), network);
      ended[transfer.getToken()] = last;
      continue;
    }
    if (auto launch = dyn_cast<AsyncLaunchOp>(op)) {
      auto kernel = symbols.lookupNearestSymbolFrom<KernelFunctionOp>(step, launch.getKernelAttr());
      double &last = stream[launch.getStream()];
      const double seconds = target.getHostKernelSeconds(kernel);
      last = std::max(begin, last) + seconds;
      sum.onHost += seconds;
      ended[launch.getToken()] = last;
      continue;
    }
    auto copy = dyn_cast<CopyOp>(op);
    if (copy && copy.getSource().getSpace() != copy.getDestination().getSpace()) {
      now = begin + secondsOf(copy.getSource(), copy.getDestination());
      continue;
    }
    const double seconds = cost.of(&op).seconds();
    computing += seconds;
    now = begin + seconds;
  }
  for (auto [number, last] : stream)
    now = std::max(now, last);
  sum.exposed += now - computing;
}

TransferCost mtc::estimateTransfers(ModuleOp placed, StepCost &cost) {
  TransferCost sum;
  ProgramOp program = ProgramOp::find(placed);
  for (auto step : placed.getOps<StepOp>()) {
    if (step.getSymName() != microStepName && step.getSymName() != updateName)
      continue;
    TransferCost own;
    follow(step, program && program.getRanks() ? program.getRanksAttr().getNetwork() : "", cost,
           own);
    const int64_t times =
        program && step.getSymName() == microStepName ? program.getMicroStepsOfRank() : 1;
    sum.bytes += times * own.bytes;
    sum.seconds += static_cast<double>(times) * own.seconds;
    sum.exposed += static_cast<double>(times) * own.exposed;
    sum.onHost += static_cast<double>(times) * own.onHost;
  }
  return sum;
}
