//===- QuantizeOptimizerState.cpp - Blockwise quantization of optimizer state -----------------===//

#include "ir/attributes/DiscardableAttributes.h"
#include "ir/attributes/QuantizationTable.h"
#include "passes/Passes.h"
#include "passes/variables/VariableView.h"

#include "llvm/ADT/MapVector.h"

namespace mtc {
#define GEN_PASS_DEF_QUANTIZEOPTIMIZERSTATE
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

/// The two variables that replace a state variable: codes and scales.
class QuantizedState {
public:
  QuantizedState(VariableOp state, QuantizationMapAttr map)
      : name(state.getSymName()), map(map), table(getQuantizationTable(map.getValue())),
        type(state.getTensorType()), codes(addCodes(state)), scales(addScales(state)) {}

  /// Emits a read of the state in its own shape.
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
  /// Returns whether `numbers` is the old value of this state.
  bool isOld(DequantizeBlocksOp numbers) const {
    auto read = numbers.getScales().getDefiningOp<ReadOp>();
    return read && read.getVariable() == name + ".scales";
  }
  VariableOp addCodes(VariableOp state) const;
  VariableOp addScales(VariableOp state) const;

  std::string name;
  QuantizationMapAttr map;
  const QuantizationTable &table;
  RankedTensorType type;
  VariableView codes, scales;
};

struct QuantizeOptimizerStatePass
    : mtc::impl::QuantizeOptimizerStateBase<QuantizeOptimizerStatePass> {
  void runOnOperation() override;
};

} // namespace

static VariableOp addPart(VariableOp state, StringRef suffix, RankedTensorType type,
                          RankedTensorType whole, Attribute initial) {
  OpBuilder builder(state);
  auto part =
      VariableOp::create(builder, state.getLoc(), state.getRole(),
                         state.getSymName() + "." + suffix, type, initial, state.getOfAttr());
  if (state.getWhole())
    part.setWholeAttr(TypeAttr::get(whole));
  return part;
}

/// A state with a uniform nonzero initial value v has the last code, which represents 1, for all
/// elements, and v as all scales.
VariableOp QuantizedState::addCodes(VariableOp state) const {
  auto codesOf = [&](RankedTensorType numbers) {
    return codesType(numbers.getNumElements() / (isPacked() ? 2 : 1));
  };
  RankedTensorType whole = codesOf(state.getWholeType());
  Attribute initial = state.getInitial();
  if (isa<SplatElementsAttr>(initial))
    initial = DenseElementsAttr::get(whole, APInt::getMaxValue(8));
  return addPart(state, "codes", codesOf(type), whole, initial);
}

VariableOp QuantizedState::addScales(VariableOp state) const {
  RankedTensorType whole = floats(table.blocksOf(state.getWholeType().getNumElements()));
  Attribute initial = state.getInitial();
  if (auto all = dyn_cast<SplatElementsAttr>(initial))
    initial = DenseElementsAttr::get(whole, all.getSplatValue<APFloat>());
  return addPart(state, "scales", scalesType(), whole, initial);
}

Value QuantizedState::read(TensorBuilder &b) const {
  int64_t elements = type.getNumElements();
  Value read = codes.read(b);
  if (isPacked())
    read = b.create<UnpackCodesOp>(codesType(elements), read, map);
  return b.reshape(b.create<DequantizeBlocksOp>(floats(elements), read, scales.read(b), map),
                   type.getShape());
}

static Value withoutReshapes(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getInput();
  return value;
}

void QuantizedState::write(TensorBuilder &b, Value value) const {
  int64_t elements = type.getNumElements();
  // If the step is skipped, keep the old codes bit for bit: requantizing dequantized values may
  // produce different codes.
  DequantizeBlocksOp old;
  Value isSkipped;
  if (auto select = withoutReshapes(value).getDefiningOp<SelectOp>()) {
    auto broadcast = select.getCondition().getDefiningOp<BroadcastOp>();
    old = withoutReshapes(select.getOnTrue()).getDefiningOp<DequantizeBlocksOp>();
    if (old && isOld(old) && broadcast && broadcast.getInput().getType().getRank() == 0) {
      isSkipped = broadcast.getInput();
      value = select.getOnFalse();
    }
  }
  auto quantized = b.create<QuantizeBlocksOp>(codesType(elements), scalesType(),
                                              b.reshape(value, {elements}), map);
  auto keep = [&](Value changed, Value kept) {
    return b.select(b.broadcastTo(isSkipped, shapeOf(changed)), kept, changed);
  };
  Value newCodes = quantized.getCodes(), newScales = quantized.getScales();
  if (isSkipped) {
    newCodes = keep(newCodes, old.getCodes());
    newScales = keep(newScales, old.getScales());
  }
  if (isPacked())
    newCodes = b.create<PackCodesOp>(codesType(elements / 2), newCodes, map);
  codes.write(b, newCodes);
  scales.write(b, newScales);
}

void QuantizeOptimizerStatePass::runOnOperation() {
  SmallVector<VariableOp> variables;
  llvm::MapVector<StringAttr, QuantizedState> states;
  for (auto variable : getOperation().getOps<VariableOp>())
    if (auto map = variable->getAttrOfType<QuantizationMapAttr>(quantizationAttribute)) {
      states.insert({variable.getSymNameAttr(), QuantizedState(variable, map)});
      variables.push_back(variable);
    }
  getOperation().walk([&](Operation *op) {
    OpBuilder builder(op);
    TensorBuilder b(op->getLoc(), builder);
    if (auto read = dyn_cast<ReadOp>(op)) {
      if (auto *state = states.find(read.getVariableAttr().getAttr()); state != states.end()) {
        read.replaceAllUsesWith(state->second.read(b));
        read.erase();
      }
    } else if (auto write = dyn_cast<WriteOp>(op)) {
      if (auto *state = states.find(write.getVariableAttr().getAttr()); state != states.end()) {
        state->second.write(b, write.getValue());
        write.erase();
      }
    }
  });
  for (VariableOp variable : variables)
    variable.erase();
}
