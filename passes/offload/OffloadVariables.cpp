//===- OffloadVariables.cpp - Offloads variables to another memory space ----------------------===//

#include "ir/interfaces/TargetInfo.h"
#include "ir/steps/VariableAccess.h"
#include "passes/Passes.h"
#include "passes/kernels/KernelEditing.h"
#include "passes/kernels/KernelWindows.h"
#include "passes/memory/MemoryAnalysis.h"
#include "passes/offload/MovedUses.h"
#include "passes/offload/OffloadOptions.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/SetVector.h"

namespace mtc {
#define GEN_PASS_DEF_OFFLOADVARIABLES
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

/// Smaller copies are dominated by their start-up latency.
constexpr int64_t leastBytes = 16 << 10;
constexpr int64_t slotCount = 4;

/// Variables that some operation reads or writes as one flat tensor and that are therefore
/// contiguous. Either all of them are offloaded or none.
struct Group {
  SmallVector<VariableOp> variables;
  int64_t bytes = 0;
  size_t number = 0; ///< in module order
  /// Kernels that read or write the variables. Maps each variable, or the first variable of each
  /// flat tensor, to the index of the kernel's operand; results follow inputs.
  llvm::MapVector<Operation *, llvm::SmallMapVector<Attribute, unsigned, 4>> kernels;
  /// Other users, which get a whole copy.
  llvm::SetVector<Operation *> readers;
  /// Whether kernels get a whole copy, too, which is copied back after a write.
  bool isWhole = false;
  std::string refusal;

  /// Whether only the update uses the variables.
  bool isUpdated() {
    const Role role = variables.front().getRole();
    return role == Role::Optimizer || role == Role::Average;
  }
};

class Offloader {
public:
  Offloader(ModuleOp module, const OffloadOptions &options)
      : module(module), options(options), target(TargetInfo::of(module)) {}

  LogicalResult run() {
    collect();
    for (Group &group : groups)
      findKernels(group);
    SmallVector<Group *> taken;
    for (Group &group : groups)
      if (group.refusal.empty() && (fits(group, taken) || canMoveWhole(group)))
        taken.push_back(&group);
      else
        remarkKept(group);
    if ((options.isAutomatic() || options.budget) && failed(keepWhatFits(taken)))
      return failure();
    if (!taken.empty())
      move(taken);
    return success();
  }

private:
  void collect();
  void findKernels(Group &group);
  static void addUsers(Group &group, Value value, Attribute variable);
  bool fits(Group &group, ArrayRef<Group *> taken);
  LogicalResult keepWhatFits(SmallVectorImpl<Group *> &taken);
  static bool canMoveWhole(Group &group);
  void move(ArrayRef<Group *> taken);
  void moveForReaders(const Group &group);
  void moveWritten(const Group &group, MemorySpace space);
  static void remarkKept(Group &group);

  /// Returns the operands of a kernel that are offloaded if the given groups are.
  static llvm::SmallSetVector<unsigned, 4> operandsElsewhere(Operation *kernel,
                                                             ArrayRef<Group *> taken) {
    llvm::SmallSetVector<unsigned, 4> operands;
    for (Group *group : taken)
      if (group->isWhole)
        continue;
      else if (auto found = group->kernels.find(kernel); found != group->kernels.end())
        operands.insert_range(llvm::make_second_range(found->second));
    return operands;
  }

  ModuleOp module;
  const OffloadOptions &options;
  TargetInfo target;
  std::vector<Group> groups; ///< by decreasing size
};

} // namespace

void Offloader::collect() {
  auto isCandidate = [&](VariableOp variable) {
    if (variable.getTransient() || variable.getSpace() != MemorySpace::Device)
      return false;
    switch (variable.getRole()) {
    case Role::Optimizer:
    case Role::Average:
      return options.takes("optimizer") || options.isAutomatic();
    case Role::Parameter:
    case Role::Frozen:
    case Role::Copy:
    case Role::LowHalf:
      return options.takes("parameters");
    default:
      return false;
    }
  };
  llvm::EquivalenceClasses<Attribute> together;
  for (auto function : module.getOps<func::FuncOp>())
    for (Operation &op : function.front()) {
      SmallVector<FlatSymbolRefAttr> symbols = readVariables(&op);
      llvm::append_range(symbols, writtenVariables(&op));
      for (FlatSymbolRefAttr symbol : symbols)
        together.unionSets(symbols.front().getAttr(), symbol.getAttr());
    }
  llvm::MapVector<Attribute, Group> byLeader;
  llvm::DenseSet<Attribute> mixed;
  for (auto variable : module.getOps<VariableOp>()) {
    Attribute name = variable.getSymNameAttr();
    auto leader = together.findLeader(name);
    if (leader == together.member_end())
      continue; // The variable is not used.
    if (!isCandidate(variable)) {
      mixed.insert(*leader);
      continue;
    }
    Group &group = byLeader[*leader];
    group.variables.push_back(variable);
    group.bytes += paddedBytes(byteSize(variable.getTensorType()));
  }
  for (auto &[leader, group] : byLeader)
    if (!mixed.contains(leader))
      groups.push_back(std::move(group));
  for (auto [number, group] : llvm::enumerate(groups))
    group.number = number;
  llvm::sort(groups, [](const Group &a, const Group &b) {
    return std::pair(-a.bytes, a.number) < std::pair(-b.bytes, b.number);
  });
}

