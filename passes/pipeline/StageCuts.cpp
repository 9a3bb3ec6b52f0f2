//===- StageCuts.cpp - Where pipeline stages divide a function --------------------------------===//

#include "passes/pipeline/StageCuts.h"

#include "ir/ScanBody.h"
#include "ir/interfaces/TargetInfo.h"
#include "ir/steps/VariableAccess.h"
#include "passes/cost/Network.h"
#include "passes/cost/StepCost.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/SetVector.h"

#include <cmath>

using namespace mlir;
using namespace mtc;

namespace {

/// Chooses cuts by dynamic programming.
class CutChooser {
public:
  CutChooser(func::FuncOp microStep, const SharedOperations &shared, const MicroStepParts &parts,
             int64_t stages)
      : microStep(microStep), shared(shared), parts(parts), stages(stages),
        module(microStep->getParentOfType<ModuleOp>()), symbols(module) {
    findLookups();
    findUpdatesOfState();
    for (Operation &op : microStep.front().without_terminator())
      if (parts.forward.contains(&op) && !shared.contains(&op) && !ofState.contains(&op) &&
          !llvm::is_contained(found.lookups, &op)) {
        positions[&op] = static_cast<int64_t>(order.size());
        order.push_back(&op);
      }
  }

  FailureOr<StageCuts> run() {
    measureTimes();
    measureCrossings();
    findUses();
    findHeads();
    chooseCandidates();
    const SmallVector<int64_t> cuts = choose();
    if (cuts.empty())
      return refuse();
    size_t stage = 0;
    for (auto [position, op] : llvm::enumerate(order)) {
      while (stage < cuts.size() && cuts[stage] <= static_cast<int64_t>(position))
        ++stage;
      found.stages[op] = static_cast<int64_t>(stage);
      if (llvm::any_of(rootsUsedBy(op, shared),
                       [&](VariableOp root) { return lookedUp.contains(root); }))
        found.stageOfLookups = static_cast<int64_t>(stage);
    }
    placeUpdatesOfState();
    return std::move(found);
  }

private:
  /// Finds the operations of which only new state depends, such as running statistics.
  void findUpdatesOfState() {
    llvm::DenseSet<Operation *> needed;
    SmallVector<Operation *> pending;
    auto need = [&](Operation *op) {
      if (op && needed.insert(op).second)
        pending.push_back(op);
    };
    for (Operation &op : microStep.front())
      if (!parts.forward.contains(&op) || op.hasTrait<OpTrait::IsTerminator>()) {
        need(&op);
      } else {
        for (FlatSymbolRefAttr written : writtenVariables(&op))
          if (isOfAllStages(symbols.lookup<VariableOp>(written.getValue())))
            need(&op);
      }
    while (!pending.empty())
      for (Value operand : pending.pop_back_val()->getOperands())
        need(operand.getDefiningOp());
    for (Operation &op : microStep.front())
      if (!needed.contains(&op) && !shared.contains(&op))
        ofState.insert(&op);
  }

  /// The operations of an update of state, which share values or variables, run in the stage of the
  /// variables that are used together with the state, or else of the latest value that they use.
  void placeUpdatesOfState() {
    llvm::DenseMap<Operation *, int64_t> stageOfVariables; // by the leader
    for (Operation *op : order)
      for (VariableOp root : rootsUsedBy(op, shared))
        stageOfVariables[leaderOf(root)] = found.stages.lookup(op);
    llvm::EquivalenceClasses<Operation *> updates;
    llvm::MapVector<Operation *, int64_t> latest;  // by operation
    llvm::DenseMap<Operation *, int64_t> required; // by operation
    for (Operation &op : microStep.front()) {
      if (!ofState.contains(&op))
        continue;
      updates.insert(&op);
      int64_t &stage = latest[&op];
      for (Value operand : op.getOperands()) {
        Operation *producer = operand.getDefiningOp();
        if (auto known = found.stages.find(producer); known != found.stages.end())
          stage = std::max(stage, known->second);
        else if (producer && ofState.contains(producer))
          updates.unionSets(&op, producer);
      }
      for (VariableOp root : rootsUsedBy(&op, shared)) {
        updates.unionSets(&op, root);
        if (auto known = stageOfVariables.find(leaderOf(root)); known != stageOfVariables.end())
          required[&op] = known->second;
      }
    }
    llvm::DenseMap<Operation *, int64_t> stages, fixed; // by the leader
    for (auto [op, stage] : latest) {
      int64_t &ofUpdate = stages[updates.getLeaderValue(op)];
      ofUpdate = std::max(ofUpdate, stage);
      if (auto known = required.find(op); known != required.end())
        fixed[updates.getLeaderValue(op)] = known->second;
    }
    for (Operation *op : llvm::make_first_range(latest)) {
      Operation *leader = updates.getLeaderValue(op);
      auto known = fixed.find(leader);
      found.stages[op] = known == fixed.end() ? stages.lookup(leader) : known->second;
    }
  }

