//===- RunningStatistics.cpp - State that micro-batches update, on several ranks --------------===//
//
// A micro-step computes the new state from the old one and from values of its micro-batch. The
// ranks gather these values and repeat the computation for the micro-batch of each rank:
//
//   state = f(state, row 0); state = f(state, row 1); …
//
// The states of a model mostly have the same f, elementwise. They are concatenated, so that the
// number of operations does not depend on the number of layers. A moving average, f(state, x) =
// state * decay + x, is one operation for any number of ranks.
//
//===------------------------------------------------------------------------------------------===//

#include "passes/sharding/RunningStatistics.h"

#include "ir/NodeNames.h"
#include "ir/builders/TensorBuilder.h"
#include "passes/sharding/IndependentStates.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mtc;

namespace {

/// The operations of a micro-step that compute the new values of some states.
struct StateUpdate {
  SmallVector<Operation *> operations;  ///< in order; each depends on a state, or writes it
  llvm::SetVector<Value> inputs;        ///< their operands that differ between ranks
  llvm::SetVector<StringRef> variables; ///< the states
  bool usesAverages = false;            ///< over the ranks

  /// Returns the shape of the first state.
  ArrayRef<int64_t> getShape() const;
  /// Returns a text that is equal for updates that can be concatenated; "" if this one cannot.
  std::string describeElementwise() const;
  /// Returns the factor of a moving average; nullopt if the update is not one.
  std::optional<FloatAttr> findDecay() const;
};

/// Values of all ranks by element type: a row of each rank.
using Rows = llvm::MapVector<Type, Value>;

/// Updates that are computed by the same operations over concatenated states.
class ConcatenatedUpdate {
public:
  void append(StateUpdate update) { updates.push_back(std::move(update)); }

  /// Appends the inputs to the columns of their type.
  void layOut(llvm::MapVector<Type, SmallVector<Value>> &columns);
  /// Updates the states from the micro-batches of all ranks.
  void apply(TensorBuilder &b, const Rows &rows, int64_t ranks);
  void write(TensorBuilder &b);
  void eraseOriginal();

private:
  bool isSingle() const { return updates.size() == 1; }
  const StateUpdate &first() const { return updates.front(); }
  RankedTensorType typeFor(Value value) const;
  Value readState(TensorBuilder &b, ReadOp read, unsigned number);
  /// Updates the states from the micro-batch of one rank.
  void applyRank(TensorBuilder &b, const Rows &rows, int64_t rank);

  SmallVector<StateUpdate> updates;
  SmallVector<int64_t> columns; ///< where each input of the first update begins in the rows
  llvm::MapVector<StringRef, Value> state; ///< current values, by the first update's variables
};

} // namespace

/// Returns whether a value is the same on all ranks of a data group in any micro-batch. Exchanges
/// between the ranks that share a layer keep this.
static bool isUniform(Value value) {
  Operation *op = value.getDefiningOp();
  if (op && isa<AverageOverRanksOp>(op))
    return true;
  return op && (isPure(op) || isa<CollectiveOpInterface>(op)) && op->getNumRegions() == 0 &&
         llvm::all_of(op->getOperands(), isUniform);
}

/// Returns whether a uniform value is computed from an average over the ranks.
static bool isAveraged(Value value) {
  Operation *op = value.getDefiningOp();
  return op && (isa<AverageOverRanksOp>(op) || llvm::any_of(op->getOperands(), isAveraged));
}

static SplatElementsAttr getSplat(Value value) {
  SplatElementsAttr splat;
  matchPattern(value, m_Constant(&splat));
  return splat;
}

//===--- Finding updates ----------------------------------------------------------------------===//

/// Returns the variable that an operation reads or writes; "" for other operations.
static StringRef variableOf(Operation &op) {
  if (auto read = dyn_cast<ReadOp>(op))
    return read.getVariable();
  auto write = dyn_cast<WriteOp>(op);
  return write ? write.getVariable() : StringRef();
}

/// Operations that depend on updated states, in order, each with one of the states.
using Dependents = llvm::MapVector<Operation *, StringRef>;

static std::string describeNode(Operation *op) {
  std::string names = op ? forwardNodeNames(op->getLoc()) : "";
  return names.empty() ? "an operation" : "node '" + names + "'";
}

