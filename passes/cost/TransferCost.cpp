//===- TransferCost.cpp - Time of copies and of transfers between ranks -----------------------===//

#include "passes/cost/TransferCost.h"

#include "ir/ReservedNames.h"
#include "ir/interfaces/TargetInfo.h"
#include "passes/cost/Network.h"
#include "passes/cost/RankTraffic.h"

using namespace mlir;
using namespace mtc;

namespace {

/// Simulates the operations of a step.
class StepSimulation {
public:
  StepSimulation(StepOp step, StepCost &cost)
      : step(step), cost(cost), target(TargetInfo::of(step)),
        program(ProgramOp::find(step->getParentOfType<ModuleOp>())),
        network(program && program.getRanks() ? program.getRanksAttr().getNetwork() : "") {}

  TransferCost run() {
    for (Operation &op : step.getBody().front())
      visit(op);
    for (auto [number, last] : streams)
      wait(last);
    sum.exposed += now - computing;
    return sum;
  }

private:
  /// The end of asynchronous work.
  struct End {
    double seconds = 0;
    StringRef group = ""; ///< that exchanges values, for a transfer between ranks
  };

  void wait(const End &end) {
    if (end.seconds <= now)
      return;
    if (!end.group.empty())
      sum.exposedOfGroups[end.group] += end.seconds - now;
    now = end.seconds;
  }

  /// Runs work on a stream, after everything that it waits for.
  void start(int64_t stream, Value token, const End &latest, double seconds, StringRef group = "") {
    End &last = streams[stream];
    last = {std::max({now, latest.seconds, last.seconds}) + seconds, group};
    ended[token] = last;
  }

  double secondsOf(AtAttr source, AtAttr destination) {
    const int64_t bytes = byteSize(source.getType());
    const double seconds =
        target.getTransferSeconds(source.getSpace(), destination.getSpace(), bytes);
    sum.bytes += bytes;
    sum.seconds += seconds;
    return seconds;
  }

  void visit(Operation &op) {
    End latest;
    for (Value token : op.getOperands())
      if (const End end = ended.lookup(token); end.seconds > latest.seconds)
        latest = end;
    if (auto copy = dyn_cast<AsyncCopyOp>(op))
      return start(copy.getStream(), copy.getToken(), latest,
                   secondsOf(copy.getSource(), copy.getDestination()));
    if (auto transfer = dyn_cast<AsyncTransferOp>(op))
      return start(transfer.getStream(), transfer.getToken(), latest,
                   estimateTransfer(transfer.getCollective(), network),
                   nameOfGroup(transfer.getCollective(), program));
    if (auto launch = dyn_cast<AsyncLaunchOp>(op)) {
      auto kernel = symbols.lookupNearestSymbolFrom<KernelFunctionOp>(step, launch.getKernelAttr());
      const double seconds = target.getHostKernelSeconds(kernel);
      sum.onHost += seconds;
      return start(launch.getStream(), launch.getToken(), latest, seconds);
    }
    wait(latest);
    auto copy = dyn_cast<CopyOp>(op);
    if (copy && copy.getSource().getSpace() != copy.getDestination().getSpace()) {
      now += secondsOf(copy.getSource(), copy.getDestination());
      return;
    }
    const double seconds = cost.of(&op).seconds();
    computing += seconds;
    now += seconds;
  }

  StepOp step;
  StepCost &cost;
  TargetInfo target;
  ProgramOp program;
  StringRef network;
  SymbolTableCollection symbols;
  llvm::DenseMap<Value, End> ended;      ///< by token
  llvm::MapVector<int64_t, End> streams; ///< the last work on each stream
  double now = 0, computing = 0;
  TransferCost sum;
};

} // namespace

TransferCost mtc::estimateTransfers(StepOp step, StepCost &cost) {
  return StepSimulation(step, cost).run();
}

TransferCost mtc::estimateTransfers(ModuleOp placed, StepCost &cost) {
  TransferCost sum;
  ProgramOp program = ProgramOp::find(placed);
  for (auto step : placed.getOps<StepOp>()) {
    if (!isMicroStep(step.getSymName()) && step.getSymName() != updateName)
      continue;
    const TransferCost own = estimateTransfers(step, cost);
    const int64_t times =
        program && isMicroStep(step.getSymName()) ? program.getMicroStepsOfRank() : 1;
    sum.bytes += times * own.bytes;
    sum.seconds += static_cast<double>(times) * own.seconds;
    sum.exposed += static_cast<double>(times) * own.exposed;
    sum.onHost += static_cast<double>(times) * own.onHost;
    for (auto [group, seconds] : own.exposedOfGroups)
      sum.exposedOfGroups[group] += static_cast<double>(times) * seconds;
  }
  return sum;
}
