//===- IndependentStates.cpp - State that training updates without data, on several ranks -----===//
//
// On one rank, the micro-batch of rank r is computed with the state after the updates of ranks 0 to
// r. A rank repeats them by itself in a scan, because they read only variables, which all ranks
// share:
//
//   s[t + 1] = f(s[t]); the loss reads f(s[r]); state = s[N]
//
//===------------------------------------------------------------------------------------------===//

#include "passes/sharding/IndependentStates.h"

#include "ir/ScanBody.h"
#include "ir/builders/TensorBuilder.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mtc;

/// The writes of states, by state.
using Writes = llvm::MapVector<StringRef, WriteOp>;

namespace {

/// Finds the states whose new values depend on variables alone.
class IndependentStates {
public:
  IndependentStates(Block &block, SymbolTable &symbols) : block(block), symbols(symbols) {}

  Writes find();

private:
  Writes findCandidates();
  bool readsOnlyVariables(Value value, llvm::SmallDenseSet<Operation *> &known);
  bool isShared(ReadOp read, bool mayBeDivided);

  Block &block;
  SymbolTable &symbols;
  llvm::StringSet<> written; ///< all states that the micro-step updates
  Writes writes;
};

/// States that are updated together.
class Update {
public:
  Update(Block &block, Writes writes);

  /// Returns whether other operations than the update depend on a state.
  bool isReadElsewhere() const;
  void repeat(SymbolTable &symbols, int64_t ranks);

private:
  func::FuncOp buildBody(SymbolTable &symbols, SmallVectorImpl<Value> &captured) const;
  /// Returns the position of a state in `writes`.
  size_t numberOf(StringRef state) const { return writes.find(state) - writes.begin(); }

  Block &block;
  Writes writes;
  llvm::SetVector<Operation *> operations;      ///< of the update; operands come first
  llvm::SetVector<Operation *> reads;           ///< of the states
  llvm::SmallDenseSet<Operation *> readsStates; ///< operations that depend on a state
};

} // namespace

//===--- Independence of data -----------------------------------------------------------------===//

/// Finds the states that one operation writes after all reads.
Writes IndependentStates::findCandidates() {
  Writes candidates;
  llvm::SetVector<StringRef> excluded;
  for (Operation &op : block) {
    if (auto read = dyn_cast<ReadOp>(op); read && candidates.contains(read.getVariable()))
      excluded.insert(read.getVariable());
    auto write = dyn_cast<WriteOp>(op);
    if (!write || symbols.lookup<VariableOp>(write.getVariable()).getRole() != Role::State)
      continue;
    written.insert(write.getVariable());
    if (!candidates.try_emplace(write.getVariable(), write).second)
      excluded.insert(write.getVariable());
  }
  for (StringRef state : excluded)
    candidates.erase(state);
  return candidates;
}

/// Returns whether all ranks read the same value in each micro-step, or, if the variable is
/// divided, the pieces of the same value.
bool IndependentStates::isShared(ReadOp read, bool mayBeDivided) {
  auto variable = symbols.lookup<VariableOp>(read.getVariable());
  if (variable.getPieceOf() && !mayBeDivided)
    return false;
  if (variable.getRole() == Role::State)
    return writes.contains(read.getVariable()) || !written.contains(read.getVariable());
  return llvm::is_contained(
      {Role::Parameter, Role::Frozen, Role::Constant, Role::Copy, Role::LowHalf},
      variable.getRole());
}

bool IndependentStates::readsOnlyVariables(Value value, llvm::SmallDenseSet<Operation *> &known) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (!known.insert(op).second)
    return true;
  if (auto read = dyn_cast<ReadOp>(op))
    return isShared(read, /*mayBeDivided=*/false);
  if (isa<AllGatherOp>(op))
    return llvm::all_of(op->getOperands(), [&](Value piece) {
      auto read = piece.getDefiningOp<ReadOp>();
      return read && isShared(read, /*mayBeDivided=*/true);
    });
  return isPure(op) && op->getNumRegions() == 0 &&
         !isa<RandomBitsOp, AverageOverRanksOp, CollectiveOpInterface, ScanOp>(op) &&
         llvm::all_of(op->getOperands(),
                      [&](Value operand) { return readsOnlyVariables(operand, known); });
}

Writes IndependentStates::find() {
  writes = findCandidates();
  for (bool isChanged = true; isChanged;) {
    SmallVector<StringRef> dependent;
    for (auto [state, write] : writes) {
      llvm::SmallDenseSet<Operation *> known;
      if (!readsOnlyVariables(write.getValue(), known))
        dependent.push_back(state);
    }
    for (StringRef state : dependent)
      writes.erase(state);
    isChanged = !dependent.empty();
  }
  return writes;
}

//===--- Repetition ---------------------------------------------------------------------------===//

/// Collects the operations that compute a value; operands come first.
static void collect(Value value, llvm::SetVector<Operation *> &operations) {
  Operation *op = value.getDefiningOp();
  if (operations.contains(op))
    return;
  for (Value operand : op->getOperands())
    collect(operand, operations);
  operations.insert(op);
}

Update::Update(Block &block, Writes of) : block(block), writes(std::move(of)) {
  for (WriteOp write : llvm::make_second_range(writes))
    collect(write.getValue(), operations);
  for (auto read : block.getOps<ReadOp>())
    if (writes.contains(read.getVariable()))
      reads.insert(read);
  readsStates.insert(reads.begin(), reads.end());
  for (Operation *op : operations)
    if (llvm::any_of(op->getOperands(),
                     [&](Value operand) { return readsStates.contains(operand.getDefiningOp()); }))
      readsStates.insert(op);
}

