//===- OptimizerPass.cpp - Generates the update function of all parameters --------------------===//

#include "ir/NodeNames.h"
#include "ir/ReservedNames.h"
#include "passes/Passes.h"
#include "passes/optimizer/GradientScaling.h"
#include "passes/optimizer/HyperparameterSettings.h"
#include "passes/optimizer/UpdateGroups.h"
#include "passes/sharding/AxisParts.h"
#include "passes/sharding/Pieces.h"
#include "passes/sharding/WholeTensors.h"

#include "llvm/ADT/MapVector.h"
#include <optional>
#include <vector>

namespace mtc {
#define GEN_PASS_DEF_OPTIMIZER
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

/// Views read and written to update one parameter, or several as one flat tensor.
struct Operands {
  ParameterView parameter;
  VariableView gradient;
  SmallVector<std::optional<VariableView>> states;
  std::optional<VariableView> average;
  /// Of a parameter that is updated alone: its type on all ranks, and its division along an axis.
  RankedTensorType whole = {};
  AxisSplitAttr split = {};
};

/// The update of a parameter between its reads and its writes.
struct StartedUpdate {
  Update update;
  Operands operands;
  Value gradient; ///< as read
  Value oldParameter, oldAverage;
  SmallVector<Value> oldStates;
};

struct OptimizerPass : PassWithOptions<mtc::impl::OptimizerBase<OptimizerPass>, OptimizerOptions> {
  using PassWithOptions::PassWithOptions;
  void runOnOperation() override;

private:
  void buildFunction(func::FuncOp function, ArrayRef<UpdateGroup> groups, ProgramOp program);
  Value readScalar(TensorBuilder &b, RuntimeScalar scalar);
  ClipLimits readLimits(TensorBuilder &b);
  llvm::StringMap<Value> readSettings(TensorBuilder &b, const UpdateRule &rule);
  void clearSums(TensorBuilder &b);
  Value keep(TensorBuilder &b, Value changed, Value old) const;
  StartedUpdate start(const Update &update, const Operands &operands);
  void finish(StartedUpdate &started);
  void buildUpdate(const Update &update, const Operands &operands);
  void buildDivided(const Update &update, ArrayRef<Operands> operands, RankedTensorType local);
  void buildGroup(const Update &update, const UpdateGroup &group);

  OptimizerOptions options;
  bool hasRanks = false;
  /// Whether gradients are accumulated over micro-steps.
  bool accumulates = false;
  /// Whether the update must reset the gradients. Otherwise, mtc-shard resets their sums.
  bool resetsGradients = false;
  /// Empty unless the program scales its loss.
  std::optional<LossScale> lossScale;
  std::optional<GradientScaling> gradientScaling;
  std::optional<Division> division;
  std::optional<SymbolTable> symbols;
  /// Insertion point of new variables, before the functions.
  Block::iterator variablesEnd;
};

} // namespace

/// Reads a scalar that the runtime sets, as f64.
Value OptimizerPass::readScalar(TensorBuilder &b, RuntimeScalar scalar) {
  VariableOp variable = VariableOp::findOrAddScalar(*symbols, scalar, variablesEnd);
  return b.cast(b.create<ReadOp>(variable.getTensorType(), variable.getSymName()), b.getF64Type());
}

/// Reads the hyperparameters of a rule that flags of the program set: numbers with the value of the
/// run, unless it is 0, in which case nothing is computed with it. Numbers of a parameter group are
/// constants.
llvm::StringMap<Value> OptimizerPass::readSettings(TensorBuilder &b, const UpdateRule &rule) {
  llvm::StringMap<Value> settings;
  if (!hasSettings(getOperation()))
    return settings;
  const UpdateRule base = options.makeRule(*rule.kind);
  for (const Hyperparameter &each : rule.kind->hyperparameters) {
    const double value = rule[each.name];
    const std::optional<SettingKind> setting = settingOf(*rule.kind, each);
    if (setting && value != 0.0 && value == base[each.name])
      settings[each.name] = readNumber(b, *setting, rule.kind->name, value).setting;
  }
  return settings;
}

/// Returns the limits of gradients, which flags of the program set.
ClipLimits OptimizerPass::readLimits(TensorBuilder &b) {
  auto limitOf = [&](const SettingKind &kind,
                     std::optional<double> given) -> std::optional<Number> {
    return given ? std::optional(readNumber(b, kind, "gradients", *given)) : std::nullopt;
  };
  return {limitOf(clipNormSetting, options.clipNorm), limitOf(clipValueSetting, options.clipValue)};
}

/// Resets the sums over micro-steps.
void OptimizerPass::clearSums(TensorBuilder &b) {
  for (StringRef name : {lossSumName, targetCountName})
    if (auto variable = symbols->lookup<VariableOp>(name))
      b.create<WriteOp>(name, b.splat(variable.getTensorType(), 0.0));
}

