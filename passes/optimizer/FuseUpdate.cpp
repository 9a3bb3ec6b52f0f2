//===- FuseUpdate.cpp - Large parameters are updated as soon as their gradients are known -----===//

#include "ir/ReservedNames.h"
#include "ir/TensorBuilder.h"
#include "passes/Passes.h"
#include "passes/kernels/KernelEditing.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

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
    for (auto [scalar, copy] : shared.getValueMap())
      known[scalar] = copy;
    for (auto read : function.front().getOps<ReadFlatOp>())
      if (std::optional<unsigned> i = indexIn(read.getVariables(), parameter)) {
        StringRef name = cast<FlatSymbolRefAttr>(read.getVariables()[*i]).getValue();
        known[read.getResult()] = symbols.lookup<VariableOp>(name).getRole() == Role::Gradient
                                      ? gradient
                                      : b.create<ReadOp>(gradient.getType(), name);
      }
    SmallVector<std::pair<StringRef, Value>> written;
    for (auto write : function.front().getOps<WriteFlatOp>())
      if (std::optional<unsigned> i = indexIn(write.getVariables(), parameter)) {
        StringRef name = cast<FlatSymbolRefAttr>(write.getVariables()[*i]).getValue();
        if (symbols.lookup<VariableOp>(name).getRole() != Role::Gradient)
          written.push_back({name, compute(b, write.getValue(), typeOf(gradient), known)});
      }
    for (auto [name, value] : written)
      b.create<WriteOp>(name, value);
  }

  /// Makes the function the update of these parameters alone, as flat tensors of theirs.
  void restrict(TensorBuilder &b, const llvm::StringSet<> &parameters) {
    SmallVector<Operation *> old(llvm::make_pointer_range(function.front().without_terminator()));
    DenseMap<Value, Value> known;
    for (Operation *op : old) {
      if (auto read = dyn_cast<ReadFlatOp>(op)) {
        if (ArrayAttr kept = select(read.getVariables(), parameters))
          known[read.getResult()] = b.create<ReadFlatOp>(flatType(kept), kept);
      } else if (op->getNumResults() == 1 && typeOf(op->getResult(0)).getRank() == 0) {
        known[op->getResult(0)] = op->getResult(0);
      }
    }
    SmallVector<std::pair<ArrayAttr, Value>> written;
    for (Operation *op : old)
      if (auto write = dyn_cast<WriteFlatOp>(op))
        if (ArrayAttr kept = select(write.getVariables(), parameters))
          written.push_back({kept, compute(b, write.getValue(), flatType(kept), known)});
    for (auto [variables, value] : written)
      b.create<WriteFlatOp>(variables, value);
    for (Operation *op : llvm::reverse(old))
      if (op->use_empty())
        op->erase();
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

  /// Those of the variables that belong to these parameters; null if none.
  ArrayAttr select(ArrayAttr variables, const llvm::StringSet<> &parameters) {
    SmallVector<Attribute> kept;
    for (auto symbol : variables.getAsRange<FlatSymbolRefAttr>()) {
      auto variable = symbols.lookup<VariableOp>(symbol.getValue());
      if (parameters.contains(variable.getOf().value_or(variable.getSymName())))
        kept.push_back(symbol);
    }
    return kept.empty() ? ArrayAttr() : ArrayAttr::get(variables.getContext(), kept);
  }

  RankedTensorType flatType(ArrayAttr variables) {
    int64_t elements = 0;
    Type element;
    for (auto symbol : variables.getAsRange<FlatSymbolRefAttr>()) {
      RankedTensorType type = symbols.lookup<VariableOp>(symbol.getValue()).getTensorType();
      element = type.getElementType();
      elements += paddedBytes(byteSize(type)) / elementBytes(element);
    }
    return RankedTensorType::get({elements}, element);
  }

  /// What a flat value is in another shape, given what scalars and flat variables are.
  Value compute(TensorBuilder &b, Value flat, RankedTensorType shape,
                DenseMap<Value, Value> &known) {
    if (Value value = known.lookup(flat))
      return value;
    Operation *op = flat.getDefiningOp();
    auto type = RankedTensorType::get(shape.getShape(), typeOf(flat).getElementType());
    Value value;
    if (DenseElementsAttr elements; matchPattern(op, m_Constant(&elements))) {
      value = b.create<mtc::ConstantOp>(
          DenseElementsAttr::get(type, elements.getSplatValue<Attribute>()));
    } else if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
      value = b.broadcastTo(known.lookup(broadcast.getInput()), type.getShape());
    } else {
      SmallVector<Value> operands;
      for (Value operand : op->getOperands())
        operands.push_back(compute(b, operand, shape, known));
      OperationState state(b.getLoc(), op->getName(), operands, type, op->getAttrs());
      value = b.OpBuilder::create(state)->getResult(0);
    }
    return known[flat] = value;
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

  func::FuncOp function;
  SymbolTable &symbols;
  IRMapping shared;
  DenseMap<ArrayAttr, llvm::StringMap<unsigned>> positionsIn; ///< By the parameter's name.
};

