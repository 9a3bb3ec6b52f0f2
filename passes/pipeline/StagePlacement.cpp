//===- StagePlacement.cpp - Where the operations of a function run ----------------------------===//

#include "passes/pipeline/StagePlacement.h"

#include "ir/steps/VariableAccess.h"

using namespace mlir;
using namespace mtc;

StagePlacement::StagePlacement(func::FuncOp microStep, const SharedOperations &shared,
                               const MicroStepParts &parts, const PipelineLayout &layout,
                               DenseMap<Operation *, int64_t> chunks)
    : function(microStep), shared(shared), layout(layout),
      symbols(microStep->getParentOfType<ModuleOp>()), chunks(std::move(chunks)) {
  for (Operation &op : microStep.front().without_terminator())
    if (!shared.contains(&op) && !parts.forward.contains(&op))
      backward.insert(&op);
  findGradients();
  placeAll(/*isForward=*/false);
}

StagePlacement::StagePlacement(func::FuncOp function, const SharedOperations &shared,
                               const PipelineLayout &layout)
    : function(function), shared(shared), layout(layout),
      symbols(function->getParentOfType<ModuleOp>()) {
  placeAll(/*isForward=*/true);
}

void StagePlacement::placeAll(bool isForward) {
  Block &block = function.front();
  auto belongs = [&](Operation &op) {
    return !shared.contains(&op) && this->isForward(&op) == isForward;
  };
  for (Operation &op : block.without_terminator())
    if (belongs(op))
      place(&op, isForward);
  for (Operation &op : llvm::reverse(block.without_terminator()))
    if (belongs(op))
      sink(&op);
}

/// Returns whether the stage of a chunk has all variables on which an operation depends, directly
/// or through shared operations.
bool StagePlacement::mayRunIn(Operation *op, int64_t chunk) const {
  auto has = [&](StringAttr name) {
    VariableOp root = rootOfVariable(symbols, name);
    auto found = layout.stageOfVariable.find(root.getSymName());
    return found == layout.stageOfVariable.end() ||
           found->second == layout.stageOfChunk[static_cast<size_t>(chunk)];
  };
  for (FlatSymbolRefAttr symbol :
       llvm::concat<FlatSymbolRefAttr>(readVariables(op), writtenVariables(op)))
    if (!has(symbol.getAttr()))
      return false;
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    Operation *producer = operand.getDefiningOp();
    return !producer || !shared.contains(producer) ||
           llvm::all_of(shared.variablesOf(producer), has);
  });
}

int64_t StagePlacement::chunkOfUser(Operation *user) const {
  auto found = chunks.find(user);
  return found == chunks.end() ? layout.getChunks() - 1 : found->second; // The terminator.
}

/// Returns whether a value of the forward part is in a chunk that its own or an operation of the
/// forward part brings it to.
bool StagePlacement::isAvailable(Value value, int64_t chunk) const {
  return of(value.getDefiningOp()) == chunk || llvm::any_of(value.getUsers(), [&](Operation *user) {
           return isForward(user) && chunkOfUser(user) == chunk;
         });
}

void StagePlacement::place(Operation *op, bool isForward) {
  int64_t first = isForward ? 0 : layout.getChunks() - 1;
  SmallVector<Value> ofOtherPart;
  for (Value operand : op->getOperands()) {
    Operation *producer = operand.getDefiningOp();
    if (!producer || shared.contains(producer))
      continue;
    if (this->isForward(producer) != isForward)
      ofOtherPart.push_back(operand);
    else if (isLater(of(producer), first, isForward))
      first = of(producer);
  }
  // The first chunk that has most of: the gradient's variable, and saved values.
  std::optional<int64_t> chosen;
  int best = -1;
  const int64_t step = isForward ? 1 : -1;
  for (int64_t chunk = first; chunk >= 0 && chunk < layout.getChunks(); chunk += step) {
    if (!mayRunIn(op, chunk))
      continue;
    const bool hasGradient = hasGradientOf(op, chunk);
    const bool hasSaved =
        llvm::all_of(ofOtherPart, [&](Value value) { return isAvailable(value, chunk); });
    const int score = 2 * hasGradient + hasSaved;
    if (score > best) {
      best = score;
      chosen = chunk;
    }
  }
  chunks[op] = chosen.value_or(first);
}

/// Finds the operations of the backward part that only compute the gradient of one variable.
void StagePlacement::findGradients() {
  for (Operation &op : llvm::reverse(function.front().without_terminator())) {
    if (isForward(&op))
      continue;
    if (const auto written = writtenVariables(&op); !written.empty()) {
      gradientOf[&op] = rootOfVariable(symbols, written.front().getAttr());
      continue;
    }
    // Gradients that flow on through a variable's operation belong to its stage.
    if (llvm::any_of(op.getOperands(), [&](Value operand) {
          Operation *producer = operand.getDefiningOp();
          return producer && shared.contains(producer) && !shared.variablesOf(producer).empty();
        }))
      continue;
    VariableOp common;
    for (Operation *user : op.getUsers()) {
      VariableOp own = gradientOf.lookup(user);
      if (!own || (common && common != own)) {
        common = {};
        break;
      }
      common = own;
    }
    if (common)
      gradientOf[&op] = common;
  }
}