/// Returns the new value of a variable, taking skipped updates into account.
Value OptimizerPass::keep(TensorBuilder &b, Value changed, Value old) const {
  return lossScale ? lossScale->keep(b, changed, old) : changed;
}

/// Keeps quantized state finite, because a block's scale depends on all its elements. If an element
/// of a state would not be finite, sets the element's states to 0 and keeps the parameter's
/// element. Also keeps the parameter's element if its new value would not be finite.
static void keepFinite(Update &update, Value oldParameter) {
  TensorBuilder &b = update.b;
  Value exists, parameter = update.parameter;
  auto isQuantized = [&](size_t number) {
    return update.states[number] &&
           update.rule.kind->states[number].isLikeParameter(shapeOf(parameter), update.rule);
  };
  for (auto [number, state] : llvm::enumerate(update.states))
    if (isQuantized(number))
      exists = exists ? b.logicalAnd(exists, isFinite(b, state)) : isFinite(b, state);
  Value moves = b.logicalAnd(exists, isFinite(b, parameter));
  update.parameter = b.select(moves, parameter, oldParameter);
  for (auto [number, state] : llvm::enumerate(update.states))
    if (isQuantized(number))
      state = b.select(exists, state, b.splat(state, 0.0));
}

/// Returns zeros that the kernel which computes `value` can store as well. A constant would be a
/// separate kernel and could run before the old value is read. `value < value` is always false.
static Value zerosAfter(TensorBuilder &b, Value value, RankedTensorType like) {
  return b.cast(b.compare(Predicate::Lt, value, value), like.getElementType());
}

StartedUpdate OptimizerPass::start(const Update &update, const Operands &operands) {
  TensorBuilder &b = update.b;
  StartedUpdate started{update, operands, {}, operands.parameter.read(b), {}, {}};
  started.update.parameter = started.oldParameter;
  started.gradient = operands.gradient.readWide(b);
  for (const std::optional<VariableView> &state : operands.states)
    started.update.states.push_back(state ? state->read(b) : Value());
  started.oldStates = started.update.states;
  if (operands.average)
    started.oldAverage = operands.average->read(b);
  started.update.gradient = gradientScaling->apply(b, started.gradient);
  return started;
}

void OptimizerPass::finish(StartedUpdate &started) {
  auto &[update, operands, given, oldParameter, oldAverage, oldStates] = started;
  TensorBuilder &b = update.b;
  if (update.rule.stateBits != 32)
    keepFinite(update, oldParameter);

  SmallVector<std::pair<VariableView, Value>> written;
  // A modified gradient with several users overwrites the given gradient instead of allocating
  // memory.
  bool isShared = !update.rule.kind->isElementwise() && update.rule.stateBits == 32 &&
                  !update.gradient.hasOneUse() && operands.gradient.isWritable();
  if (resetsGradients && operands.gradient.isWritable())
    written.push_back({operands.gradient, zerosAfter(b, update.parameter, typeOf(given))});
  else if (update.gradient != given && isShared)
    written.push_back({operands.gradient, update.gradient});
  for (auto [state, value, old] : llvm::zip_equal(operands.states, update.states, oldStates))
    if (state)
      written.push_back({*state, keep(b, value, old)});
  if (oldAverage) {
    Value average = update.mix(oldAverage, update.parameter, 1.0 - *options.ema);
    written.push_back({*operands.average, keep(b, average, oldAverage)});
  }
  llvm::append_range(written,
                     operands.parameter.divide(b, keep(b, update.parameter, oldParameter)));
  for (const auto &[variable, value] : written)
    variable.write(b, value);
}

/// Returns a whole tensor, of which this rank has a part, as a tensor that kernels read.
static Value readWhole(TensorBuilder &b, Value part, RankedTensorType whole, AxisSplitAttr split) {
  return split ? WholeTensors(b, whole.clone(typeOf(part).getElementType()), 1, RankGroup())
                     .assemble(gatherParts(b, part, whole, split))
               : part;
}

/// Emits all reads first and all writes last, so that the computation in between can be fused.
void OptimizerPass::buildUpdate(const Update &update, const Operands &operands) {
  StartedUpdate started = start(update, operands);
  if (update.rule.kind->isElementwise() || !hasRanks) {
    update.rule.kind->build(started.update);
  } else {
    // The order in which a kernel sums a tensor may depend on whether the kernel computes or reads
    // the tensor. Ranks that assemble the tensor from pieces read it. A gather on one rank
    // separates the kernels.
    const WholeTensorRule &rule = *update.rule.kind->wholeTensors;
    WholeTensors tensors(update.b, typeOf(started.update.parameter), 1, RankGroup());
    const SmallVector<Value> needed =
        llvm::map_to_vector(rule.begin(started.update), [&](Value tensor) {
          return operands.split ? readWhole(update.b, tensor, operands.whole, operands.split)
                                : tensors.assemble(tensor);
        });
    started.update.finish(
        takePart(update.b, rule.transform(started.update, needed), operands.split));
  }
  finish(started);
}