/// Emits the error that `op`, which is not an update, depends on a state.
static LogicalResult refuseDependence(Operation &op, StringRef state, const Dependents &dependents,
                                      int64_t ranks) {
  llvm::SmallPtrSet<Operation *, 8> computesState;
  Operation *update = nullptr, *user = &op;
  for (auto write : op.getBlock()->getOps<WriteOp>())
    if (write.getVariable() == state)
      update = write.getValue().getDefiningOp();
  for (auto [each, of] : llvm::reverse(dependents)) {
    auto isOfState = [&](Operation *user) {
      auto write = dyn_cast<WriteOp>(user);
      return computesState.contains(user) || (write && write.getVariable() == of);
    };
    if (llvm::any_of(each->getUsers(), isOfState))
      computesState.insert(each);
    else if (of == state && !isa<WriteOp>(each))
      user = each;
  }
  return emitError(op.getLoc(), "--ranks ")
         << ranks << ": " << describeNode(user) << " reads '" << state << "' for a gradient or "
         << "the loss, but " << describeNode(update) << " updates '" << state
         << "' from the micro-batches of all ranks; use --batch-norm frozen for running "
            "statistics, or compile without --ranks";
}

/// Finds the updates of a micro-step, without those of `independent` states. Emits an error if
/// other operations depend on updated state.
static FailureOr<SmallVector<StateUpdate>> findUpdates(func::FuncOp microStep, int64_t ranks,
                                                       const llvm::StringSet<> &independent) {
  SymbolTable symbols(microStep->getParentOfType<ModuleOp>());
  llvm::EquivalenceClasses<StringRef> related; // states that are updated together
  for (auto write : microStep.front().getOps<WriteOp>())
    if (symbols.lookup<VariableOp>(write.getVariable()).getRole() == Role::State &&
        !independent.contains(write.getVariable()))
      related.insert(write.getVariable());

  Dependents dependents;
  for (Operation &op : microStep.front()) {
    StringRef state = variableOf(op);
    const bool isOfState = related.contains(state);
    if (!isOfState)
      state = "";
    op.walk([&](Operation *nested) {
      for (Value operand : nested->getOperands())
        if (auto found = dependents.find(operand.getDefiningOp()); found != dependents.end())
          state = state.empty() ? found->second : *related.unionSets(state, found->second);
    });
    if (state.empty())
      continue;
    if (!isOfState && (op.getNumRegions() != 0 || !isPure(&op)))
      return refuseDependence(op, state, dependents, ranks);
    dependents[&op] = state;
  }

  llvm::MapVector<StringRef, StateUpdate> updates;
  for (auto [op, state] : dependents) {
    StateUpdate &update = updates[related.getLeaderValue(state)];
    update.operations.push_back(op);
    if (StringRef variable = variableOf(*op); !variable.empty())
      update.variables.insert(variable);
    for (Value operand : op->getOperands())
      if (!dependents.contains(operand.getDefiningOp())) {
        if (!isUniform(operand))
          update.inputs.insert(operand);
        else if (isAveraged(operand))
          update.usesAverages = true;
      }
  }
  // A state that is updated from averages alone is updated once for the batches of all ranks.
  return llvm::filter_to_vector(llvm::make_second_range(updates), [](const StateUpdate &update) {
    return !update.inputs.empty() || !update.usesAverages;
  });
}

ArrayRef<int64_t> StateUpdate::getShape() const {
  auto write = dyn_cast<WriteOp>(operations.front());
  return shapeOf(write ? Value(write.getValue()) : operations.front()->getResult(0));
}

std::string StateUpdate::describeElementwise() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::SmallDenseMap<Value, size_t> numbers; // of results
  auto indexOf = [](const auto &list, const auto &element) {
    return llvm::find(list, element) - list.begin();
  };
  ArrayRef<int64_t> shape = getShape();
  for (Operation *op : operations) {
    stream << op->getName() << ' ';
    if (StringRef variable = variableOf(*op); !variable.empty())
      stream << '@' << indexOf(variables, variable);
    else if (isa<ElementwiseOpInterface>(op))
      stream << op->getAttrDictionary();
    else
      return "";
    for (Value operand : op->getOperands()) {
      if (shapeOf(operand) != shape)
        return "";
      stream << ' ' << typeOf(operand).getElementType() << ' ';
      if (auto number = numbers.find(operand); number != numbers.end())
        stream << number->second;
      else if (inputs.contains(operand))
        stream << "input " << indexOf(inputs, operand);
      else if (SplatElementsAttr splat = getSplat(operand))
        stream << splat.getSplatValue<Attribute>();
      else
        return "";
    }
    for (Value result : op->getResults()) {
      if (shapeOf(result) != shape)
        return "";
      stream << " -> " << typeOf(result).getElementType();
      numbers.try_emplace(result, numbers.size());
    }
    stream << '\n';
  }
  return text;
}

