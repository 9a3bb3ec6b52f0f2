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

static Value withoutReshapes(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getInput();
  return value;
}

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
    auto read = withoutReshapes(numbers.getScales()).getDefiningOp<ReadOp>();
    return read && read.getVariable() == name + ".scales";
  }
  VariableView addCodes(VariableOp state) const;
  VariableView addScales(VariableOp state) const;

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

/// Adds the codes or scales of a state, which are divided among ranks as the state is. `typeFor`
/// returns their type for a number of elements, and `initialFor` their initial value. The blocks of
/// a part along an axis are blocks of the whole state if its runs consist of blocks. Otherwise the
/// whole variable has a row for each part.
static VariableOp addPart(VariableOp state, StringRef suffix, int64_t block,
                          llvm::function_ref<RankedTensorType(int64_t)> typeFor,
                          llvm::function_ref<Attribute(RankedTensorType)> initialFor) {
  RankedTensorType local = typeFor(state.getLocalType().getNumElements()), whole = local;
  AxisSplitAttr split = state.getSplitAttr();
  if (split) {
    const RankedTensorType all = state.getWholeType();
    const int64_t run = split.getRunOf(all), parts = split.getParts();
    const bool hasBlocks = run % block == 0;
    whole = hasBlocks ? typeFor(all.getNumElements()) : local.clone({parts, local.getDimSize(0)});
    split = AxisSplitAttr::get(state.getContext(), /*axis=*/0,
                               hasBlocks ? all.getNumElements() / (run * parts) : 1, parts,
                               split.getStride());
    local = split.getPartOf(whole);
  }
  OpBuilder builder(state);
  auto part = VariableOp::create(
      builder, state.getLoc(), state.getRole(), state.getSymName() + "." + suffix,
      state.getPieceOf() ? typeFor(state.getTensorType().getNumElements()) : local,
      initialFor(whole), state.getOfAttr());
  if (state.getPieceOf())
    part.setPieceOfAttr(TypeAttr::get(local));
  if (split) {
    part.setPartOfAttr(TypeAttr::get(whole));
    part.setSplitAttr(split);
  }
  return part;
}

/// Returns a flat view of codes or scales.
static VariableView lineOf(VariableOp variable) {
  return variable.getTensorType().getRank() == 1 ? VariableView(variable)
                                                 : VariableView::lineOf(variable);
}

/// A state with a uniform nonzero initial value v has the last code, which represents 1, for all
/// elements, and v as all scales.
VariableView QuantizedState::addCodes(VariableOp state) const {
  return lineOf(addPart(
      state, "codes", table.block,
      [&](int64_t elements) { return codesType(elements / (isPacked() ? 2 : 1)); },
      [&](RankedTensorType whole) -> Attribute {
        Attribute initial = state.getInitial();
        return isa<SplatElementsAttr>(initial)
                   ? DenseElementsAttr::get(whole, APInt::getMaxValue(8))
                   : initial;
      }));
}

VariableView QuantizedState::addScales(VariableOp state) const {
  return lineOf(addPart(
      state, "scales", table.block,
      [&](int64_t elements) { return floats(table.blocksOf(elements)); },
      [&](RankedTensorType whole) -> Attribute {
        auto all = dyn_cast<SplatElementsAttr>(state.getInitial());
        return all ? DenseElementsAttr::get(whole, all.getSplatValue<APFloat>())
                   : state.getInitial();
      }));
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
