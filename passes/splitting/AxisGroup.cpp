//===- AxisGroup.cpp - Axes that must be divided together -------------------------------------===//

#include "passes/splitting/AxisGroup.h"

#include "ir/ReservedNames.h"
#include "ir/builders/TensorBuilder.h"
#include "passes/splitting/PartExchange.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <queue>
#include <random>

using namespace mlir;
using namespace mtc;

AxisGroups::AxisGroups(ModuleOp module, int64_t chunks, int64_t headBlocks)
    : module(module), chunks(chunks), families(module), rules(headBlocks) {}

/// Follows a split from one axis of a parameter to all that it divides.
class AxisGroups::Growth {
public:
  Growth(AxisGroups &all, const Splits &taken, AxisGroup &group)
      : all(all), taken(taken), group(group) {}

  void grow(StringRef parameter, AxisSplitAttr split);
  /// Follows the split of a value. Variables stay as they are.
  void growBetween(Value value, AxisSplitAttr split);

private:
  struct Divided {
    Value value;
    AxisSplitAttr split;
  };

  void divide(Value value, AxisSplitAttr split);
  void divideFamily(StringRef name, AxisSplitAttr split);
  void divideOperation(Operation *op, Position position, AxisSplitAttr split);
  void divideAccess(StringRef variable, AxisSplitAttr split);
  void follow();
  void delaySums();
  bool isAddend(Value value) const;

  AxisGroups &all;
  const Splits &taken;
  AxisGroup &group;
  bool keepsVariables = false;
  SmallVector<Divided> pending;
  llvm::DenseMap<Value, AxisSplitAttr> seen;
};

void AxisGroups::Growth::divide(Value value, AxisSplitAttr split) {
  if (seen.try_emplace(value, split).second)
    pending.push_back({value, split});
}

void AxisGroups::Growth::divideFamily(StringRef name, AxisSplitAttr split) {
  const VariableFamily &family = all.families.get(name);
  if (taken.families.contains(name) || !family.canSplit(split) ||
      !group.splits.families.try_emplace(name, split).second)
    return;
  for (Operation *access : family.accesses)
    divide(isa<ReadOp>(access) ? access->getResult(0) : access->getOperand(0), split);
}

void AxisGroups::Growth::divideAccess(StringRef variable, AxisSplitAttr split) {
  if (StringRef name = all.families.nameOf(variable); !name.empty() && !keepsVariables)
    divideFamily(name, split);
}

void AxisGroups::Growth::divideOperation(Operation *op, Position position, AxisSplitAttr split) {
  if (auto read = dyn_cast<ReadOp>(op))
    return divideAccess(read.getVariable(), split);
  if (auto write = dyn_cast<WriteOp>(op))
    return divideAccess(write.getVariable(), split);
  if (taken.operations.contains(op) || group.splits.operations.contains(op))
    return;
  std::optional<OperationSplit> derived = all.rules.derive(op, position, split);
  if (!derived)
    return;
  auto divideAll = [&](ValueRange values, ArrayRef<AxisSplitAttr> parts) {
    for (auto [value, part] : llvm::zip_equal(values, parts))
      if (part)
        divide(value, part);
  };
  divideAll(op->getOperands(), derived->getOperandsElsewhere());
  divideAll(op->getResults(), derived->getResultsElsewhere());
  group.splits.operations.insert({op, std::move(*derived)});
}