/// Returns whether the stage of a chunk has the variable whose gradient is all that an operation
/// computes.
bool StagePlacement::hasGradientOf(Operation *op, int64_t chunk) const {
  VariableOp variable = gradientOf.lookup(op);
  if (!variable)
    return true;
  auto found = layout.stageOfVariable.find(variable.getSymName());
  return found == layout.stageOfVariable.end() ||
         found->second == layout.stageOfChunk[static_cast<size_t>(chunk)];
}

/// Returns the chunk that all users of an operation run in or after, if the operation may run there
/// and runs before it now. Users in `group` do not count.
std::optional<int64_t> StagePlacement::findTarget(Operation *op,
                                                  const llvm::SetVector<Operation *> &group) const {
  const bool forward = isForward(op);
  std::optional<int64_t> target;
  for (Value result : op->getResults())
    for (Operation *user : result.getUsers()) {
      if (group.contains(user))
        continue;
      const int64_t chunk = chunkOfUser(user);
      if (!isLater(chunk, of(op), forward) || isForward(user) != forward)
        return std::nullopt;
      if (!target || isLater(*target, chunk, forward))
        target = chunk;
    }
  return target;
}

/// Returns the bytes that are sent less if the group runs in the target chunk; nothing if it
/// cannot.
std::optional<int64_t> StagePlacement::measure(const llvm::SetVector<Operation *> &group,
                                               int64_t target) const {
  int64_t saved = 0;
  llvm::SmallDenseSet<Value, 8> counted;
  for (Operation *op : group) {
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) { return !group.contains(user); }))
        saved += byteSize(cast<RankedTensorType>(result.getType()));
    for (Value operand : op->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (!producer || shared.contains(producer) || group.contains(producer) ||
          !counted.insert(operand).second)
        continue;
      if (isForward(producer) != isForward(op)) {
        if (!isAvailable(operand, target))
          return std::nullopt;
        continue;
      }
      const bool isThere =
          of(producer) == target || llvm::any_of(operand.getUsers(), [&](Operation *user) {
            return !group.contains(user) && chunkOfUser(user) == target;
          });
      saved -= isThere ? 0 : byteSize(cast<RankedTensorType>(operand.getType()));
    }
  }
  return saved;
}

/// Moves an operation to its users, with operations before it that nothing else uses, if fewer
/// bytes are sent then.
void StagePlacement::sink(Operation *op) {
  constexpr size_t maxGroup = 48;
  llvm::SetVector<Operation *> group;
  const std::optional<int64_t> target = findTarget(op, group);
  if (!target || !mayRunIn(op, *target))
    return;
  group.insert(op);
  for (size_t measured = 0; measured < group.size() && group.size() <= maxGroup;) {
    measured = group.size();
    if (measure(group, *target).value_or(0) > 0) {
      for (Operation *each : group)
        chunks[each] = *target;
      return;
    }
    for (size_t i = 0; i < measured; ++i)
      for (Value operand : group[i]->getOperands()) {
        Operation *producer = operand.getDefiningOp();
        if (!producer || shared.contains(producer) || group.contains(producer) ||
            isForward(producer) != isForward(op) || of(producer) != of(op) ||
            !mayRunIn(producer, *target))
          continue;
        const std::optional<int64_t> own = findTarget(producer, group);
        const bool hasOthers = llvm::any_of(producer->getUsers(),
                                            [&](Operation *user) { return !group.contains(user); });
        if (!hasOthers || own == target)
          group.insert(producer);
      }
  }
}

LogicalResult StagePlacement::verify() const {
  for (auto [op, chunk] : chunks)
    if (!mayRunIn(op, chunk))
      return emitError(op->getLoc(), "--pipeline ")
             << *llvm::max_element(layout.stageOfChunk) + 1
             << ": the operation needs variables of several stages; use fewer stages";
  return success();
}

std::vector<ChunkMessage> StagePlacement::findMessages() {
  llvm::MapVector<std::pair<int64_t, int64_t>, ChunkMessage> found;
  for (Operation &op : function.front().without_terminator()) {
    if (shared.contains(&op))
      continue;
    const int64_t from = of(&op);
    for (Value result : op.getResults()) {
      llvm::SmallSetVector<int64_t, 2> users;
      for (Operation *user : result.getUsers())
        if (const int64_t to = chunkOfUser(user); to != from)
          users.insert(to);
      for (int64_t to : users) {
        ChunkMessage &message =
            found.try_emplace({from, to}, ChunkMessage{from, to, to < from, {}}).first->second;
        message.values.push_back(result);
      }
    }
  }
  std::vector<ChunkMessage> messages;
  for (auto &[pair, message] : found)
    messages.push_back(std::move(message));
  return messages;
}
