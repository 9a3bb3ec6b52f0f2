//===- SplitMicroSteps.cpp - Splits micro-steps of pipeline stages into their parts -----------===//

#include "ir/ReservedNames.h"
#include "passes/Passes.h"
#include "passes/kernels/KernelEditing.h"
#include "passes/memory/MicroStepSplit.h"

namespace mtc {
#define GEN_PASS_DEF_ORDERMICROSTEPS
#define GEN_PASS_DEF_SPLITMICROSTEPS
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

/// Moves the backward part of a micro-step to a function of its own.
class MicroStepSplitter {
public:
  MicroStepSplitter(func::FuncOp function, const MicroStepSplit &split)
      : function(function), split(split), symbols(function->getParentOfType<ModuleOp>()),
        builder(function) {}

  void run() {
    builder.setInsertionPointAfter(function);
    backward = func::FuncOp::create(builder, function.getLoc(),
                                    (function.getSymName() + backwardSuffix).str(),
                                    builder.getFunctionType({}, {}));
    builder.setInsertionPointToStart(backward.addEntryBlock());
    eraseUnneeded();
    for (Operation &op : llvm::make_early_inc_range(function.front().without_terminator()))
      if (!split.isForward(&op))
        moveToBackward(&op);
    splitResults();
  }

private:
  /// Erases the operations of the backward part for which no value is saved: views without users,
  /// and holds of values of the forward part.
  void eraseUnneeded() {
    auto isInForward = [&](Value value) {
      Operation *source = rootOf(value).getDefiningOp();
      return !source || split.isForward(source);
    };
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(function.front()))) {
      if (split.isForward(&op))
        continue;
      if (auto hold = dyn_cast<HoldOp>(op)) {
        SmallVector<Value> values(hold.getValues());
        llvm::erase_if(values, isInForward);
        hold->setOperands(values);
      }
      if ((isa<HoldOp>(op) && op.getNumOperands() == 0) ||
          (op.hasTrait<mtc::View>() && op.use_empty()))
        op.erase();
    }
  }

  void moveToBackward(Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      operand.set(inBackward(operand.get()));
    op->moveBefore(builder.getBlock(), builder.getInsertionPoint());
  }

  /// Returns the value in the backward part.
  Value inBackward(Value value) {
    Operation *source = value.getDefiningOp();
    if (source && !split.isForward(source))
      return value;
    if (Value known = values.lookup(value))
      return known;
    Value result;
    if (split.isSaved(value)) {
      result = readSaved(value);
    } else {
      assert((source->hasTrait<mtc::View>() || isa<ReadOp, ReadFlatOp>(source)) &&
             "values that need memory are saved");
      SmallVector<Value> operands =
          llvm::map_to_vector(source->getOperands(), [&](Value each) { return inBackward(each); });
      Operation *copy = builder.clone(*source);
      copy->setOperands(operands);
      result = copy->getResult(cast<OpResult>(value).getResultNumber());
    }
    values[value] = result;
    return result;
  }

  Value readSaved(Value value) {
    Type type = value.getType();
    FlatSymbolRefAttr slot;
    if (WriteOp write = split.findSent(value)) {
      type = write.getValue().getType();
      slot = write.getVariableAttr();
    } else {
      slot = save(value);
    }
    Value read = ReadOp::create(builder, value.getLoc(), type, slot);
    return type == value.getType()
               ? read
               : ReshapeOp::create(builder, value.getLoc(), value.getType(), read).getResult();
  }

  /// Stores a value of the forward part in a new slot, in the memory space to which the value has
  /// been moved.
  FlatSymbolRefAttr save(Value value) {
    OpBuilder forward(builder.getContext());
    auto slot = VariableOp::create(forward, value.getLoc(), Role::Slot,
                                   slotPrefix + function.getSymName() + ".saved." + Twine(count++),
                                   value.getType(), ZerosAttr::get(forward.getContext()));
    slot.setCopies(static_cast<uint64_t>(split.getCopies()));
    if (auto move = value.getDefiningOp<MoveOp>())
      slot.setSpace(move.getSpace());
    auto symbol = FlatSymbolRefAttr::get(symbols.insert(slot, function->getIterator()));
    forward.setInsertionPointAfterValue(value);
    WriteOp::create(forward, value.getLoc(), symbol, value);
    return symbol;
  }

  /// Each part returns the results that it computes.
  void splitResults() {
    Operation *terminator = function.front().getTerminator();
    SmallVector<Value> kept, moved;
    SmallVector<Type> types;
    SmallVector<Attribute> attributes;
    llvm::BitVector erased(function.getNumResults());
    for (auto [i, value] : llvm::enumerate(terminator->getOperands())) {
      Operation *source = rootOf(value).getDefiningOp();
      if (!source || split.isForward(source)) {
        kept.push_back(value);
        continue;
      }
      erased.set(i);
      moved.push_back(value);
      types.push_back(value.getType());
      attributes.push_back(DictionaryAttr::get(builder.getContext(), function.getResultAttrs(i)));
    }
    func::ReturnOp::create(builder, terminator->getLoc(), moved);
    backward.setType(builder.getFunctionType({}, types));
    backward.setAllResultAttrs(attributes);
    terminator->setOperands(kept);
    if (erased.any() && failed(function.eraseResults(erased)))
      llvm_unreachable("results of a function can be erased");
  }

  func::FuncOp function, backward;
  const MicroStepSplit &split;
  SymbolTable symbols;
  OpBuilder builder;             ///< at the end of the backward part
  DenseMap<Value, Value> values; ///< in the backward part
  unsigned count = 0;
};

/// Moves the backward part of a micro-step after its forward part.
struct OrderMicroStepsPass : mtc::impl::OrderMicroStepsBase<OrderMicroStepsPass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (const std::optional<MicroStepSplit> split = MicroStepSplit::find(function)) {
        Block &block = function.front();
        // Moved operations must not be visited again.
        SmallVector<Operation *> backward;
        for (Operation &op : block.without_terminator())
          if (!split->isForward(&op))
            backward.push_back(&op);
        for (Operation *op : backward)
          op->moveBefore(block.getTerminator());
      }
  }
};

struct SplitMicroStepsPass : mtc::impl::SplitMicroStepsBase<SplitMicroStepsPass> {
  void runOnOperation() override {
    for (auto function : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      if (const std::optional<MicroStepSplit> split = MicroStepSplit::find(function)) {
        if (failed(split->verify()))
          return signalPassFailure();
        MicroStepSplitter(function, *split).run();
      }
  }
};

} // namespace
