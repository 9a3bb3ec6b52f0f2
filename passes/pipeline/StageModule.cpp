//===- StageModule.cpp - The module of a pipeline stage ---------------------------------------===//

#include "passes/pipeline/StageModule.h"

#include "ir/ReservedNames.h"
#include "ir/attributes/DiscardableAttributes.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mtc;

StageModuleBuilder::StageModuleBuilder(ModuleOp program, ModuleOp stage, int64_t number,
                                       const PipelineLayout &layout)
    : program(program), stage(stage), number(number), layout(layout), symbols(stage) {
  for (auto function : llvm::to_vector(stage.getOps<func::FuncOp>()))
    if (!function->hasAttr(bodyAttribute))
      symbols.erase(function);
  variablesEnd = stage.getBody()->end();
  for (auto variable : stage.getOps<VariableOp>())
    variablesEnd = std::next(variable->getIterator());
}

StringAttr StageModuleBuilder::addSlots(Location location, StringRef name, Type type,
                                        int64_t slots) {
  OpBuilder builder(stage.getContext());
  auto variable = VariableOp::create(builder, location, Role::Slot, name, type,
                                     ZerosAttr::get(builder.getContext()));
  variable.setCopies(static_cast<uint64_t>(slots));
  return symbols.insert(variable, variablesEnd);
}

void StageModuleBuilder::addMessage(const ChunkMessage &message, int64_t channel, bool isSent,
                                    ArrayRef<Attribute> variables) {
  OpBuilder builder(stage.getContext());
  builder.setInsertionPoint(stage.getBody(), variablesEnd);
  const int64_t other = isSent ? message.to : message.from;
  MessageOp::create(builder, stage.getLoc(), isSent, message.isBackward,
                    static_cast<uint64_t>(channel), builder.getArrayAttr(variables),
                    static_cast<uint64_t>(layout.stageOfChunk[static_cast<size_t>(other)]));
}

SmallVector<int64_t> StageModuleBuilder::add(PlacedFunction &placed, StringRef name, int64_t chunk,
                                             int64_t slots) {
  IRMapping copies;
  auto function = cast<func::FuncOp>(placed.function->clone(copies));
  function.setSymName(name);
  symbols.insert(function);
  Block &block = function.front();
  Block &original = placed.function.front();
  auto isHere = [&](Operation &op) {
    return !placed.shared->contains(&op) && placed.placement->of(&op) == chunk;
  };
  // Received values, by the value in the program.
  DenseMap<Value, Value> received;
  SmallVector<int64_t> numbers(placed.messages.size(), -1);
  for (auto [i, message] : llvm::enumerate(placed.messages)) {
    if (message.from != chunk && message.to != chunk)
      continue;
    const bool isSent = message.from == chunk;
    numbers[i] = nextMessage++;
    SmallVector<Attribute> variables;
    for (auto [j, value] : llvm::enumerate(message.values)) {
      const std::string name =
          (slotPrefix + function.getSymName() + "." +
           Twine(placed.firstChannel + static_cast<int64_t>(i)) + "." + Twine(j))
              .str();
      auto symbol = FlatSymbolRefAttr::get(addSlots(value.getLoc(), name, value.getType(), slots));
      variables.push_back(symbol);
      OpBuilder builder(stage.getContext());
      if (isSent) {
        Value own = copies.lookup(value);
        builder.setInsertionPointAfterValue(own);
        WriteOp::create(builder, value.getLoc(), symbol, own);
        continue;
      }
      builder.setInsertionPointToStart(&block);
      received[value] = ReadOp::create(builder, value.getLoc(), value.getType(), symbol);
    }
    addMessage(message, placed.firstChannel + static_cast<int64_t>(i), isSent, variables);
  }
  Operation *terminator = block.getTerminator();
  const bool returns = chunk + 1 == layout.getChunks();
  if (!returns) {
    terminator->setOperands({});
    function.setType(FunctionType::get(function.getContext(), function.getArgumentTypes(), {}));
    function.removeResAttrsAttr();
  }
  // Users come before producers, so that what remains has no users.
  for (Operation &op : llvm::reverse(original.without_terminator())) {
    if (placed.shared->contains(&op)) {
      if (Operation *copy = copies.lookup(&op); copy->use_empty())
        copy->erase();
      continue;
    }
    if (isHere(op))
      continue;
    for (Value result : op.getResults()) {
      Value copy = copies.lookup(result);
      if (Value other = received.lookup(result))
        copy.replaceAllUsesWith(other);
    }
    copies.lookup(&op)->erase();
  }
  return numbers;
}

void StageModuleBuilder::removeVariables() {
  SymbolTable all(program);
  auto isElsewhere = [&](StringAttr name) {
    VariableOp root = rootOfVariable(all, name);
    auto found =
        root ? layout.stageOfVariable.find(root.getSymName()) : layout.stageOfVariable.end();
    return found != layout.stageOfVariable.end() && found->second != number;
  };
  for (auto adapter : llvm::make_early_inc_range(stage.getOps<AdapterOp>()))
    if (isElsewhere(adapter.getBaseAttr().getAttr()))
      adapter.erase();
  for (auto variable : llvm::make_early_inc_range(stage.getOps<VariableOp>())) {
    if (variable.getRole() == Role::Slot || !isElsewhere(variable.getSymNameAttr()))
      continue;
    symbols.erase(variable);
  }
}