/// Emits the update of divided parameters of one type, at most one for each rank. Each rank
/// computes the step of one of them. Ranks with other parts along an axis compute the same step.
void OptimizerPass::buildDivided(const Update &update, ArrayRef<Operands> operands,
                                 RankedTensorType local) {
  TensorBuilder &b = update.b;
  const WholeTensorRule &rule = *update.rule.kind->wholeTensors;
  WholeTensors tensors(b, local, operands.size(), division->getGroup());
  RankedTensorType whole = operands.front().whole;
  AxisSplitAttr split = operands.front().split;
  std::vector<StartedUpdate> started;
  SmallVector<SmallVector<Value>> pieces; // by tensor that is needed whole
  for (const Operands &each : operands) {
    started.push_back(start(update, each));
    SmallVector<Value> needed = rule.begin(started.back().update);
    pieces.resize(needed.size());
    for (auto [list, value] : llvm::zip_equal(pieces, needed))
      list.push_back(value);
  }
  Update own = update; // of the parameter that is assigned to this rank
  auto statesOf = [&](size_t number) {
    return llvm::map_to_vector(started,
                               [&](StartedUpdate &each) { return each.update.states[number]; });
  };
  const Update &first = started.front().update;
  SmallVector<size_t> undivided; // states
  for (auto [number, state] : llvm::enumerate(first.states)) {
    const bool isDivided = !state || !first.rule.kind->states[number].isWhole;
    own.states.push_back(isDivided ? Value() : tensors.select(statesOf(number)));
    if (!isDivided)
      undivided.push_back(number);
  }
  const SmallVector<Value> assembled = llvm::map_to_vector(pieces, [&](ArrayRef<Value> list) {
    return readWhole(b, tensors.assemble(list), whole, split);
  });
  const SmallVector<Value> steps =
      tensors.distribute(takePart(b, rule.transform(own, assembled), split));
  for (size_t number : undivided)
    for (auto [each, state] : llvm::zip_equal(started, tensors.collect(own.states[number])))
      each.update.states[number] = state;
  for (auto [each, step] : llvm::zip_equal(started, steps)) {
    each.update.finish(step);
    finish(each);
  }
}

void OptimizerPass::buildGroup(const Update &update, const UpdateGroup &group) {
  if (group.isFlat) {
    Operands operands{ParameterView(group.parameters), VariableView(group.gradients), {}, {}};
    if (options.ema)
      operands.average = VariableView(group.averages);
    for (ArrayRef<VariableOp> states : group.states)
      operands.states.push_back(states.front() ? std::optional<VariableView>(states)
                                               : std::nullopt);
    return buildUpdate(update, operands);
  }
  // Blocks of quantized state run over the flattened elements.
  auto view = [&](VariableOp variable) {
    return division->viewOf(variable, group.rule.kind->isElementwise());
  };
  const Type element = ParameterStorage(group.parameters.front()).getElementType();
  // By the type of the parameter on a rank, and its division along an axis.
  llvm::MapVector<std::pair<Type, Attribute>, std::vector<Operands>> divided;
  for (auto [i, parameter] : llvm::enumerate(group.parameters)) {
    VariableOp stored = parameter.parameter;
    Operands operands{ParameterView(parameter, view), view(group.gradients[i]), {}, {},
                      stored.getWholeType(),          stored.getSplitAttr()};
    if (options.ema)
      operands.average = view(group.averages[i]);
    for (ArrayRef<VariableOp> states : group.states)
      operands.states.push_back(states[i] ? std::optional(view(states[i])) : std::nullopt);
    if (group.rule.kind->isElementwise() || !division->includes(parameter.parameter)) {
      buildUpdate(update, operands);
      continue;
    }
    divided[{stored.getLocalType().clone(element), stored.getSplitAttr()}].push_back(operands);
  }
  const auto ranks = static_cast<size_t>(division->getGroup().count);
  for (auto &[key, all] : divided)
    for (ArrayRef<Operands> rest = all; !rest.empty();
         rest = rest.drop_front(std::min(ranks, rest.size())))
      buildDivided(update, rest.take_front(ranks), cast<RankedTensorType>(key.first));
}

/// Terminates a function with the named results.
static void setResults(func::FuncOp function, TensorBuilder &b,
                       ArrayRef<std::pair<StringRef, Value>> results) {
  auto values = llvm::to_vector(llvm::make_second_range(results));
  b.create<func::ReturnOp>(values);
  function.setType(b.getFunctionType({}, TypeRange(ValueRange(values))));
  for (auto [i, result] : llvm::enumerate(results))
    function.setResultAttr(i, nameAttribute, b.getStringAttr(result.first));
}

