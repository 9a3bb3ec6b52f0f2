//===- CutStages.cpp - Divides a program into pipeline stages ---------------------------------===//

#include "ir/ReservedNames.h"
#include "ir/attributes/DiscardableAttributes.h"
#include "ir/builders/TensorBuilder.h"
#include "ir/steps/VariableAccess.h"
#include "passes/Passes.h"
#include "passes/cost/StepCost.h"
#include "passes/pipeline/SeparateLookups.h"
#include "passes/pipeline/StageModule.h"
#include "passes/pipeline/StageTasks.h"

#include <optional>

namespace mtc {
#define GEN_PASS_DEF_CUTSTAGES
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

/// A function of the program and how it is divided.
struct DividedFunction {
  SharedOperations shared;
  std::optional<StagePlacement> placement;
  PlacedFunction placed;

  explicit DividedFunction(func::FuncOp function) : shared(function) {}
};

/// Divides the module of a program.
class StageCutter {
public:
  StageCutter(ModuleOp module, ProgramOp program)
      : module(module), stages(program.getRanksAttr().getStages()),
        micros(program.getMicroStepsOfRank()) {}

  LogicalResult run();

private:
  DenseMap<Operation *, int64_t> chooseChunks(const StageCuts &cuts);
  void chooseStagesOfVariables(func::FuncOp microStep, const DenseMap<Operation *, int64_t> &chunks,
                               const SharedOperations &shared);
  void addFunction(func::FuncOp function, std::unique_ptr<DividedFunction> divided);
  LogicalResult checkMessages();
  std::vector<PipelineChunk> describeChunks();
  ChunkTasks addChunk(StageModuleBuilder &builder, ModuleOp made, PlacedFunction &placed,
                      int64_t chunk, StringRef name, int64_t slots);
  OwningOpRef<ModuleOp> makeStage(int64_t stage, ArrayRef<PipelineChunk> chunks,
                                  const TaskOrder &order);
  void addAgreement(ModuleOp stage);
  DenseI64ArrayAttr describeGradients();

  ModuleOp module;
  const int64_t stages, micros;
  int64_t nextChannel = 0;
  PipelineLayout layout;
  std::vector<std::unique_ptr<DividedFunction>> functions; ///< the micro-step first
};

} // namespace

/// Makes one chunk of each stage. Lookups of a variable of another stage than the first one are a
/// chunk of their own, so that the variable is needed on one stage only.
DenseMap<Operation *, int64_t> StageCutter::chooseChunks(const StageCuts &cuts) {
  const bool looksUpElsewhere = !cuts.lookups.empty() && cuts.stageOfLookups != 0;
  if (looksUpElsewhere)
    layout.stageOfChunk.push_back(cuts.stageOfLookups);
  const int64_t first = layout.getChunks();
  for (int64_t stage = 0; stage < stages; ++stage)
    layout.stageOfChunk.push_back(stage);
  DenseMap<Operation *, int64_t> chunks;
  for (auto [op, stage] : cuts.stages)
    chunks[op] = first + stage;
  for (Operation *op : cuts.lookups)
    chunks[op] = 0;
  return chunks;
}

/// Chooses the stage of each variable by the operations of the forward part that use it.
void StageCutter::chooseStagesOfVariables(func::FuncOp microStep,
                                          const DenseMap<Operation *, int64_t> &chunks,
                                          const SharedOperations &shared) {
  SymbolTable symbols(module);
  auto use = [&](StringAttr name, int64_t chunk) {
    VariableOp root = rootOfVariable(symbols, name);
    if (!isOfAllStages(root))
      layout.stageOfVariable.try_emplace(root.getSymName(),
                                         layout.stageOfChunk[static_cast<size_t>(chunk)]);
  };
  for (Operation &op : microStep.front().without_terminator()) {
    auto found = chunks.find(&op);
    if (found == chunks.end())
      continue;
    for (FlatSymbolRefAttr symbol :
         llvm::concat<FlatSymbolRefAttr>(readVariables(&op), writtenVariables(&op)))
      use(symbol.getAttr(), found->second);
    for (Value operand : op.getOperands())
      if (Operation *producer = operand.getDefiningOp(); producer && shared.contains(producer))
        for (StringAttr name : shared.variablesOf(producer))
          use(name, found->second);
  }
  // The first stage has those that no micro-step reads.
  for (auto variable : module.getOps<VariableOp>())
    if (!variable.getOf() && !isOfAllStages(variable))
      layout.stageOfVariable.try_emplace(variable.getSymName(), 0);
}

