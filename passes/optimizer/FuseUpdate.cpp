//===- FuseUpdate.cpp - Each parameter is updated as soon as its gradient is known ------------===//

#include "ir/TensorBuilder.h"
#include "passes/Passes.h"
#include "passes/kernels/KernelEditing.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/MapVector.h"

namespace mtc {
#define GEN_PASS_DEF_FUSEUPDATE
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

bool isSplat(Operation *op) {
  DenseElementsAttr elements;
  return matchPattern(op, m_Constant(&elements)) && elements.isSplat();
}

/// The update of all parameters as flat tensors, which can be taken apart into one for each
/// parameter: its operations are elementwise, or compute scalars that all parameters share.
class FlatUpdate {
public:
  FlatUpdate(func::FuncOp function, SymbolTable &symbols) : function(function), symbols(symbols) {}

  /// The reason why it cannot be taken apart; empty if it can.
  StringRef check() {
    for (Operation &op : function.front())
      if (StringRef reason = check(&op); !reason.empty())
        return reason;
    return {};
  }

  /// What is computed of no parameter: scalars, once for all.
  void copyScalars(OpBuilder &builder) {
    for (Operation &op : function.front())
      if (op.getNumResults() == 1 && typeOf(op.getResult(0)).getRank() == 0)
        builder.clone(op, shared);
  }

  /// Writes the update of one parameter, whose gradient is given: what is read, then what is
  /// computed, then what is written, so that nothing keeps its kernels apart.
  void build(TensorBuilder &b, VariableOp parameter, Value gradient) {
    DenseMap<Value, Value> known;
    for (auto read : function.front().getOps<ReadFlatOp>())
      if (std::optional<unsigned> i = indexIn(read.getVariables(), parameter))
        part(b, read.getResult(), *i, gradient, known);
    SmallVector<std::pair<StringRef, Value>> written;
    for (auto write : function.front().getOps<WriteFlatOp>())
      if (std::optional<unsigned> i = indexIn(write.getVariables(), parameter)) {
        StringRef name = cast<FlatSymbolRefAttr>(write.getVariables()[*i]).getValue();
        if (symbols.lookup<VariableOp>(name).getRole() != Role::Gradient)
          written.push_back({name, part(b, write.getValue(), *i, gradient, known)});
      }
    for (auto [name, value] : written)
      b.create<WriteOp>(name, value);
  }

private:
  StringRef check(Operation *op) {
    if (isa<ReadFlatOp, WriteFlatOp, func::ReturnOp>(op) || isSplat(op))
      return {};
    if (op->getNumResults() == 1 && typeOf(op->getResult(0)).getRank() == 0 &&
        llvm::all_of(op->getOperandTypes(),
                     [](Type type) { return cast<RankedTensorType>(type).getRank() == 0; })) {
      auto read = dyn_cast<ReadOp>(op);
      bool readsState =
          read && symbols.lookup<VariableOp>(read.getVariable()).getRole() != Role::Scalar;
      return readsState ? "the update of one parameter depends on another's gradient" : "";
    }
    auto broadcast = dyn_cast<BroadcastOp>(op);
    if (op->hasTrait<OpTrait::Elementwise>() ||
        (broadcast && broadcast.getInput().getType().getRank() == 0))
      return {};
    return "the update of one parameter depends on another's gradient";
  }

  /// The position of a parameter, its gradient or state in a flat tensor's variables.
  std::optional<unsigned> indexIn(ArrayAttr variables, VariableOp parameter) {
    llvm::StringMap<unsigned> &positions = positionsIn[variables];
    if (positions.empty())
      for (auto [i, symbol] : llvm::enumerate(variables.getAsRange<FlatSymbolRefAttr>())) {
        auto variable = symbols.lookup<VariableOp>(symbol.getValue());
        positions[variable.getOf().value_or(variable.getSymName())] = i;
      }
    auto found = positions.find(parameter.getSymName());
    return found == positions.end() ? std::nullopt : std::optional(found->second);
  }

  /// The part of a flat value that belongs to variable `i` of its group.
  Value part(TensorBuilder &b, Value flat, unsigned i, Value gradient,
             DenseMap<Value, Value> &known) {
    if (Value value = shared.lookupOrNull(flat))
      return value;
    if (Value value = known.lookup(flat))
      return value;
    Operation *op = flat.getDefiningOp();
    auto type = RankedTensorType::get(typeOf(gradient).getShape(), typeOf(flat).getElementType());
    Value value;
    if (auto read = dyn_cast<ReadFlatOp>(op)) {
      auto symbol = cast<FlatSymbolRefAttr>(read.getVariables()[i]);
      bool isGradient = symbols.lookup<VariableOp>(symbol.getValue()).getRole() == Role::Gradient;
      value = isGradient ? gradient : b.create<ReadOp>(type, symbol.getValue());
    } else if (DenseElementsAttr elements; matchPattern(op, m_Constant(&elements))) {
      value = b.create<mtc::ConstantOp>(
          DenseElementsAttr::get(type, elements.getSplatValue<Attribute>()));
    } else if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
      value = b.broadcastTo(shared.lookup(broadcast.getInput()), type.getShape());
    } else {
      SmallVector<Value> operands;
      for (Value operand : op->getOperands())
        operands.push_back(part(b, operand, i, gradient, known));
      OperationState state(b.getLoc(), op->getName(), operands, type, op->getAttrs());
      value = b.OpBuilder::create(state)->getResult(0);
    }
    return known[flat] = value;
  }

