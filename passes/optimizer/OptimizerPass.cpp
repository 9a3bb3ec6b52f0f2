//===- OptimizerPass.cpp - The update of all parameters as a function -------------------------===//

#include "ir/ReservedNames.h"
#include "passes/GraphSignature.h"
#include "passes/Passes.h"
#include "passes/optimizer/OptimizerOptions.h"

#include "llvm/ADT/MapVector.h"

namespace mtc {
#define GEN_PASS_DEF_OPTIMIZER
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

/// Parameters that are updated together; the variables of one list lie as those of another.
struct Group {
  SmallVector<VariableOp> parameters, gradients;
  SmallVector<SmallVector<VariableOp>> states;
  bool decays = false;
};

/// A group's variables of one kind as one tensor to compute with, and back.
class FlatView {
public:
  FlatView(ArrayRef<VariableOp> variables);
  Value read(TensorBuilder &b);
  void write(TensorBuilder &b, Value value);

private:
  ArrayAttr symbols;
  RankedTensorType type;
};

struct OptimizerPass : PassWithOptions<mtc::impl::OptimizerBase<OptimizerPass>, OptimizerOptions> {
  using PassWithOptions::PassWithOptions;
  void runOnOperation() override;

private:
  LogicalResult readNumbers();
  FailureOr<SmallVector<Group>> makeGroups();
  VariableOp addState(VariableOp parameter, StringRef suffix);
  Value readScalar(TensorBuilder &b, RuntimeScalar scalar, Type element);
  void buildGroup(Update update, Group &group, Value gradientScale);

  OptimizerOptions options;
  const OptimizerKind *kind = nullptr;
  /// Gradients are sums over micro-steps, which start again after each update.
  bool accumulates = false;
  llvm::StringMap<double> numbers;
  std::optional<SymbolTable> symbols;
  /// Where new variables go: before the functions.
  Block::iterator variablesEnd;
};

} // namespace

/// Elements that a variable takes in a flat tensor, its padding included.
static int64_t paddedElements(RankedTensorType type) {
  return paddedBytes(byteSize(type)) / elementBytes(type.getElementType());
}

FlatView::FlatView(ArrayRef<VariableOp> variables) {
  Builder b(variables.front()->getContext());
  SmallVector<Attribute> names;
  int64_t size = 0;
  for (VariableOp variable : variables) {
    names.push_back(FlatSymbolRefAttr::get(variable.getSymNameAttr()));
    size += paddedElements(variable.getTensorType());
  }
  symbols = b.getArrayAttr(names);
  type =
      RankedTensorType::get({size}, VariableOp(variables.front()).getTensorType().getElementType());
}

Value FlatView::read(TensorBuilder &b) { return b.create<ReadFlatOp>(type, symbols); }
void FlatView::write(TensorBuilder &b, Value value) { b.create<WriteFlatOp>(symbols, value); }

/// Checks the options, and completes the numbers by the optimizer's defaults.
LogicalResult OptimizerPass::readNumbers() {
  FailureOr<OptimizerOptions> given = readOptions();
  if (failed(given))
    return failure();
  options = *given;
  kind = findOptimizer(options.optimizer);
  for (const Hyperparameter &each : kind->hyperparameters)
    numbers[each.name] = options.numbers.lookup(each.name).value_or(each.defaultValue);
  return success();
}

VariableOp OptimizerPass::addState(VariableOp parameter, StringRef suffix) {
  OpBuilder builder(&getContext());
  auto state = VariableOp::create(builder, parameter.getLoc(), Role::Optimizer,
                                  (parameter.getSymName() + "." + suffix).str(),
                                  parameter.getType(), ZerosAttr::get(&getContext()),
                                  FlatSymbolRefAttr::get(parameter.getSymNameAttr()));
  symbols->insert(state, variablesEnd);
  return state;
}

FailureOr<SmallVector<Group>> OptimizerPass::makeGroups() {
  llvm::StringMap<VariableOp> gradients;
  for (auto variable : getOperation().getOps<VariableOp>())
    if (variable.getRole() == Role::Gradient)
      gradients[*variable.getOf()] = variable;

  llvm::MapVector<std::pair<Type, unsigned>, Group> groups;
  for (auto parameter : llvm::to_vector(getOperation().getOps<VariableOp>())) {
    if (parameter.getRole() != Role::Parameter)
      continue;
    VariableOp gradient = gradients.lookup(parameter.getSymName());
    if (!gradient)
      return emitError(parameter.getLoc(), "parameter '")
             << parameter.getSymName() << "' has no gradient; mtc-autodiff makes it";
    RankedTensorType type = parameter.getTensorType();
    if (!type.getElementType().isF32() && !type.getElementType().isF64())
      return emitError(parameter.getLoc(), "parameter '")
             << parameter.getSymName() << "' is " << print(type)
             << ", but optimizers update f32 and f64";
    bool decays =
        numbers.lookup("weight-decay") != 0.0 && !(options.noDecay1d && type.getRank() < 2);
    Group &group = groups[{type.getElementType(), decays}];
    group.decays = decays;
    group.parameters.push_back(parameter);
    group.gradients.push_back(gradient);
    group.states.resize(kind->states.size());
    for (auto [states, suffix] : llvm::zip_equal(group.states, kind->states))
      states.push_back(addState(parameter, suffix));
  }
  return llvm::map_to_vector(groups.takeVector(), [](auto &entry) { return entry.second; });
}

