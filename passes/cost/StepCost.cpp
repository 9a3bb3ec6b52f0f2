//===- StepCost.cpp - Estimated time of a module's functions ----------------------------------===//

#include "passes/cost/StepCost.h"

#include "ir/ReservedNames.h"
#include "ir/attributes/DiscardableAttributes.h"
#include "ir/attributes/OperandLayout.h"
#include "ir/interfaces/TargetInfo.h"
#include "passes/cost/Network.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cmath>

using namespace mlir;
using namespace mtc;

TimedCost &TimedCost::operator+=(const TimedCost &other) {
  picoseconds += other.picoseconds;
  flops += other.flops;
  bytes += other.bytes;
  return *this;
}

TimedCost &TimedCost::operator-=(const TimedCost &other) {
  picoseconds -= other.picoseconds;
  flops -= other.flops;
  bytes -= other.bytes;
  return *this;
}

static bool isFunction(Operation *op) { return isa<func::FuncOp, StepOp>(op); }

//===------------------------------------------------------------------------------------------===//
// Invalidation
//===------------------------------------------------------------------------------------------===//

void StepCost::change(Operation *op, Operation *parent) {
  while (parent && parent != module && !isFunction(parent)) {
    op = parent;
    parent = op->getParentOp();
  }
  if (!parent || parent == module) {
    isModuleStale = true;
    return;
  }
  stale.insert(op);
  // The cost of a call depends on the layouts of the views that it reads.
  if (op->hasTrait<mtc::View>())
    for (Operation *user : op->getUsers())
      change(user, user->getParentOp());
}

void StepCost::notifyOperationInserted(Operation *op, OpBuilder::InsertPoint previous) {
  if (previous.isSet() && previous.getBlock() != op->getBlock()) {
    forget(op);
    change(op, previous.getBlock()->getParentOp());
  }
  change(op, op->getParentOp());
}

void StepCost::notifyOperationModified(Operation *op) { change(op, op->getParentOp()); }

void StepCost::notifyOperationErased(Operation *op) {
  change(op, op->getParentOp());
  forget(op);
  stale.remove(op);
}

void StepCost::forget(Operation *op) {
  auto known = entries.find(op);
  if (known == entries.end())
    return;
  functions[known->second.function] -= known->second.cost;
  entries.erase(known);
}

void StepCost::collectNames() {
  target = module->getAttr(targetAttribute);
  named.clear();
  launched.clear();
  for (Operation &symbol : *module.getBody())
    if (auto name = symbol.getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName()))
      named[name] = &symbol;
}

void StepCost::collect() {
  entries.clear();
  functions.clear();
  stale.clear();
  collectNames();
  for (Operation &symbol : *module.getBody())
    if (isFunction(&symbol))
      for (Operation &op : symbol.getRegion(0).front())
        add(&op);
  isModuleStale = false;
}

/// Estimates an operation. Most operations of a step with offloaded state are asynchronous copies,
/// which get no entry.
void StepCost::add(Operation *op) {
  forget(op);
  const Entry entry{estimate(op), op->getParentOp()};
  if (entry.cost.kind.empty())
    return;
  functions[entry.function] += entry.cost;
  entries[op] = entry;
}

void StepCost::update() {
  if (target != module->getAttr(targetAttribute) || isModuleStale)
    collect();
  for (Operation *op : stale)
    add(op);
  stale.clear();
}

//===------------------------------------------------------------------------------------------===//
// Queries
//===------------------------------------------------------------------------------------------===//

static TimedCost times(int64_t count, const TimedCost &cost) {
  return {count * cost.picoseconds, count * cost.flops, count * cost.bytes};
}

/// Estimates the time in seconds without a target, weighing each byte as `flopsPerByte` operations.
static double withoutTarget(const Cost &cost) {
  constexpr double flopsPerByte = 10, flopsPerSecond = 1e11;
  return (static_cast<double>(cost.flops) + flopsPerByte * static_cast<double>(cost.bytes)) /
         flopsPerSecond;
}