  /// Returns the variables that an operation uses, directly or through shared operations.
  SmallVector<VariableOp> rootsUsedBy(Operation *op, const SharedOperations &own) {
    SmallVector<VariableOp> roots;
    for (Value operand : op->getOperands())
      if (Operation *producer = operand.getDefiningOp(); producer && own.contains(producer))
        for (StringAttr name : own.variablesOf(producer))
          roots.push_back(rootOfVariable(symbols, name));
    for (FlatSymbolRefAttr symbol :
         llvm::concat<FlatSymbolRefAttr>(readVariables(op), writtenVariables(op)))
      if (VariableOp root = rootOfVariable(symbols, symbol.getAttr()); !isOfAllStages(root))
        roots.push_back(root);
    return roots;
  }

  /// Finds the variables that one stage must have, since an operation of another function uses them
  /// together: in the inference form of a batch norm, its scale is divided by its variance.
  void findVariablesUsedTogether() {
    for (auto function : module.getOps<func::FuncOp>()) {
      if (function == microStep || isScanBody(function))
        continue;
      const SharedOperations own(function);
      for (Operation &op : function.front())
        if (!own.contains(&op)) {
          const SmallVector<VariableOp> roots = rootsUsedBy(&op, own);
          for (VariableOp root : roots)
            together.unionSets(roots.front(), root);
        }
    }
  }

  /// Returns the variable that stands for those that one stage must have together.
  VariableOp leaderOf(VariableOp root) {
    return together.contains(root) ? cast<VariableOp>(together.getLeaderValue(root)) : root;
  }

  /// Finds the lookups that depend on a variable and inputs only, if operations that depend on
  /// others use the variable, too.
  void findLookups() {
    SmallVector<Operation *> candidates;
    llvm::DenseSet<VariableOp> usedOtherwise;
    for (Operation &op : microStep.front().without_terminator()) {
      if (shared.contains(&op) || !parts.forward.contains(&op))
        continue;
      const bool isFirst = llvm::all_of(op.getOperands(), [&](Value operand) {
        return !operand.getDefiningOp() || shared.contains(operand.getDefiningOp());
      });
      if (isFirst && isa<GatherOp>(op))
        candidates.push_back(&op);
      else
        for (VariableOp root : rootsUsedBy(&op, shared))
          usedOtherwise.insert(root);
    }
    for (Operation *op : candidates)
      for (VariableOp root : rootsUsedBy(op, shared))
        if (usedOtherwise.contains(root)) {
          found.lookups.push_back(op);
          lookedUp.insert(root);
        }
  }

  /// Sums the time of operations before each position: that of calls and of what kernels move,
  /// three times for those with gradients.
  void measureTimes() {
    StepCost cost(module);
    // Without the latency of kernels, most of which will be fused.
    constexpr int64_t large = 1 << 26;
    const double copy = TargetInfo::of(module).getCopySeconds(large) / large;
    const double secondsOfByte = copy > 0 ? copy / 2 : 1e-9; // There may be no target.
    timeBefore.push_back(0);
    for (Operation *op : order) {
      double seconds = cost.of(op).seconds();
      for (Type type : op->getResultTypes())
        seconds += secondsOfByte * static_cast<double>(byteSize(cast<RankedTensorType>(type)));
      timeBefore.push_back(timeBefore.back() + 3 * seconds);
    }
  }