/// A scalar that the runtime sets; the variable is made on first use.
Value OptimizerPass::readScalar(TensorBuilder &b, RuntimeScalar scalar, Type element) {
  std::string name = scalarName(scalar);
  auto type = RankedTensorType::get({}, element);
  if (!symbols->lookup(name)) {
    OpBuilder builder(&getContext());
    symbols->insert(VariableOp::create(builder, getOperation().getLoc(), Role::Scalar, name, type,
                                       RuntimeScalarAttr::get(&getContext(), scalar)),
                    variablesEnd);
  }
  return b.cast(b.create<ReadOp>(type, name), b.getF64Type());
}

void OptimizerPass::buildGroup(Update update, Group &group, Value gradientScale) {
  TensorBuilder &b = update.b;
  FlatView parameters(group.parameters);
  SmallVector<FlatView> states(group.states.begin(), group.states.end());
  update.weightDecay = group.decays ? numbers.lookup("weight-decay") : 0.0;
  update.parameter = parameters.read(b);
  FlatView gradients(group.gradients);
  Value given = update.gradient = gradients.read(b);
  if (gradientScale)
    update.gradient = b.mul(given, update.broadcast(gradientScale));
  for (FlatView &state : states)
    update.states.push_back(state.read(b));
  kind->build(update);
  // A changed gradient that is read more than once takes the given one's place, not memory of its
  // own.
  if (accumulates)
    gradients.write(b, b.splat(given, 0.0));
  else if (update.gradient != given && !update.gradient.hasOneUse())
    gradients.write(b, update.gradient);
  for (auto [state, value] : llvm::zip_equal(states, update.states))
    state.write(b, value);
  parameters.write(b, update.parameter);
}

/// What all gradients are multiplied with so that their common norm is at most `limit`: min(1,
/// limit / (norm + 1e-6)), a scalar f64. Sums run over the last axes first, so that they are many
/// and short.
static Value buildClipping(TensorBuilder &b, ArrayRef<Group> groups, double limit) {
  Value total = b.splat(RankedTensorType::get({}, b.getF64Type()), 0.0);
  for (const Group &group : groups)
    for (VariableOp variable : group.gradients) {
      Value gradient = b.create<ReadOp>(variable.getTensorType(), variable.getSymName());
      Value sum = b.mul(gradient, gradient);
      for (int64_t axis = variable.getTensorType().getRank(); axis-- > 0;)
        sum = b.sum(sum, {axis});
      total = b.add(total, b.cast(sum, b.getF64Type()));
    }
  Value norm = b.add(b.sqrt(total), b.splat(total, 1e-6));
  return b.min(b.splat(total, 1.0), b.div(b.splat(total, limit), norm));
}

void OptimizerPass::runOnOperation() {
  ModuleOp module = getOperation();
  symbols.emplace(module);
  auto functions = module.getOps<func::FuncOp>();
  variablesEnd = functions.empty() ? module.getBody()->end() : (*functions.begin())->getIterator();
  if (failed(readNumbers()))
    return signalPassFailure();
  FailureOr<SmallVector<Group>> groups = makeGroups();
  if (failed(groups))
    return signalPassFailure();

  module.walk([&](AccumulateOp) { accumulates = true; });
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  auto location = NameLoc::get(builder.getStringAttr("optimizer " + kind->name));
  auto function =
      func::FuncOp::create(builder, location, updateName, builder.getFunctionType({}, {}));
  symbols->insert(function);
  builder.setInsertionPointToStart(function.addEntryBlock());
  TensorBuilder b(location, builder);
  Update update(b, numbers);
  update.learningRate = readScalar(b, RuntimeScalar::LearningRate, b.getF64Type());
  if (kind->usesStep)
    update.step = readScalar(b, RuntimeScalar::Step, b.getI64Type());
  Value gradientScale = options.clipNorm ? buildClipping(b, *groups, *options.clipNorm) : Value();
  for (Group &group : *groups)
    buildGroup(update, group, gradientScale);
  b.create<func::ReturnOp>();

  ProgramOp program = ProgramOp::findOrAdd(module);
  program.setOptimizer(kind->name);
  program.setScheduleAttr(ScheduleAttr::get(&getContext(), options.schedule,
                                            builder.getF64FloatAttr(numbers.lookup("lr")),
                                            options.warmup));
}

std::unique_ptr<Pass> mtc::createOptimizer(const OptimizerOptions &options) {
  return std::make_unique<OptimizerPass>(options);
}