/// Returns a value before it is cast from and to narrow storage.
static Value withoutCasts(Value value) {
  while (value.getDefiningOp() && castsAddends(value.getDefiningOp()) && value.hasOneUse())
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

/// Returns whether a value is a sum that only one operation uses.
bool AxisGroups::Growth::isAddend(Value value) const {
  auto isSum = [&](const Splits &splits) {
    const auto *found = splits.operations.find(value.getDefiningOp());
    return found != splits.operations.end() && found->second.partial == ReductionKind::Add &&
           dependsOnOrder(found->first, found->second);
  };
  value = withoutCasts(value);
  return value.hasOneUse() && value.getDefiningOp() && (isSum(group.splits) || isSum(taken));
}

/// Adds up the addends of each rank before they are exchanged, where nothing else uses the sums.
void AxisGroups::Growth::delaySums() {
  for (size_t i = 0; i < group.splits.operations.size(); ++i) {
    const auto &[op, split] = group.splits.operations.begin()[i];
    if (split.partial != ReductionKind::Add || !op->getResult(0).hasOneUse())
      continue;
    Operation *user = *op->getResult(0).user_begin();
    while (castsAddends(user) && user->hasOneUse())
      user = *user->user_begin();
    if (castsAddends(user) || group.splits.operations.contains(user) ||
        taken.operations.contains(user) ||
        !llvm::all_of(user->getOperands(), [&](Value each) { return isAddend(each); }))
      continue;
    std::optional<OperationSplit> derived = SplitRules::deriveOfAddends(user);
    if (!derived)
      continue;
    for (Value operand : user->getOperands())
      for (Value sum = withoutCasts(operand); operand != sum;
           operand = operand.getDefiningOp()->getOperand(0))
        group.splits.operations.insert(
            {operand.getDefiningOp(), *SplitRules::deriveOfAddends(operand.getDefiningOp())});
    group.splits.operations.insert({user, std::move(*derived)});
  }
}

void AxisGroups::Growth::grow(StringRef parameter, AxisSplitAttr split) {
  divideFamily(parameter, split);
  follow();
}

void AxisGroups::Growth::growBetween(Value value, AxisSplitAttr split) {
  keepsVariables = true;
  divide(value, split);
  follow();
}

void AxisGroups::Growth::follow() {
  while (!pending.empty()) {
    auto [value, part] = pending.pop_back_val();
    if (auto result = dyn_cast<OpResult>(value))
      divideOperation(result.getOwner(), {true, result.getResultNumber()}, part);
    for (OpOperand &use : value.getUses())
      divideOperation(use.getOwner(), {false, use.getOperandNumber()}, part);
  }
  delaySums();
}

/// Returns whether an operation is executed for each micro-batch of training.
static bool isOfMicroStep(Operation *op) {
  auto function = op->getParentOfType<func::FuncOp>();
  return function && function.getSymName() == microStepName;
}

static int64_t bytesOf(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getNumElements() * elementBytes(tensor.getElementType());
}

/// Returns whether every use of a divided value takes this rank's part.
static bool isUsedInParts(Value value, AxisSplitAttr part, const Splits &splits) {
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    if (isa<WriteOp>(use.getOwner()))
      return true;
    const auto *user = splits.operations.find(use.getOwner());
    return user != splits.operations.end() && user->second.operands[use.getOperandNumber()] == part;
  });
}

/// Returns whether another sum follows before the exchange.
static bool isDelayed(Value sum, const Splits &splits) {
  if (!sum.hasOneUse())
    return false;
  const auto *user = splits.operations.find(*sum.user_begin());
  return user != splits.operations.end() && user->second.isOfAddends();
}

/// Returns the size of a parameter with its low half. Gradients and working copies do not count: a
/// program may have them for one number of ranks only.
static int64_t bytesOfWeights(const VariableFamily &family) {
  int64_t bytes = bytesOf(family.type);
  for (VariableOp variable : family.variables)
    if (variable.getRole() == Role::LowHalf)
      bytes += bytesOf(variable.getTensorType());
  return bytes;
}

int64_t AxisGroups::productsOf(Operation *op) {
  if (!isa<ContractOp, AttentionOp, AttentionGradientOp, ConvolveOp, TransposedConvolveOp,
           ConvolveWeightGradientOp>(op))
    return 0;
  auto cost = dyn_cast<CostOpInterface>(op);
  return cost ? cost.getCost().flops : 0;
}

void AxisGroups::measure(AxisGroup &group) const {
  auto addGather = [&](Value value, AxisSplitAttr part) {
    if (!isUsedInParts(value, part, group.splits))
      group.sentBytes += bytesOf(value.getType()) * (chunks - 1) / chunks;
  };
  for (const auto &[name, split] : group.splits.families) {
    const VariableFamily &family = families.get(name);
    group.variableBytes += bytesOfWeights(family);
    for (Operation *access : family.accesses)
      if (isa<ReadOp>(access) && isOfMicroStep(access))
        addGather(access->getResult(0), split);
  }
  for (const auto &[op, split] : group.splits.operations) {
    if (!isOfMicroStep(op))
      continue;
    group.products += productsOf(op);
    for (auto [value, part] : llvm::zip_equal(op->getResults(), split.results)) {
      // Addends are sent to the owners of a sum, and the sum from them.
      if (split.partial && !isDelayed(value, group.splits))
        group.sentBytes += (bytesOf(addendType(value.getType())) + bytesOf(value.getType())) *
                           (chunks - 1) / chunks;
      else if (part)
        addGather(value, part);
    }
  }
}

AxisGroup AxisGroups::grow(StringRef parameter, AxisSplitAttr split, const Splits &taken) {
  AxisGroup group;
  Growth(*this, taken, group).grow(parameter, split);
  measure(group);
  return group;
}

bool AxisGroup::pays() const {
  return variableBytes > 0 && (products >= 32 * sentBytes || variableBytes >= 4 * sentBytes);
}

namespace {

/// An axis of a parameter, with the bytes that its group sends for each byte of its variables. The
/// number is at least this one, since other groups may have been divided since.
struct Candidate {
  double sentPerByte;
  size_t number; ///< in the order of the module
  StringRef parameter;
  AxisSplitAttr split;

  /// The best candidate is the last of a heap.
  bool operator<(const Candidate &other) const {
    return std::pair(sentPerByte, number) > std::pair(other.sentPerByte, other.number);
  }
};

} // namespace

static double sentPerByte(const AxisGroup &group) {
  return static_cast<double>(group.sentBytes) /
         static_cast<double>(std::max<int64_t>(group.variableBytes, 1));
}