class FuseUpdatePass : public mtc::impl::FuseUpdateBase<FuseUpdatePass> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    auto microStep = symbols.lookup<func::FuncOp>(microStepName);
    auto update = symbols.lookup<func::FuncOp>(updateName);
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
    copy.setSymName(gradientsName);
    symbols.insert(copy, std::next(microStep->getIterator()));
    llvm::StringSet<> together = findSmall(symbols);
    fuse(microStep, flat, update.getLoc(), symbols, together);
    OpBuilder end(update.front().getTerminator());
    TensorBuilder b(update.getLoc(), end);
    flat.restrict(b, together);
  }

  /// The smallest parameters, while all of their gradients are a small part of what the parameters
  /// take: biases and scales, of which a network has many.
  llvm::StringSet<> findSmall(SymbolTable &symbols) const {
    SmallVector<std::tuple<int64_t, size_t, StringRef>> sizes; // Equal ones in their order.
    int64_t allowed = 0;
    for (auto [name, write] : gradients) {
      int64_t bytes = paddedBytes(byteSize(symbols.lookup<VariableOp>(name).getTensorType()));
      sizes.push_back({bytes, sizes.size(), name});
      allowed += bytes;
    }
    allowed /= partKept;
    llvm::sort(sizes);
    llvm::StringSet<> small;
    for (auto [bytes, i, name] : sizes) {
      allowed -= bytes;
      if (allowed >= 0)
        small.insert(name);
    }
    if (small.size() < 2)
      small.clear();
    return small;
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

  /// Updates all parameters but those that are updated together.
  void fuse(func::FuncOp microStep, FlatUpdate &flat, Location updateLocation, SymbolTable &symbols,
            const llvm::StringSet<> &together) {
    OpBuilder start = OpBuilder::atBlockBegin(&microStep.front());
    flat.copyScalars(start);
    llvm::StringMap<Operation *> lastReaders = findLastReaders(microStep);
    for (auto [name, write] : gradients) {
      if (together.contains(name))
        continue;
      auto parameter = symbols.lookup<VariableOp>(name);
      // The new value lies where the old one does: nothing may read that later.
      Operation *place = write;
      if (Operation *reader = lastReaders.lookup(name); reader && place->isBeforeInBlock(reader))
        place = reader;
      OpBuilder builder(place);
      builder.setInsertionPointAfter(place);
      TensorBuilder b(updateLocation, builder);
      flat.build(b, parameter, cast<WriteOp>(write).getValue());
      symbols.lookup<VariableOp>(cast<WriteOp>(write).getVariable()).setTransient(true);
    }
    for (auto [name, write] : gradients)
      if (!together.contains(name))
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

  /// Gradients of one part in so many of the parameters' bytes are kept for a common update.
  static constexpr int64_t partKept = 256;

  llvm::MapVector<StringRef, Operation *> gradients;
};

} // namespace