  func::FuncOp function;
  SymbolTable &symbols;
  IRMapping shared;
  DenseMap<ArrayAttr, llvm::StringMap<unsigned>> positionsIn; ///< By the parameter's name.
};

class FuseUpdatePass : public mtc::impl::FuseUpdateBase<FuseUpdatePass> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    auto microStep = symbols.lookup<func::FuncOp>("micro_step");
    auto update = symbols.lookup<func::FuncOp>("update");
    if (!microStep || !update)
      return;
    FlatUpdate flat(update, symbols);
    StringRef reason = flat.check();
    if (reason.empty() && !findGradients(microStep, symbols))
      reason = "gradients are sums over micro-steps";
    if (reason.empty() && returnsVariable(microStep))
      reason = "the value of a variable is a result, and must outlive the update";
    if (!reason.empty()) {
      remark::missed(update.getLoc(),
                     remark::RemarkOpts::name("update-apart").category("mtc-fuse-update"))
          << remark::reason("{0}", reason);
      return;
    }
    func::FuncOp copy = microStep.clone();
    copy.setSymName("gradients");
    symbols.insert(copy, std::next(microStep->getIterator()));
    fuse(microStep, flat, update.getLoc(), symbols);
    Operation *end = update.front().getTerminator();
    while (Operation *last = end->getPrevNode())
      last->erase();
  }

  /// The writes of gradients by their parameter. False if a gradient is not simply written.
  bool findGradients(func::FuncOp microStep, SymbolTable &symbols) {
    gradients.clear();
    bool isSimple = true;
    microStep.walk([&](Operation *op) {
      if (auto write = dyn_cast<WriteOp>(op)) {
        auto variable = symbols.lookup<VariableOp>(write.getVariable());
        if (variable.getRole() == Role::Gradient)
          isSimple &= gradients.insert({*variable.getOf(), write}).second;
      } else if (isa<AccumulateOp>(op)) {
        isSimple = false;
      }
    });
    return isSimple;
  }

  /// Whether a result is what a variable holds, or a view of it.
  static bool returnsVariable(func::FuncOp function) {
    return llvm::any_of(function.front().getTerminator()->getOperands(), isOfVariable);
  }

  void fuse(func::FuncOp microStep, FlatUpdate &flat, Location updateLocation,
            SymbolTable &symbols) {
    OpBuilder start = OpBuilder::atBlockBegin(&microStep.front());
    flat.copyScalars(start);
    llvm::StringMap<Operation *> lastReaders = findLastReaders(microStep);
    for (auto [name, write] : gradients) {
      auto parameter = symbols.lookup<VariableOp>(name);
      // The new value lies where the old one does: nothing may read that later.
      Operation *place = write;
      if (Operation *reader = lastReaders.lookup(name); reader && place->isBeforeInBlock(reader))
        place = reader;
      OpBuilder builder(place);
      builder.setInsertionPointAfter(place);
      TensorBuilder b(updateLocation, builder);
      flat.build(b, parameter, cast<WriteOp>(write).getValue());
      symbols.lookup<VariableOp>(cast<WriteOp>(write).getVariable())
          ->setDiscardableAttr(transientAttribute, UnitAttr::get(&getContext()));
    }
    for (auto [name, write] : gradients)
      write->erase();
  }

  /// For each variable the last operation, the return aside, that reads its value or a view of it.
  static llvm::StringMap<Operation *> findLastReaders(func::FuncOp function) {
    llvm::StringMap<Operation *> last;
    for (auto read : function.front().getOps<ReadOp>()) {
      SmallVector<Value> values = {read.getResult()};
      while (!values.empty())
        for (Operation *user : values.pop_back_val().getUsers()) {
          if (user->hasTrait<mtc::View>())
            values.push_back(user->getResult(0));
          Operation *&known = last[read.getVariable()];
          if (!user->hasTrait<OpTrait::IsTerminator>() && (!known || known->isBeforeInBlock(user)))
            known = user;
        }
    }
    return last;
  }

  llvm::MapVector<StringRef, Operation *> gradients;
};

} // namespace
