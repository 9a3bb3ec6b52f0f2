//===- QuantizeOptimizerState.cpp - State of optimizers in codes of few bits ------------------===//

#include "ir/DiscardableAttributes.h"
#include "ir/QuantizationTable.h"
#include "passes/Passes.h"
#include "passes/optimizer/VariableView.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

#include <limits>

namespace mtc {
#define GEN_PASS_DEF_QUANTIZEOPTIMIZERSTATE
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

/// The two variables that a state becomes.
class QuantizedState {
public:
  QuantizedState(VariableOp state, QuantizationMapAttr map)
      : map(map), table(getQuantizationTable(map.getValue())), type(state.getTensorType()),
        codes(addCodes(state)), scales(addScales(state)) {}

  /// The state in its own shape.
  Value read(TensorBuilder &b) const;
  void write(TensorBuilder &b, Value value) const;

private:
  RankedTensorType codesType(int64_t count) const {
    return RankedTensorType::get({count},
                                 IntegerType::get(map.getContext(), 8, IntegerType::Unsigned));
  }
  RankedTensorType floats(int64_t count) const {
    return RankedTensorType::get({count}, type.getElementType());
  }
  RankedTensorType scalesType() const { return floats(table.blocksOf(type.getNumElements())); }
  bool isPacked() const { return table.bits == 4; }
  VariableOp addCodes(VariableOp state) const;
  VariableOp addScales(VariableOp state) const;

  QuantizationMapAttr map;
  const QuantizationTable &table;
  RankedTensorType type;
  VariableView codes, scales;
};

struct QuantizeOptimizerStatePass
    : mtc::impl::QuantizeOptimizerStateBase<QuantizeOptimizerStatePass> {
  using States = llvm::MapVector<StringAttr, QuantizedState>;
  void runOnOperation() override;

private:
  void quantize(func::FuncOp function, const States &states, ArrayRef<VariableOp> variables);
};

} // namespace

static VariableOp addPart(VariableOp state, StringRef suffix, RankedTensorType type,
                          Attribute initial) {
  OpBuilder builder(state);
  return VariableOp::create(builder, state.getLoc(), state.getRole(),
                            state.getSymName() + "." + suffix, type, initial, state.getOfAttr());
}

/// A state that starts as one number has the code of 1 everywhere, which is the last, and that
/// number as its scales.
VariableOp QuantizedState::addCodes(VariableOp state) const {
  RankedTensorType part = codesType(type.getNumElements() / (isPacked() ? 2 : 1));
  Attribute initial = state.getInitial();
  if (isa<SplatElementsAttr>(initial))
    initial = DenseElementsAttr::get(part, APInt::getMaxValue(8));
  return addPart(state, "codes", part, initial);
}

VariableOp QuantizedState::addScales(VariableOp state) const {
  Attribute initial = state.getInitial();
  if (auto all = dyn_cast<SplatElementsAttr>(initial))
    initial = DenseElementsAttr::get(scalesType(), all.getSplatValue<APFloat>());
  return addPart(state, "scales", scalesType(), initial);
}

Value QuantizedState::read(TensorBuilder &b) const {
  int64_t elements = type.getNumElements();
  Value read = codes.read(b);
  if (isPacked())
    read = b.create<UnpackCodesOp>(codesType(elements), read, map);
  return b.reshape(b.create<DequantizeBlocksOp>(floats(elements), read, scales.read(b), map),
                   type.getShape());
}

void QuantizedState::write(TensorBuilder &b, Value value) const {
  int64_t elements = type.getNumElements();
  auto quantized = b.create<QuantizeBlocksOp>(codesType(elements), scalesType(),
                                              b.reshape(value, {elements}), map);
  Value written = quantized.getCodes();
  if (isPacked())
    written = b.create<PackCodesOp>(codesType(elements / 2), written, map);
  codes.write(b, written);
  scales.write(b, quantized.getScales());
}

static Value isFinite(TensorBuilder &b, Value x) {
  return b.compare(Predicate::Lt, b.abs(x), b.splat(x, std::numeric_limits<double>::infinity()));
}