bool Update::isReadElsewhere() const {
  return llvm::any_of(readsStates, [&](Operation *op) {
    return llvm::any_of(op->getUsers(), [&](Operation *user) {
      auto write = dyn_cast<WriteOp>(user);
      return !operations.contains(user) && !(write && writes.contains(write.getVariable()));
    });
  });
}

/// Builds the body of a scan over updates, which also returns the states before the update. Its
/// arguments are the states, then `captured`, which is set.
func::FuncOp Update::buildBody(SymbolTable &symbols, SmallVectorImpl<Value> &captured) const {
  SmallVector<Type> states;
  auto capture = [&](Value value) {
    if (!readsStates.contains(value.getDefiningOp()) && !llvm::is_contained(captured, value))
      captured.push_back(value);
  };
  for (WriteOp write : llvm::make_second_range(writes)) {
    states.push_back(write.getValue().getType());
    capture(write.getValue());
  }
  for (Operation *op : operations)
    if (readsStates.contains(op))
      llvm::for_each(op->getOperands(), capture);
  SmallVector<Type> arguments(states);
  llvm::append_range(arguments, ValueRange(captured).getTypes());
  SmallVector<Type> results(states);
  llvm::append_range(results, states);

  OpBuilder builder(block.getParentOp());
  Location location = WriteOp(writes.front().second).getLoc();
  auto body = func::FuncOp::create(builder, location, "state_update",
                                   builder.getFunctionType(arguments, results));
  body.setPrivate();
  ScanBody{/*states=*/static_cast<int64_t>(states.size()), /*inputs=*/0}.mark(body);
  symbols.insert(body);
  Block *entry = body.addEntryBlock();
  ValueRange old = entry->getArguments().take_front(states.size());
  builder.setInsertionPointToEnd(entry);
  IRMapping mapping;
  mapping.map(ValueRange(captured), entry->getArguments().drop_front(states.size()));
  for (Operation *op : operations) {
    if (reads.contains(op))
      mapping.map(op->getResult(0), old[numberOf(cast<ReadOp>(op).getVariable())]);
    else if (readsStates.contains(op))
      builder.clone(*op, mapping);
  }
  SmallVector<Value> values;
  for (WriteOp write : llvm::make_second_range(writes))
    values.push_back(mapping.lookup(write.getValue()));
  llvm::append_range(values, old);
  func::ReturnOp::create(builder, location, values);
  return body;
}

void Update::repeat(SymbolTable &symbols, int64_t ranks) {
  // The scan is where the states are first read. The other operations that the updates read move to
  // the body.
  Operation *first =
      &*llvm::find_if(block, [&](Operation &op) { return readsStates.contains(&op); });
  for (Operation *op : operations)
    if (!readsStates.contains(op) && first->isBeforeInBlock(op))
      op->moveBefore(first);
  TensorBuilder b(writes.front().second.getLoc(), block.getParentOp()->getContext());
  b.setInsertionPoint(first);

  // Micro-step m N + r of a step is the m-th of rank r.
  VariableOp variable = VariableOp::findOrAddScalar(symbols, RuntimeScalar::MicroStep,
                                                    Block::iterator(block.getParentOp()));
  Value number = b.create<ReadOp>(variable.getTensorType(), variable.getSymName());
  Value rank = b.rem(number, b.splat(number, static_cast<double>(ranks)));
  SmallVector<Value> states, captured;
  SmallVector<Type> types, stacked;
  for (auto [name, write] : writes) {
    types.push_back(write.getValue().getType());
    stacked.push_back(ScanOp::stackedType(types.back(), ranks));
    states.push_back(b.create<ReadOp>(types.back(), name));
  }
  func::FuncOp body = buildBody(symbols, captured);
  llvm::append_range(types, stacked);
  auto scan = b.create<ScanOp>(types, body.getSymName(), static_cast<uint64_t>(ranks),
                               /*reversed=*/false, states, ValueRange(), captured);
  for (auto [write, last] : llvm::zip_equal(llvm::make_second_range(writes), scan.getFinals()))
    WriteOp(write).getValueMutable().set(last);
  for (Operation *op : reads) {
    Value before = scan.getOutputs()[numberOf(cast<ReadOp>(op).getVariable())];
    op->getResult(0).replaceAllUsesWith(b.gather(before, rank, /*axis=*/0, /*batch=*/0));
    op->erase();
  }
}

/// Groups states whose updates read each other.
static SmallVector<Writes> group(const Writes &writes) {
  llvm::EquivalenceClasses<StringRef> related;
  for (auto [state, write] : writes) {
    related.insert(state);
    llvm::SetVector<Operation *> operations;
    collect(WriteOp(write).getValue(), operations);
    for (Operation *op : operations)
      if (auto read = dyn_cast<ReadOp>(op); read && writes.contains(read.getVariable()))
        related.unionSets(state, read.getVariable());
  }
  llvm::MapVector<StringRef, Writes> groups;
  for (auto [state, write] : writes)
    groups[related.getLeaderValue(state)][state] = write;
  return llvm::to_vector(llvm::make_second_range(groups));
}

llvm::StringSet<> mtc::repeatIndependentUpdates(func::FuncOp microStep, int64_t ranks) {
  Block &block = microStep.front();
  SymbolTable symbols(microStep->getParentOfType<ModuleOp>());
  llvm::StringSet<> states;
  for (Writes &writes : group(IndependentStates(block, symbols).find())) {
    Update update(block, writes);
    if (!update.isReadElsewhere())
      continue;
    if (ranks > 1)
      update.repeat(symbols, ranks);
    for (StringRef state : llvm::make_first_range(writes))
      states.insert(state);
  }
  return states;
}