void StageCutter::addFunction(func::FuncOp function, std::unique_ptr<DividedFunction> divided) {
  divided->placed = {function, &divided->shared, &*divided->placement,
                     divided->placement->findMessages(), nextChannel};
  nextChannel += static_cast<int64_t>(divided->placed.messages.size());
  functions.push_back(std::move(divided));
}

/// Returns the chunks with the estimated times of the micro-step, and their slots.
std::vector<PipelineChunk> StageCutter::describeChunks() {
  PlacedFunction &placed = functions.front()->placed;
  const MicroStepParts parts(placed.function);
  std::vector<PipelineChunk> chunks(layout.stageOfChunk.size());
  StepCost cost(module);
  for (auto [chunk, stage] : llvm::zip_equal(chunks, layout.stageOfChunk)) {
    chunk.stage = stage;
    chunk.hasBackward = false;
  }
  for (const ChunkMessage &message : placed.messages)
    if (message.isBackward)
      chunks[static_cast<size_t>(message.to)].hasBackward = true;
  for (Operation &op : placed.function.front().without_terminator())
    if (!placed.shared->contains(&op)) {
      PipelineChunk &chunk = chunks[static_cast<size_t>(placed.placement->of(&op))];
      (parts.forward.contains(&op) ? chunk.forward : chunk.backward) += cost.of(&op).picoseconds;
    }
  for (PipelineChunk &chunk : chunks) { // The order must not depend on tasks without any time.
    chunk.forward = std::max<int64_t>(chunk.forward, 1);
    chunk.backward = std::max<int64_t>(chunk.backward, 1);
  }
  return chunks;
}

static std::vector<PipelineMessage> describeMessages(ArrayRef<ChunkMessage> messages) {
  std::vector<PipelineMessage> described;
  for (const ChunkMessage &message : messages)
    described.push_back({message.from, message.to, message.isBackward, 0});
  return described;
}

/// Adds the function that brings the sums of the last stage to all stages: the loss and the count
/// of targets.
void StageCutter::addAgreement(ModuleOp stage) {
  SymbolTable symbols(stage);
  OpBuilder builder = OpBuilder::atBlockEnd(stage.getBody());
  auto function =
      func::FuncOp::create(builder, stage.getLoc(), agreementName, builder.getFunctionType({}, {}));
  builder.setInsertionPointToStart(function.addEntryBlock());
  TensorBuilder b(stage.getLoc(), builder);
  SmallVector<StringRef> names;
  SmallVector<Value> own;
  for (StringRef name : {lossSumName, targetCountName})
    if (auto variable = symbols.lookup<VariableOp>(name)) {
      names.push_back(name);
      own.push_back(b.reshape(b.create<ReadOp>(variable.getTensorType(), name), {1}));
    }
  Value values = own.size() == 1 ? own.front() : b.concatenate(own, 0);
  const auto count = static_cast<int64_t>(own.size());
  const RankGroup group = ProgramOp::find(stage).getStageGroup();
  auto rows = RankedTensorType::get({group.count, count}, typeOf(values).getElementType());
  Value all = b.create<AllGatherOp>(TypeRange(rows), values, group).getResult(0);
  for (auto [i, name] : llvm::enumerate(names)) {
    Value last = b.slice(all, {group.count - 1, static_cast<int64_t>(i)}, {1, 1}, {1, 1});
    b.create<WriteOp>(name, b.reshape(last, {}));
  }
  b.create<func::ReturnOp>();
}