StepCost::OperationCost StepCost::estimate(Operation *op) {
  ++estimates;
  TargetInfo info = TargetInfo::of(module);
  auto result = [&](double seconds, const Cost &cost, StringRef kind) {
    if (!target)
      seconds = withoutTarget(cost);
    // The cost of an operation is limited, to 10 hours of time for example, so that sums over the
    // operations fit into 64 bits.
    constexpr int64_t maxTime = int64_t{1} << 55, maximum = int64_t{1} << 58;
    const double picoseconds = std::min(1e12 * seconds, static_cast<double>(maxTime));
    return OperationCost{
        {std::llround(picoseconds), std::min(cost.flops, maximum), std::min(cost.bytes, maximum)},
        kind};
  };
  auto ofKernel = [&](auto kernel) {
    return kernel.getOnHost()
               ? result(info.getHostKernelSeconds(kernel), kernel.getCost(), "kernel on the host")
               : result(info.getKernelSeconds(kernel), kernel.getCost(), "kernel");
  };
  auto ofCall = [&](CallAttrInterface call) {
    return result(info.getCallSeconds(call), call.getCost(), call.getKind());
  };
  if (auto kernel = dyn_cast<KernelOp>(op))
    return ofKernel(kernel);
  if (auto call = dyn_cast<LibraryCallOpInterface>(op); call && takesOperandLayouts(call))
    return ofCall(describeChosenCall(call, std::nullopt));
  auto ofIterations = [&](Block &body, uint64_t iterations) {
    TimedCost sum;
    for (Operation &inner : body)
      sum += estimate(&inner);
    return OperationCost{times(static_cast<int64_t>(iterations), sum), "scan"};
  };
  if (auto scan = dyn_cast<ScanOp>(op))
    if (Operation *body = named.lookup(scan.getBodyAttr().getAttr()))
      return ofIterations(body->getRegion(0).front(), scan.getIterations());
  if (auto repeat = dyn_cast<RepeatOp>(op))
    return ofIterations(repeat.getBody().front(), repeat.getIterations());
  if (auto call = dyn_cast<CallOp>(op))
    return ofCall(call.getCall());
  if (auto launch = dyn_cast<LaunchOp>(op))
    if (auto kernel =
            dyn_cast_or_null<KernelFunctionOp>(named.lookup(launch.getKernelAttr().getAttr()))) {
      auto [known, isNew] = launched.try_emplace(kernel);
      if (isNew)
        known->second = ofKernel(kernel);
      return known->second;
    }
  auto ofTransfer = [&](CollectiveAttr collective) {
    ProgramOp program = ProgramOp::find(module);
    StringRef network = program && program.getRanks() ? program.getRanksAttr().getNetwork() : "";
    return result(estimateTransfer(collective, network), {}, "transfer");
  };
  if (auto collective = dyn_cast<CollectiveOpInterface>(op))
    return ofTransfer(collective.getCollective());
  if (auto transfer = dyn_cast<TransferOp>(op))
    return ofTransfer(transfer.getCollective());
  if (auto copy = dyn_cast<CopyOp>(op)) {
    int64_t bytes = byteSize(copy.getSource().getType());
    return result(info.getCopySeconds(bytes), {.flops = 0, .bytes = 2 * bytes}, "copy");
  }
  return {};
}

StepCost::OperationCost StepCost::of(Operation *op) {
  update();
  auto known = entries.find(op);
  return known == entries.end() ? OperationCost() : known->second.cost;
}

StepCost::OperationCost StepCost::estimateAlone(Operation *op) {
  if (named.empty())
    collectNames();
  return estimate(op);
}

TimedCost StepCost::ofFunction(StringRef name) {
  update();
  return functions.lookup(named.lookup(StringAttr::get(module.getContext(), name)));
}

/// Returns how often a training step calls a function on this rank.
static int64_t callsOf(StringRef function, ModuleOp module) {
  ProgramOp program = ProgramOp::find(module);
  return program && isMicroStep(function) ? program.getMicroStepsOfRank() : 1;
}

TimedCost StepCost::ofStep() {
  TimedCost sum;
  for (StringRef name : functionsOfStep())
    sum += times(callsOf(name, module), ofFunction(name));
  return sum;
}

/// Returns the names of the functions of a training step.
SmallVector<StringRef> StepCost::functionsOfStep() {
  update();
  SmallVector<StringRef> names;
  for (auto [name, function] : named)
    if (isMicroStep(name.getValue()) || name.getValue() == updateName)
      names.push_back(name.getValue());
  llvm::sort(names); // The micro-step precedes the update.
  return names;
}

SmallVector<std::pair<StringRef, TimedCost>> StepCost::ofStepByKind() {
  update();
  llvm::MapVector<StringRef, TimedCost> kinds;
  for (StringRef name : functionsOfStep())
    if (Operation *function = named.lookup(StringAttr::get(module.getContext(), name)))
      for (Operation &op : function->getRegion(0).front())
        if (OperationCost cost = of(&op); !cost.kind.empty())
          kinds[cost.kind] += times(callsOf(name, module), cost);
  SmallVector<std::pair<StringRef, TimedCost>> sorted(kinds.begin(), kinds.end());
  llvm::sort(sorted, [](const auto &a, const auto &b) {
    return std::pair(-a.second.picoseconds, a.first) < std::pair(-b.second.picoseconds, b.first);
  });
  return sorted;
}

std::string StepCost::describeRates() const { return TargetInfo::of(module).describeRates(); }

std::string StepCost::describeHostRates() const {
  return TargetInfo::of(module).describeHostRates();
}