/// Collects the users of a value that is stored in the variable: operands of the group's kernels,
/// and other users.
void Offloader::addUsers(Group &group, Value value, Attribute variable) {
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (user->hasTrait<mtc::View>())
      addUsers(group, user->getResult(0), variable);
    else if (auto kernel = group.kernels.find(user); kernel != group.kernels.end())
      kernel->second.insert({variable, use.getOperandNumber()});
    else if (writtenVariables(user).empty())
      group.readers.insert(user);
  }
}

void Offloader::findKernels(Group &group) {
  if (group.bytes < leastBytes) {
    group.refusal = "it is small";
    return;
  }
  llvm::DenseSet<StringRef> names;
  for (VariableOp variable : group.variables)
    names.insert(variable.getSymName());
  auto isOfGroup = [&](FlatSymbolRefAttr symbol) { return names.contains(symbol.getValue()); };
  SmallVector<std::pair<Value, Attribute>> values; // Values stored in the variables.
  for (auto function : module.getOps<func::FuncOp>())
    for (Operation &op : function.front()) {
      if (llvm::any_of(readVariables(&op), isOfGroup))
        values.push_back({op.getResult(0), readVariables(&op).front()});
      if (!llvm::any_of(writtenVariables(&op), isOfGroup))
        continue;
      auto result = dyn_cast<OpResult>(rootOf(op.getOperand(0)));
      if (!result) {
        group.refusal = "it is assigned an input";
        return;
      }
      Operation *writer = result.getOwner();
      if (isa<KernelOp>(writer))
        group.kernels[writer].insert(
            {writtenVariables(&op).front(), writer->getNumOperands() + result.getResultNumber()});
      else
        group.isWhole = true; // A library call writes the variable as a whole.
      values.push_back({result, writtenVariables(&op).front()});
    }
  for (auto [value, variable] : values)
    addUsers(group, value, variable);
}

/// Only a single variable can be moved as a whole; several variables are one flat tensor of all
/// parameters.
bool Offloader::canMoveWhole(Group &group) {
  group.isWhole = group.variables.size() == 1;
  return group.isWhole;
}

/// Whether all kernels can run in windows of a slot if this group is offloaded in addition to
/// `taken`.
bool Offloader::fits(Group &group, ArrayRef<Group *> taken) {
  if (group.isWhole)
    return false;
  SmallVector<Group *> all(taken);
  all.push_back(&group);
  for (auto &[op, own] : group.kernels) {
    auto kernel = cast<KernelOp>(op);
    FailureOr<KernelWindows> windows = KernelWindows::of(kernel, group.refusal);
    if (failed(windows))
      return false;
    llvm::SmallSetVector<unsigned, 4> operands = operandsElsewhere(op, all);
    if (llvm::any_of(operands, [&](unsigned i) { return !windows->getBytesPerRow(i); })) {
      group.refusal = "every row of a kernel reads all of it";
      return false;
    }
    if (!windows->getMostRows(options.window, operands.getArrayRef(), paddedBytes(1))) {
      group.refusal = "a few of its rows exceed --offload-window";
      return false;
    }
    if (target.getScratchBytes(kernel)) {
      group.refusal = "a kernel that reads or writes it needs scratch";
      return false;
    }
  }
  return true;
}

/// Selects the groups to offload until the budget is met. Variables that a step reads once come
/// before those read more often, and variables that are updated early come first, since their
/// copies overlap with the rest of the step. Then drops groups that turn out to be unnecessary.
LogicalResult Offloader::keepWhatFits(SmallVectorImpl<Group *> &taken) {
  FailureOr<MemoryPlan> plan = MemoryAnalysis(module).getPlanWithLayout();
  if (failed(plan))
    return failure();
  int64_t excess = options.budget ? plan->peak - options.budget : 0;
  if (excess > 0)
    excess += slotCount * options.window;
  llvm::DenseMap<Operation *, size_t> places;
  for (auto function : module.getOps<func::FuncOp>())
    for (Operation &op : function.front())
      places.insert({&op, places.size()});
  auto rank = [&](Group *group) {
    size_t last = 0;
    for (auto &[kernel, operands] : group->kernels)
      last = std::max(last, places.lookup(kernel));
    return std::tuple(!group->isUpdated(), last, group->number);
  };
  llvm::sort(taken, [&](Group *a, Group *b) { return rank(a) < rank(b); });
  size_t count = 0;
  for (; count < taken.size() && excess > 0; ++count)
    excess -= taken[count]->bytes;
  taken.truncate(count);
  llvm::erase_if(taken, [&](Group *group) {
    const bool isSpare = excess + group->bytes <= 0;
    if (isSpare)
      excess += group->bytes;
    return isSpare;
  });
  return success();
}