/// Returns the name of the function of a stage's chunk: that of the program's function for the last
/// chunk of the stage.
static std::string nameOfChunk(StringRef function, int64_t chunk, ArrayRef<int64_t> chunks) {
  return chunk == chunks.back() ? function.str() : (function + ".chunk" + Twine(chunk)).str();
}

ChunkTasks StageCutter::addChunk(StageModuleBuilder &builder, ModuleOp made, PlacedFunction &placed,
                                 int64_t chunk, StringRef name, int64_t slots) {
  ChunkTasks tasks;
  tasks.forward = name.str();
  tasks.slots = slots;
  const SmallVector<int64_t> numbers = builder.add(placed, name, chunk, slots);
  for (auto [message, number] : llvm::zip_equal(placed.messages, numbers))
    if (number >= 0)
      (message.from == chunk ? tasks.sent : tasks.received)[message.isBackward].push_back(number);
  if (!tasks.received[true].empty())
    tasks.backward = (name + backwardSuffix).str();
  auto function = made.lookupSymbol<func::FuncOp>(name);
  tasks.readsInputs = llvm::any_of(function.getArguments(),
                                   [](BlockArgument argument) { return !argument.use_empty(); });
  return tasks;
}

OwningOpRef<ModuleOp> StageCutter::makeStage(int64_t stage, ArrayRef<PipelineChunk> chunks,
                                             const TaskOrder &order) {
  OwningOpRef<ModuleOp> made = cast<ModuleOp>(module->clone());
  made->setSymName(("stage" + Twine(stage)).str());
  StageModuleBuilder builder(module, *made, stage, layout);
  SmallVector<int64_t> own;
  for (auto [chunk, ofStage] : llvm::enumerate(layout.stageOfChunk))
    if (ofStage == stage)
      own.push_back(static_cast<int64_t>(chunk));
  DenseMap<int64_t, ChunkTasks> update;
  for (const auto &each : functions) {
    PlacedFunction &placed = each->placed;
    const StringRef function = placed.function.getSymName();
    std::vector<ChunkTasks> tasks;
    for (int64_t chunk : own) {
      const std::string name = nameOfChunk(function, chunk, own);
      const int64_t slots =
          function == microStepName ? chunks[static_cast<size_t>(chunk)].slots : 1;
      tasks.push_back(addChunk(builder, *made, placed, chunk, name, slots));
      if (function == microStepName)
        update[chunk] = tasks.back();
    }
    if (function != microStepName)
      writeForwardTasks(*made, function, tasks);
  }
  builder.removeVariables();
  ProgramOp::find(*made).setPipelineStage(stage);
  (*made)->setAttr(gradientStagesAttribute, describeGradients());
  writeUpdateTasks(*made, order.stages[static_cast<size_t>(stage)], update, micros, agreementName);
  addAgreement(*made);
  return made;
}

/// Returns the stages of all gradients, in the order of the program's variables.
DenseI64ArrayAttr StageCutter::describeGradients() {
  SymbolTable symbols(module);
  SmallVector<int64_t> stagesOfGradients;
  for (auto variable : module.getOps<VariableOp>())
    if (variable.getRole() == Role::Gradient && !variable.getSymName().ends_with(lookupsSuffix))
      stagesOfGradients.push_back(layout.stageOfVariable.lookup(
          rootOfVariable(symbols, variable.getSymNameAttr()).getSymName()));
  return DenseI64ArrayAttr::get(module.getContext(), stagesOfGradients);
}