  /// Counts the bytes that a cut before each position sends forward.
  void measureCrossings() {
    crossing.assign(order.size() + 1, 0);
    for (auto [position, op] : llvm::enumerate(order))
      for (Value result : op->getResults()) {
        int64_t last = static_cast<int64_t>(position);
        for (Operation *user : result.getUsers())
          if (auto found = positions.find(user); found != positions.end())
            last = std::max(last, found->second);
        const int64_t bytes = byteSize(cast<RankedTensorType>(result.getType()));
        // Differences, which are added up below.
        crossing[position + 1] += bytes;
        if (last + 1 <= static_cast<int64_t>(order.size()))
          crossing[static_cast<size_t>(last) + 1] -= bytes;
      }
    for (size_t i = 1; i < crossing.size(); ++i)
      crossing[i] += crossing[i - 1];
  }

  /// Finds the positions between the uses of a variable, where there can be no cut.
  void findUses() {
    blockedBy.resize(order.size() + 1);
    llvm::MapVector<VariableOp, std::pair<int64_t, int64_t>> uses;
    auto use = [&](VariableOp root, int64_t position) {
      auto [entry, isNew] = uses.try_emplace(root, std::pair(position, position));
      entry->second.first = std::min(entry->second.first, position);
      entry->second.second = std::max(entry->second.second, position);
    };
    usersBefore.push_back(0);
    findVariablesUsedTogether();
    for (auto [position, op] : llvm::enumerate(order)) {
      SmallVector<VariableOp> roots = rootsUsedBy(op, shared);
      for (VariableOp &root : roots)
        root = leaderOf(root);
      usersBefore.push_back(usersBefore.back() + !roots.empty());
      for (VariableOp root : roots)
        use(root, static_cast<int64_t>(position));
    }
    for (auto &[variable, range] : uses)
      for (int64_t cut = range.first + 1; cut <= range.second; ++cut)
        if (VariableOp &known = blockedBy[static_cast<size_t>(cut)]; !known)
          known = variable;
  }

  /// Finds the first of the matrices that compute the outputs of which the loss is taken. The last
  /// stage has all of them, since optimizers treat them in another way than matrices before.
  void findHeads() {
    firstHead = static_cast<int64_t>(order.size());
    SmallVector<Value> pending(microStep.front().getTerminator()->getOperands());
    llvm::DenseSet<Value> seen;
    while (!pending.empty()) {
      Value value = pending.pop_back_val();
      Operation *op = value.getDefiningOp();
      if (!op || !seen.insert(value).second)
        continue;
      if (isa<ContractOp, ConvolveOp>(op) && positions.contains(op))
        firstHead = std::min(firstHead, positions.lookup(op));
      else
        llvm::append_range(pending, op->getOperands());
    }
  }

  /// Takes the positions at which fewest bytes cross, one from each of many parts of equal time.
  void chooseCandidates() {
    constexpr int64_t parts = 256;
    const double part = timeBefore.back() / parts;
    int64_t last = -1;
    for (size_t cut = 1; cut < order.size(); ++cut) {
      if (blockedBy[cut] || static_cast<int64_t>(cut) > firstHead)
        continue;
      const auto number = part > 0 ? static_cast<int64_t>(timeBefore[cut] / part) : 0;
      const auto position = static_cast<int64_t>(cut);
      if (number != last || order.size() <= parts)
        candidates.push_back(position);
      else if (crossing[cut] < crossing[static_cast<size_t>(candidates.back())])
        candidates.back() = position;
      last = number;
    }
  }

  /// Returns the seconds of a micro-step in a stage of the operations between two cuts; infinity if
  /// there can be no such stage.
  double timeOf(int64_t begin, int64_t end) const {
    if (usersBefore[static_cast<size_t>(begin)] == usersBefore[static_cast<size_t>(end)])
      return std::numeric_limits<double>::infinity(); // The stage would have no variables.
    double seconds = timeBefore[static_cast<size_t>(end)] - timeBefore[static_cast<size_t>(begin)];
    for (int64_t cut : {begin, end}) // Activations one way, gradients the other way.
      seconds += 2 * messageSeconds(crossing[static_cast<size_t>(cut)]);
    return seconds;
  }