void Offloader::move(ArrayRef<Group *> taken) {
  const MemorySpace space = target.getOffloadSpace();
  int64_t most = 0, bytes = 0, count = 0;
  for (Group *group : taken) {
    for (VariableOp variable : group->variables)
      variable.setSpace(space);
    bytes += group->bytes;
    count += static_cast<int64_t>(group->variables.size());
    moveForReaders(*group);
    if (group->isWhole) {
      moveWritten(*group, space);
      continue;
    }
    for (auto &[op, own] : group->kernels) {
      std::string why;
      KernelWindows windows = *KernelWindows::of(cast<KernelOp>(op), why);
      int64_t whole = 0;
      for (unsigned operand : operandsElsewhere(op, taken))
        whole += llvm::alignTo(windows.getBytesPerRow(operand) * windows.getRows(),
                               TransferSlotsOp::alignment);
      most = std::max(most, whole);
    }
  }
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  const int64_t slot = std::min(options.window, most);
  if (most)
    TransferSlotsOp::create(builder, module.getLoc(), slotCount, slot);
  if (slotCount * slot >= bytes)
    emitWarning(UnknownLoc::get(module.getContext()), "--offload: frees ")
        << bytes << " bytes, but the copy windows need " << slotCount * slot
        << "; use an --offload-window smaller than " << options.window << " to need less memory";
  remark::passed(module.getLoc(), remark::RemarkOpts::name("offloaded").category("mtc-offload"))
      << remark::add("{0} variables of {1} bytes are in memory space {2}", count, bytes,
                     stringifyEnum(space));
}

/// Rewrites read => move(read), with one move for users that are close to each other.
void Offloader::moveForReaders(const Group &group) {
  constexpr int64_t near = 8; // Number of operations.
  SmallPtrSet<Operation *, 8> readers(group.readers.begin(), group.readers.end());
  if (group.isWhole)
    readers.insert_range(llvm::make_first_range(group.kernels));
  auto names = llvm::map_to_vector(group.variables, [](VariableOp variable) -> Attribute {
    return FlatSymbolRefAttr::get(variable.getSymNameAttr());
  });
  IRRewriter rewriter(module.getContext());
  for (auto function : module.getOps<func::FuncOp>()) {
    auto isOfGroup = [&](FlatSymbolRefAttr symbol) { return llvm::is_contained(names, symbol); };
    SetVector<Value> values;
    for (Operation &op : function.front())
      if (llvm::any_of(readVariables(&op), isOfGroup))
        values.insert(op.getResult(0));
      else if (!group.isWhole && llvm::any_of(writtenVariables(&op), isOfGroup))
        values.insert(rootOf(op.getOperand(0)));
    llvm::MapVector<Value, SmallVector<std::pair<int64_t, Operation *>>> uses;
    int64_t time = 0;
    for (Operation &op : function.front()) {
      ++time;
      if (readers.contains(&op))
        for (Value value : llvm::SmallSetVector<Value, 4>(
                 llvm::from_range, llvm::map_range(op.getOperands(), rootOf)))
          if (values.contains(value))
            uses[value].push_back({time, &op});
    }
    for (auto &[value, users] : uses)
      for (ArrayRef<std::pair<int64_t, Operation *>> rest = users; !rest.empty();) {
        size_t count = 1;
        while (count < rest.size() && rest[count].first - rest[count - 1].first <= near)
          ++count;
        SmallVector<Operation *> together(llvm::make_second_range(rest.take_front(count)));
        rewriter.setInsertionPoint(together.front());
        auto move = MoveOp::create(rewriter, together.front()->getLoc(), value.getType(), value,
                                   MemorySpace::Device);
        readMoved(rewriter, together, value, move);
        rest = rest.drop_front(count);
      }
  }
}

/// Rewrites write(x) => write(move(x)).
void Offloader::moveWritten(const Group &group, MemorySpace space) {
  VariableOp variable = group.variables.front();
  Attribute name = FlatSymbolRefAttr::get(variable.getSymNameAttr());
  for (auto function : module.getOps<func::FuncOp>())
    for (Operation &op : function.front())
      if (llvm::is_contained(writtenVariables(&op), name)) {
        OpBuilder builder(&op);
        Value value = op.getOperand(0);
        op.setOperand(0, MoveOp::create(builder, op.getLoc(), value.getType(), value, space));
      }
}

void Offloader::remarkKept(Group &group) {
  remark::missed(group.variables.front().getLoc(),
                 remark::RemarkOpts::name("kept").category("mtc-offload"))
      << remark::add("'{0}' is not offloaded: {1}", group.variables.front().getSymName(),
                     group.refusal);
}

namespace {

class OffloadVariablesPass
    : public PassWithOptions<mtc::impl::OffloadVariablesBase<OffloadVariablesPass>,
                             OffloadOptions> {
public:
  using PassWithOptions::PassWithOptions;

private:
  void runOnOperation() override {
    FailureOr<OffloadOptions> options = readOptions();
    if (failed(options))
      return signalPassFailure();
    if (failed(Offloader(getOperation(), *options).run()))
      signalPassFailure();
  }
};

} // namespace

std::unique_ptr<Pass> mtc::createOffloadVariables(const OffloadOptions &options) {
  return std::make_unique<OffloadVariablesPass>(options);
}