/// What is written to variables of one shape, before it took that shape, if it was all computed in
/// another.
static SmallVector<Value> computedBefore(ArrayRef<WriteOp> writes) {
  SmallVector<Value> written, computed;
  for (WriteOp write : writes) {
    written.push_back(write.getValue());
    auto reshape = write.getValue().getDefiningOp<ReshapeOp>();
    computed.push_back(reshape ? reshape.getInput() : write.getValue());
  }
  bool isOneShape = llvm::all_of(
      computed, [&](Value value) { return shapeOf(value) == shapeOf(computed.front()); });
  return isOneShape ? computed : written;
}

/// Makes the states of an element 0, and leaves the parameter's element as it was, where a state
/// would not be finite.
static void keepFinite(ArrayRef<WriteOp> states, WriteOp parameter, ReadOp oldParameter) {
  SmallVector<WriteOp> writes(states);
  writes.push_back(parameter);
  SmallVector<Value> values = computedBefore(writes);
  // In front of all that is made of the values to be written.
  Operation *first = parameter;
  for (auto [write, value] : llvm::zip_equal(writes, values)) {
    Operation *made = write.getValue() == value ? write : write.getValue().getDefiningOp();
    if (made->isBeforeInBlock(first))
      first = made;
  }
  OpBuilder builder(first);
  TensorBuilder b(first->getLoc(), builder);
  auto replace = [](Value value, Value guarded) {
    value.replaceUsesWithIf(guarded, [&](OpOperand &use) {
      return guarded.getDefiningOp()->isBeforeInBlock(use.getOwner());
    });
  };
  Value changed = values.pop_back_val(), exists;
  for (Value state : values) {
    Value finite = isFinite(b, state);
    exists = exists ? b.logicalAnd(exists, finite) : finite;
  }
  Value old = b.reshape(oldParameter.getResult(), shapeOf(changed));
  Value kept = b.select(b.logicalAnd(exists, isFinite(b, changed)), changed, old);
  replace(changed, kept);
  for (Value state : values)
    replace(state, b.select(exists, state, b.splat(state, 0.0)));
}

void QuantizeOptimizerStatePass::runOnOperation() {
  States states;
  SmallVector<VariableOp> variables;
  for (auto variable : getOperation().getOps<VariableOp>())
    if (auto map = variable->getAttrOfType<QuantizationMapAttr>(quantizationAttribute)) {
      states.insert({variable.getSymNameAttr(), QuantizedState(variable, map)});
      variables.push_back(variable);
    }
  for (auto function : getOperation().getOps<func::FuncOp>())
    quantize(function, states, variables);
  for (VariableOp variable : variables)
    variable.erase();
}

/// Rewrites what a function reads and writes of the states.
void QuantizeOptimizerStatePass::quantize(func::FuncOp function, const States &states,
                                          ArrayRef<VariableOp> variables) {
  llvm::StringMap<ReadOp> firstReads;
  llvm::StringMap<WriteOp> writes;
  for (auto read : function.front().getOps<ReadOp>())
    firstReads.try_emplace(read.getVariable(), read);
  for (auto write : function.front().getOps<WriteOp>())
    writes[write.getVariable()] = write;
  llvm::MapVector<StringRef, SmallVector<WriteOp>> ofParameters;
  for (VariableOp state : variables)
    if (WriteOp write = writes.lookup(state.getSymName()))
      ofParameters[*state.getOf()].push_back(write);
  for (auto &[parameter, ofStates] : ofParameters)
    if (WriteOp write = writes.lookup(parameter))
      keepFinite(ofStates, write, firstReads.lookup(parameter));

  for (Operation &op : llvm::make_early_inc_range(function.front())) {
    OpBuilder builder(&op);
    TensorBuilder b(op.getLoc(), builder);
    if (auto read = dyn_cast<ReadOp>(op)) {
      if (const auto *state = states.find(read.getVariableAttr().getAttr());
          state != states.end()) {
        read.replaceAllUsesWith(state->second.read(b));
        read.erase();
      }
    } else if (auto write = dyn_cast<WriteOp>(op)) {
      if (const auto *state = states.find(write.getVariableAttr().getAttr());
          state != states.end()) {
        state->second.write(b, write.getValue());
        write.erase();
      }
    }
  }
}