/// Matches new = state * decay + input.
std::optional<FloatAttr> StateUpdate::findDecay() const {
  if (operations.size() != 4 || inputs.size() != 1)
    return std::nullopt;
  auto read = dyn_cast<ReadOp>(operations[0]);
  auto kept = dyn_cast<MulOp>(operations[1]);
  auto sum = dyn_cast<AddOp>(operations[2]);
  auto write = dyn_cast<WriteOp>(operations[3]);
  if (!read || !kept || !sum || !write || write.getValue() != sum.getResult() ||
      variableOf(*read) != variableOf(*write) || shapeOf(inputs.front()) != shapeOf(sum))
    return std::nullopt;
  auto pairs = [](auto op, Value a, Value b) {
    return (op.getLhs() == a && op.getRhs() == b) || (op.getLhs() == b && op.getRhs() == a);
  };
  Value factor = kept.getLhs() == read.getResult() ? kept.getRhs() : kept.getLhs();
  SplatElementsAttr splat = getSplat(factor);
  if (!splat || !isa<FloatType>(splat.getElementType()) || !pairs(kept, read.getResult(), factor) ||
      !pairs(sum, kept.getResult(), inputs.front()))
    return std::nullopt;
  return splat.getSplatValue<FloatAttr>();
}

//===--- Concatenated updates -----------------------------------------------------------------===//

/// Returns the type that replaces a value of the first update.
RankedTensorType ConcatenatedUpdate::typeFor(Value value) const {
  if (isSingle())
    return typeOf(value);
  int64_t elements = 0;
  for (const StateUpdate &update : updates)
    elements += ShapedType::getNumElements(update.getShape());
  return RankedTensorType::get({elements}, typeOf(value).getElementType());
}

static Value flatten(TensorBuilder &b, Value value) {
  return b.reshape(value, {typeOf(value).getNumElements()});
}

static Value concatenateFlat(TensorBuilder &b, ArrayRef<Value> values) {
  auto flat = llvm::map_to_vector(values, [&](Value value) { return flatten(b, value); });
  return flat.size() == 1 ? flat.front() : b.concatenate(flat, 0);
}

void ConcatenatedUpdate::layOut(llvm::MapVector<Type, SmallVector<Value>> &all) {
  for (size_t i = 0; i < first().inputs.size(); ++i) {
    SmallVector<Value> &ofType = all[typeOf(first().inputs[i]).getElementType()];
    int64_t begin = 0;
    for (Value before : ofType)
      begin += typeOf(before).getNumElements();
    columns.push_back(begin);
    for (const StateUpdate &update : updates)
      ofType.push_back(update.inputs[i]);
  }
}

/// Returns the old value of a state, or the concatenation of the states with its number.
Value ConcatenatedUpdate::readState(TensorBuilder &b, ReadOp read, unsigned number) {
  if (isSingle())
    return b.create<ReadOp>(read.getType(), read.getVariable());
  SmallVector<Value> values;
  for (const StateUpdate &update : updates) {
    auto type = RankedTensorType::get(update.getShape(), typeOf(read).getElementType());
    values.push_back(b.create<ReadOp>(type, update.variables[number]));
  }
  return concatenateFlat(b, values);
}

void ConcatenatedUpdate::apply(TensorBuilder &b, const Rows &rows, int64_t ranks) {
  std::optional<FloatAttr> decay = first().findDecay();
  if (!decay) {
    for (int64_t rank = 0; rank < ranks; ++rank)
      applyRank(b, rows, rank);
    return;
  }
  auto read = cast<ReadOp>(first().operations.front());
  Value old = readState(b, read, 0);
  state[read.getVariable()] =
      b.create<AddRowsOp>(old.getType(), rows.lookup(typeOf(old).getElementType()), old,
                          static_cast<uint64_t>(columns.front()), *decay);
}