  double messageSeconds(int64_t bytes) const {
    const std::optional<Network> network =
        Network::parse(ProgramOp::find(module).getRanksAttr().getNetwork());
    return network && bytes ? network->link.estimate(1, static_cast<double>(bytes)) : 0;
  }

  /// Returns the cuts; none if there are too few.
  SmallVector<int64_t> choose() const {
    struct Choice {
      double slowest = std::numeric_limits<double>::infinity();
      int64_t bytes = 0;
      size_t previous = 0;
      bool operator<(const Choice &other) const {
        return std::pair(slowest, bytes) < std::pair(other.slowest, other.bytes);
      }
    };
    SmallVector<int64_t> ends(candidates);
    ends.push_back(static_cast<int64_t>(order.size()));
    // best[i][j]: the first i + 1 stages end at ends[j].
    std::vector<std::vector<Choice>> best(static_cast<size_t>(stages),
                                          std::vector<Choice>(ends.size()));
    for (size_t j = 0; j < ends.size(); ++j)
      best[0][j] = {timeOf(0, ends[j]), crossing[static_cast<size_t>(ends[j])], 0};
    for (size_t i = 1; i < best.size(); ++i)
      for (size_t j = i; j < ends.size(); ++j)
        for (size_t k = i - 1; k < j; ++k) {
          const Choice &before = best[i - 1][k];
          const Choice found{std::max(before.slowest, timeOf(ends[k], ends[j])),
                             before.bytes + crossing[static_cast<size_t>(ends[j])], k};
          best[i][j] = std::min(best[i][j], found);
        }
    SmallVector<int64_t> cuts;
    if (!std::isfinite(best.back().back().slowest))
      return cuts;
    size_t j = ends.size() - 1;
    for (size_t i = best.size(); i-- > 1;) {
      j = best[i][j].previous;
      cuts.push_back(ends[j]);
    }
    std::reverse(cuts.begin(), cuts.end());
    return cuts;
  }

  LogicalResult refuse() {
    int64_t most = 1, last = 0;
    for (int64_t cut : candidates)
      if (const int64_t users = usersBefore[static_cast<size_t>(cut)];
          users > last && users < usersBefore.back()) {
        ++most;
        last = users;
      }
    InFlightDiagnostic error = emitError(module.getLoc(), "--pipeline ");
    error << stages << ": the model can be divided into at most " << most << " stages";
    for (VariableOp variable : blockedBy)
      if (variable)
        return error << ", since nodes from its beginning to its end use '" << variable.getSymName()
                     << "', which one stage must have; use fewer stages, or --tensor";
    return error << "; use fewer stages";
  }

  func::FuncOp microStep;
  const SharedOperations &shared;
  const MicroStepParts &parts;
  const int64_t stages;
  ModuleOp module;
  SymbolTable symbols;
  StageCuts found;
  llvm::DenseSet<VariableOp> lookedUp;            ///< variables of the lookups
  llvm::DenseSet<Operation *> ofState;            ///< operations of which only new state depends
  llvm::EquivalenceClasses<Operation *> together; ///< variables that one stage must have
  SmallVector<Operation *, 0> order; ///< operations of the forward part that are not shared
  DenseMap<Operation *, int64_t> positions;
  std::vector<double> timeBefore;    ///< seconds of the operations before each position
  std::vector<int64_t> crossing;     ///< bytes, by position
  std::vector<VariableOp> blockedBy; ///< by position; null: there may be a cut
  std::vector<int64_t> usersBefore;  ///< operations before each position that use variables
  int64_t firstHead = 0;             ///< position
  SmallVector<int64_t> candidates;
};

} // namespace

FailureOr<StageCuts> mtc::chooseCuts(func::FuncOp microStep, const SharedOperations &shared,
                                     const MicroStepParts &parts, int64_t stages) {
  return CutChooser(microStep, shared, parts, stages).run();
}