/// Returns the axes of parameters that can be divided into `parts`, in the order of the module.
SmallVector<std::pair<StringRef, AxisSplitAttr>> AxisGroups::findAxes(int64_t parts) {
  SmallVector<std::pair<StringRef, AxisSplitAttr>> axes;
  for (const auto &[name, family] : families.all())
    for (int64_t axis = 0; axis < family.type.getRank(); ++axis)
      if (auto split = AxisSplitAttr::get(module.getContext(), axis, 1, parts, 1);
          family.canSplit(split))
        axes.emplace_back(name, split);
  return axes;
}

void Splits::add(const Splits &others) {
  for (const auto &[op, split] : others.operations)
    operations.insert({op, split});
  for (const auto &[name, split] : others.families)
    families.insert({name, split});
}

/// Divides two of three groups, whatever they send.
void AxisGroups::drawOfVariables(Splits &chosen, int64_t seed) {
  std::mt19937_64 random(static_cast<uint64_t>(seed));
  auto axes = findAxes(chunks);
  std::shuffle(axes.begin(), axes.end(), random);
  for (const auto &[name, split] : axes) {
    const bool isDrawn = random() % 3 != 0 || chosen.families.empty();
    if (isDrawn && !chosen.families.contains(name))
      chosen.add(grow(name, split, chosen).splits);
  }
}

std::vector<AxisGroup>
AxisGroups::chooseGroups(int64_t parts, llvm::function_ref<bool(const AxisGroup &)> accepts) {
  std::priority_queue<Candidate> candidates;
  llvm::DenseSet<std::pair<StringRef, Attribute>> known;
  for (const auto &[name, split] : findAxes(parts)) {
    if (known.contains({name, split}))
      continue;
    AxisGroup group = grow(name, split, {});
    for (const auto &[member, part] : group.splits.families)
      known.insert({member, part});
    candidates.push({sentPerByte(group), candidates.size(), name, split});
  }
  std::vector<AxisGroup> groups;
  Splits chosen;
  while (!candidates.empty()) {
    Candidate candidate = candidates.top();
    candidates.pop();
    if (chosen.families.contains(candidate.parameter))
      continue;
    AxisGroup group = grow(candidate.parameter, candidate.split, chosen);
    candidate.sentPerByte = sentPerByte(group);
    if (!candidates.empty() && candidate < candidates.top()) {
      candidates.push(candidate);
      continue;
    }
    if (!group.pays() || !accepts(group))
      continue;
    chosen.add(group.splits);
    groups.push_back(std::move(group));
  }
  return groups;
}

/// Returns the split of a sum into the pieces of which each rank adds one; null if they are not
/// parts along an axis.
static AxisSplitAttr splitOfPieces(Value sum, int64_t parts) {
  RankedTensorType type = typeOf(sum);
  for (auto [axis, extent] : llvm::enumerate(type.getShape()))
    if (extent != 1)
      return extent % parts
                 ? AxisSplitAttr()
                 : AxisSplitAttr::get(sum.getContext(), static_cast<int64_t>(axis), 1, parts, 1);
  return {};
}

/// Norms, residuals and dropout between the sums of two layers are divided along the outermost
/// axis: each rank computes with the piece of a sum that it adds. The pieces are gathered where
/// they are needed, instead of right after the addition.
void AxisGroups::chooseBetweenSums(Splits &chosen, bool includesSmall) {
  SmallVector<Value> sums;
  for (const auto &[op, split] : chosen.operations)
    if (split.partial == ReductionKind::Add && !isDelayed(op->getResult(0), chosen))
      sums.push_back(op->getResult(0));
  for (Value sum : sums) {
    AxisSplitAttr split = splitOfPieces(sum, chunks);
    if (!split || !(includesSmall || PartExchange::addsInPieces(typeOf(sum))))
      continue;
    AxisGroup group;
    Growth(*this, chosen, group).growBetween(sum, split);
    chosen.add(group.splits);
  }
}

AxisGroup AxisGroups::growInput(Value input, AxisSplitAttr split, const Splits &taken) {
  AxisGroup group;
  Growth(*this, taken, group).growBetween(input, split);
  measure(group);
  return group;
}

Splits AxisGroups::follow(const llvm::MapVector<StringRef, AxisSplitAttr> &parameters) {
  Splits chosen;
  for (const auto &[name, split] : parameters)
    if (!chosen.families.contains(name))
      chosen.add(grow(name, split, chosen).splits);
  // Ranks that share a sequence have smaller sums than one rank.
  chooseBetweenSums(chosen, /*includesSmall=*/true);
  return chosen;
}

Splits AxisGroups::choose(int64_t seed) {
  Splits chosen;
  if (seed)
    drawOfVariables(chosen, seed);
  else
    for (const AxisGroup &group : chooseGroups(chunks, [](const AxisGroup &) { return true; }))
      chosen.add(group.splits);
  chooseBetweenSums(chosen, /*includesSmall=*/false);
  return chosen;
}