void ConcatenatedUpdate::applyRank(TensorBuilder &b, const Rows &rows, int64_t rank) {
  IRMapping mapping;
  for (auto [input, begin] : llvm::zip_equal(first().inputs, columns)) {
    RankedTensorType type = typeFor(input);
    Value part = b.slice(rows.lookup(type.getElementType()), {rank, begin},
                         {1, type.getNumElements()}, {1, 1});
    mapping.map(input, b.reshape(part, type.getShape()));
  }
  for (Operation *op : first().operations) {
    for (Value operand : op->getOperands())
      if (SplatElementsAttr splat = getSplat(operand);
          splat && !isSingle() && !mapping.contains(operand))
        mapping.map(operand, b.constant(splat.resizeSplat(typeFor(operand))));
    if (auto write = dyn_cast<WriteOp>(op)) {
      state[write.getVariable()] = mapping.lookupOrDefault(write.getValue());
      continue;
    }
    if (auto read = dyn_cast<ReadOp>(op)) {
      Value &value = state[read.getVariable()];
      if (!value)
        value = readState(
            b, read, llvm::find(first().variables, read.getVariable()) - first().variables.begin());
      mapping.map(read.getResult(), value);
      continue;
    }
    Operation *copy = b.clone(*op, mapping);
    for (auto [from, to] : llvm::zip_equal(op->getResults(), copy->getResults()))
      to.setType(typeFor(from));
  }
}

void ConcatenatedUpdate::write(TensorBuilder &b) {
  for (auto [number, variable] : llvm::enumerate(first().variables)) {
    Value value = state[variable];
    int64_t begin = 0;
    for (const StateUpdate &update : updates) {
      Value part = value;
      if (!isSingle()) {
        const int64_t elements = ShapedType::getNumElements(update.getShape());
        part = b.reshape(b.slice(value, {begin}, {elements}, {1}), update.getShape());
        begin += elements;
      }
      b.create<WriteOp>(update.variables[number], part);
    }
  }
}

void ConcatenatedUpdate::eraseOriginal() {
  for (const StateUpdate &update : updates)
    for (Operation *op : llvm::reverse(update.operations))
      op->erase();
}

/// Gathers values of one element type from all ranks once the last of them is known, so that the
/// transfer overlaps with the backward pass.
static Value gatherRows(ArrayRef<Value> values, func::FuncOp microStep, RankGroup group) {
  TensorBuilder b(microStep.getLoc(), microStep.getContext());
  b.setInsertionPointToStart(&microStep.front());
  Operation *last = nullptr;
  for (Value value : values)
    if (Operation *op = value.getDefiningOp(); op && (!last || last->isBeforeInBlock(op)))
      last = op;
  if (last) {
    b.setInsertionPointAfter(last);
    b.setLoc(last->getLoc());
  }
  Value own = concatenateFlat(b, values);
  auto type = RankedTensorType::get({group.count, typeOf(own).getNumElements()},
                                    typeOf(own).getElementType());
  return b.create<AllGatherOp>(TypeRange(type), own, group).getResult(0);
}

LogicalResult mtc::exchangeRunningStatistics(func::FuncOp microStep, RankGroup group) {
  const llvm::StringSet<> independent = repeatIndependentUpdates(microStep, group.count);
  FailureOr<SmallVector<StateUpdate>> found = findUpdates(microStep, group.count, independent);
  if (failed(found) || found->empty())
    return found;
  llvm::MapVector<Attribute, ConcatenatedUpdate> updates; // by description
  for (auto [number, update] : llvm::enumerate(*found)) {
    std::string key = update.describeElementwise();
    updates[StringAttr::get(microStep.getContext(), key.empty() ? Twine(number) : key)].append(
        update);
  }
  llvm::MapVector<Type, SmallVector<Value>> inputs;
  for (ConcatenatedUpdate &update : llvm::make_second_range(updates))
    update.layOut(inputs);
  Rows rows;
  for (auto &[element, values] : inputs)
    rows[element] = gatherRows(values, microStep, group);
  TensorBuilder b(found->front().operations.front()->getLoc(), microStep.getContext());
  b.setInsertionPoint(microStep.front().getTerminator());
  for (ConcatenatedUpdate &update : llvm::make_second_range(updates)) {
    update.apply(b, rows, group.count);
    update.write(b);
    update.eraseOriginal();
  }
  return success();
}