/// Refuses messages of a stage to itself.
LogicalResult StageCutter::checkMessages() {
  for (const auto &each : functions)
    if (failed(each->placement->verify()))
      return failure();
  for (const auto &each : functions)
    for (const ChunkMessage &message : each->placed.messages)
      if (layout.stageOfChunk[static_cast<size_t>(message.from)] ==
          layout.stageOfChunk[static_cast<size_t>(message.to)])
        return emitError(message.values.front().getLoc(), "--pipeline ")
               << stages << ": a stage needs the value again after other stages; use fewer stages";
  return success();
}

/// Returns the names of the program's variables, whose order the tables of all stages have.
static ArrayAttr namesOfVariables(ModuleOp program) {
  SmallVector<Attribute> names;
  for (auto variable : program.getOps<VariableOp>())
    names.push_back(variable.getSymNameAttr());
  return ArrayAttr::get(program.getContext(), names);
}

LogicalResult StageCutter::run() {
  SymbolTable symbols(module);
  auto microStep = symbols.lookup<func::FuncOp>(microStepName);
  if (!microStep)
    return emitError(module.getLoc(),
                     "the module has no function @micro_step; run mtc-attach-loss first");
  if (ProgramOp::find(module).getMicroSteps() == 1)
    return emitError(module.getLoc(), "--pipeline ")
           << stages
           << ": stages work on different micro-steps at a time, but an update has only one; "
           << "use --accumulate " << 2 * stages << " or more";
  auto divided = std::make_unique<DividedFunction>(microStep);
  const MicroStepParts parts(microStep);
  FailureOr<StageCuts> cuts = chooseCuts(microStep, divided->shared, parts, stages);
  if (failed(cuts))
    return failure();
  DenseMap<Operation *, int64_t> chunks = chooseChunks(*cuts);
  chooseStagesOfVariables(microStep, chunks, divided->shared);
  divided->placement.emplace(microStep, divided->shared, parts, layout, std::move(chunks));
  addFunction(microStep, std::move(divided));
  for (StringRef name : {evaluateName, outputsName})
    if (auto function = symbols.lookup<func::FuncOp>(name)) {
      auto other = std::make_unique<DividedFunction>(function);
      other->placement.emplace(function, other->shared, layout);
      addFunction(function, std::move(other));
    }
  if (failed(checkMessages()))
    return failure();
  std::vector<PipelineChunk> described = describeChunks();
  const std::vector<PipelineMessage> messages =
      describeMessages(functions.front()->placed.messages);
  chooseSlots(described, messages, micros);
  const TaskOrder order = orderTasks(described, messages, micros);
  SmallVector<OwningOpRef<ModuleOp>> made;
  SmallVector<ModuleOp> all;
  for (int64_t stage = 0; stage < stages; ++stage) {
    made.push_back(makeStage(stage, described, order));
    all.push_back(*made.back());
  }
  for (StringRef name : {microStepName, evaluateName, outputsName})
    if (std::string problem = findDeadlock(all, name); !problem.empty())
      return emitError(module.getLoc(), "tasks of pipeline stages: ") << problem;
  functions.clear();
  module->setAttr(variablesAttribute, namesOfVariables(module));
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*module.getBody())))
    if (!isa<ProgramOp>(op)) // It describes the program as a whole.
      op.erase();
  for (OwningOpRef<ModuleOp> &stage : made)
    module.getBody()->push_back(stage.release());
  return success();
}

namespace {

struct CutStagesPass : mtc::impl::CutStagesBase<CutStagesPass> {
  void runOnOperation() override {
    ProgramOp program = ProgramOp::find(getOperation());
    if (!program || !program.getRanks() || program.getRanksAttr().getPipeline() == 0 ||
        program.getPipelineStage())
      return;
    if (auto microStep = getOperation().lookupSymbol<func::FuncOp>(microStepName))
      separateLookups(microStep);
    if (program.getRanksAttr().getStages() == 1)
      return;
    if (failed(StageCutter(getOperation(), program).run()))
      signalPassFailure();
  }
};

} // namespace
