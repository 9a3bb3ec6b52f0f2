//===- QuantizeOptimizerState.cpp - Blockwise quantization of optimizer state -----------------===//

#include "ir/attributes/DiscardableAttributes.h"
#include "ir/attributes/QuantizationTable.h"
#include "passes/Passes.h"
#include "passes/sharding/Pieces.h"
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

/// The two variables that replace a state variable: codes and scales. `chunks` is the finest
/// division of its parameter, or null.
class QuantizedState {
public:
  QuantizedState(VariableOp state, QuantizationMapAttr map, AxisSplitAttr chunks)
      : name(state.getSymName()), map(map),
        isPacked(getQuantizationTable(map.getValue()).bits == 4),
        block(
            blockWithin(chunks, state.getPaddedType(), getQuantizationTable(map.getValue()).block)),
        hasRows(block != getQuantizationTable(map.getValue()).block), type(state.getTensorType()),
        codes(addCodes(state)), scales(addScales(state)) {}

  /// Emits a read of the state in its own shape.
  Value read(TensorBuilder &b) const;
  void write(TensorBuilder &b, Value value) const;

private:
  RankedTensorType floats(int64_t count) const {
    return RankedTensorType::get({count}, type.getElementType());
  }
  RankedTensorType bytes(ArrayRef<int64_t> shape) const {
    return RankedTensorType::get(shape,
                                 IntegerType::get(map.getContext(), 8, IntegerType::Unsigned));
  }
  int64_t blocksOf(int64_t elements) const { return llvm::divideCeil(elements, block); }
  /// Returns the type of codes in operations, of which `perBlock` are in a block. Blocks that do
  /// not have the map's length are rows.
  RankedTensorType codesType(int64_t perBlock) const {
    const int64_t elements = type.getNumElements();
    return hasRows ? bytes({elements / block, perBlock}) : bytes({elements * perBlock / block});
  }
  /// Returns whether `numbers` is the old value of this state.
  bool isOld(DequantizeBlocksOp numbers) const {
    auto read = withoutReshapes(numbers.getScales()).getDefiningOp<ReadOp>();
    return read && read.getVariable() == name + ".scales";
  }
  VariableView addCodes(VariableOp state) const;
  VariableView addScales(VariableOp state) const;

  std::string name;
  QuantizationMapAttr map;
  bool isPacked;
  int64_t block; ///< elements of a block
  bool hasRows;
  RankedTensorType type;
  VariableView codes, scales;
};

struct QuantizeOptimizerStatePass
    : mtc::impl::QuantizeOptimizerStateBase<QuantizeOptimizerStatePass> {
  void runOnOperation() override;
};

} // namespace

/// Adds the codes or scales of a state, which are divided among ranks as the state is. `typeFor`
/// returns their type for a number of elements, and `initialFor` their initial value. Blocks of
/// `block` elements are those of the whole state: no part and no piece divides one.
static VariableOp addPart(VariableOp state, StringRef suffix,
                          llvm::function_ref<RankedTensorType(int64_t)> typeFor,
                          llvm::function_ref<Attribute(RankedTensorType)> initialFor) {
  RankedTensorType local = typeFor(state.getLocalType().getNumElements()), whole = local;
  AxisSplitAttr split = state.getSplitAttr();
  if (split) {
    const RankedTensorType all = state.getPaddedType();
    const int64_t elements = all.getNumElements(), parts = split.getParts(),
                  run = split.getRunOf(state.getWholeType());
    whole = typeFor(elements);
    split = AxisSplitAttr::get(state.getContext(), /*axis=*/0, elements / (run * parts), parts,
                               split.getStride());
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

/// A state with a uniform nonzero initial value v has the last code, which represents 1, for all
/// elements, and v as all scales.
VariableView QuantizedState::addCodes(VariableOp state) const {
  return addPart(
      state, "codes", [&](int64_t elements) { return bytes({elements / (isPacked ? 2 : 1)}); },
      [&](RankedTensorType whole) -> Attribute {
        Attribute initial = state.getInitial();
        return isa<SplatElementsAttr>(initial)
                   ? DenseElementsAttr::get(whole, APInt::getMaxValue(8))
                   : initial;
      });
}

VariableView QuantizedState::addScales(VariableOp state) const {
  return addPart(
      state, "scales", [&](int64_t elements) { return floats(blocksOf(elements)); },
      [&](RankedTensorType whole) -> Attribute {
        auto all = dyn_cast<SplatElementsAttr>(state.getInitial());
        return all ? DenseElementsAttr::get(whole, all.getSplatValue<APFloat>())
                   : state.getInitial();
      });
}

Value QuantizedState::read(TensorBuilder &b) const {
  int64_t elements = type.getNumElements();
  Value read = b.reshape(codes.read(b), codesType(isPacked ? block / 2 : block).getShape());
  if (isPacked)
    read = b.create<UnpackCodesOp>(codesType(block), read, map);
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
  auto quantized = b.create<QuantizeBlocksOp>(codesType(block), floats(blocksOf(elements)),
                                              b.reshape(value, {elements}), map);
  auto keep = [&](Value changed, Value kept) {
    return b.select(b.broadcastTo(isSkipped, shapeOf(changed)), kept, changed);
  };
  Value newCodes = quantized.getCodes(), newScales = quantized.getScales();
  if (isSkipped) {
    newCodes = keep(newCodes, old.getCodes());
    newScales = keep(newScales, old.getScales());
  }
  if (isPacked)
    newCodes = b.create<PackCodesOp>(codesType(block / 2), newCodes, map);
  codes.write(b, b.reshape(newCodes, codes.getType().getShape()));
  scales.write(b, newScales);
}

void QuantizeOptimizerStatePass::runOnOperation() {
  SmallVector<VariableOp> variables;
  llvm::MapVector<StringAttr, QuantizedState> states;
  SymbolTable symbols(getOperation());
  for (auto variable : llvm::to_vector(getOperation().getOps<VariableOp>()))
    if (auto map = variable->getAttrOfType<QuantizationMapAttr>(quantizationAttribute)) {
      auto parameter = symbols.lookup<VariableOp>(variable.getOf().value_or(StringRef()));
      auto chunks =
          parameter ? parameter->getAttrOfType<AxisSplitAttr>(chunksAttribute) : AxisSplitAttr();
      states.insert({variable.getSymNameAttr(),
                     QuantizedState(variable, map, chunks ? chunks : variable.getSplitAttr())});
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