/// Builds the body of the update function.
void OptimizerPass::buildFunction(func::FuncOp function, ArrayRef<UpdateGroup> groups,
                                  ProgramOp program) {
  OpBuilder builder = OpBuilder::atBlockBegin(function.addEntryBlock());
  TensorBuilder b(function.getLoc(), builder);
  division->exchangeInUpdate(b);
  const double rate = options.getLearningRate();
  Value learningRate = readScalar(b, RuntimeScalar::LearningRate), step;
  // Groups depend on the variables that are divided, but the norm must not depend on them.
  const SmallVector<UpdatedGradient> gradients = collectGradients(
      groups, getOperation(), *division, /*inModuleOrder=*/bool(program.getRanks()));
  lossScale.reset();
  if (LossScalingAttr attribute = program.getLossScalingAttr())
    lossScale.emplace(b, attribute);
  gradientScaling
      .emplace(readLimits(b), options.gradientNorm, lossScale ? &*lossScale : nullptr,
               program.getAccumulationAttr(), program.getRanksAttr(),
               getOperation()->getAttrOfType<DenseI64ArrayAttr>(gradientStagesAttribute))
      .build(b, gradients);
  // This must follow `build`, so that the kernels that compute the norm also check the gradients.
  if (lossScale)
    lossScale->check(b, gradients, program.getRanksAttr(), gradientScaling->getNorm());
  if (llvm::any_of(groups, [](const UpdateGroup &group) { return group.rule.kind->usesStep; }))
    step = lossScale ? lossScale->getStep() : readScalar(b, RuntimeScalar::Step);
  for (const UpdateGroup &group : groups) {
    b.setLoc(updateLocation(&getContext(), group.rule.kind->name));
    Update update(b, group.rule);
    const llvm::StringMap<Value> settings = readSettings(b, group.rule);
    update.settings = &settings;
    update.separatesSums = hasRanks;
    double own = group.rule["lr"]; // A different base rate follows the same schedule.
    double ratio = group.rule.rateFactor.value_or(own == rate ? 1.0 : own / rate);
    update.learningRate = ratio == 1.0 ? learningRate : b.mul(learningRate, update.scalar(ratio));
    update.step = step;
    buildGroup(update, group);
  }
  b.setLoc(function.getLoc());
  if (accumulates)
    clearSums(b);
  SmallVector<std::pair<StringRef, Value>> results;
  if (Value norm = gradientScaling->getNorm())
    results.push_back({gradientNormName, norm});
  if (lossScale) {
    lossScale->write(b);
    results.push_back({lossScaleName, lossScale->getScale()});
    results.push_back({updateSkippedName, lossScale->getSkipped()});
  }
  setResults(function, b, results);
}

void OptimizerPass::runOnOperation() {
  ModuleOp module = getOperation();
  symbols.emplace(module);
  auto functions = module.getOps<func::FuncOp>();
  variablesEnd = functions.empty() ? module.getBody()->end() : (*functions.begin())->getIterator();
  FailureOr<OptimizerOptions> given = readOptions();
  if (failed(given))
    return signalPassFailure();
  options = *given;
  ProgramOp program = ProgramOp::findOrAdd(module);
  UpdateRules rules(options, module);
  FailureOr<llvm::StringMap<UpdateRule>> chosen = chooseUpdateRules(module, rules);
  if (failed(chosen))
    return signalPassFailure();
  division.emplace(module);
  const std::vector<UpdateGroup> groups =
      UpdateGroupBuilder(*symbols, variablesEnd, *division).build(*chosen, options.ema.has_value());
  if (std::string others = rules.describeOthers(); !others.empty())
    emitRemark(UnknownLoc::get(&getContext()), others);
  if (std::string kept = rules.describeStateBits(); !kept.empty())
    emitRemark(UnknownLoc::get(&getContext()), kept);

  hasRanks = bool(program.getRanks());
  accumulates = program.getMicroSteps() > 1;
  resetsGradients = accumulates && (!program.getRanks() || program.reducesInUpdate() ||
                                    addsGradientsInPlace(program));
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  auto function = func::FuncOp::create(builder, updateLocation(&getContext(), rules.getKind().name),
                                       updateName, builder.getFunctionType({}, {}));
  symbols->insert(function);
  buildFunction(function, groups, program);
  division->eraseGradients();
  program.setOptimizer(rules.getKind().name);
  program.setScheduleAttr(options.schedule.make(&getContext(), options.getLearningRate()));
}

std::unique_ptr<Pass> mtc::createOptimizer(const OptimizerOptions &options) {
  return std::make_unique<OptimizerPass>(options);
}
