//===- AxisParts.cpp - Parts of tensors along an axis -----------------------------------------===//
//
// In row-major order, runs of elements belong to the parts in turn. A tensor is therefore a
// [blocks, parts, run] tensor, which is transposed to a row for each part.
//
//===------------------------------------------------------------------------------------------===//

#include "passes/sharding/AxisParts.h"

#include "ir/attributes/DiscardableAttributes.h"

using namespace mlir;
using namespace mtc;

static RankGroup groupOf(AxisSplitAttr split) { return {split.getParts(), split.getStride()}; }

Value mtc::padBlocks(TensorBuilder &b, Value x, int64_t axis, int64_t outer, int64_t padding) {
  if (padding == 0)
    return x;
  SmallVector<int64_t> shape(shapeOf(x)), blocks(shape);
  blocks[axis] /= outer;
  shape[axis] += outer * padding;
  blocks.insert(blocks.begin() + axis, outer);
  SmallVector<int64_t> none(blocks.size()), after(blocks.size());
  after[axis + 1] = padding;
  return b.reshape(b.pad(b.reshape(x, blocks), none, after, none), shape);
}

Value mtc::dropPadding(TensorBuilder &b, Value x, int64_t axis, int64_t outer, int64_t padding) {
  if (padding == 0)
    return x;
  SmallVector<int64_t> shape(shapeOf(x)), blocks(shape);
  blocks[axis] /= outer;
  shape[axis] -= outer * padding;
  blocks.insert(blocks.begin() + axis, outer);
  SmallVector<int64_t> kept(blocks);
  kept[axis + 1] -= padding;
  Value rows = b.slice(b.reshape(x, blocks), SmallVector<int64_t>(blocks.size()), kept,
                       SmallVector<int64_t>(blocks.size(), 1));
  return b.reshape(rows, shape);
}

Value mtc::gatherParts(TensorBuilder &b, Value part, RankedTensorType whole, AxisSplitAttr split) {
  if (!split)
    return part;
  const int64_t parts = split.getParts(), run = split.getRunOf(whole),
                elements = typeOf(part).getNumElements(), blocks = elements / run;
  Value padded = part;
  if (parts > 1) {
    auto rows = RankedTensorType::get({parts, blocks, run}, typeOf(part).getElementType());
    Value own = b.reshape(part, {elements});
    Value all = b.create<AllGatherOp>(TypeRange(rows), own, groupOf(split)).getResult(0);
    padded = b.reshape(b.transpose(all, {1, 0, 2}), split.getPadded(whole).getShape());
  }
  return dropPadding(b, padded, split.getAxis(), split.getOuter(), split.getPadding());
}

Value mtc::takePart(TensorBuilder &b, Value whole, AxisSplitAttr split) {
  if (!split)
    return whole;
  const RankedTensorType type = typeOf(whole), part = split.getPartOf(type);
  const int64_t parts = split.getParts(), run = split.getRunOf(type),
                elements = part.getNumElements(), blocks = elements / run;
  Value padded = padBlocks(b, whole, split.getAxis(), split.getOuter(), split.getPadding());
  if (parts == 1)
    return padded;
  Value rows = b.transpose(b.reshape(padded, {blocks, parts, run}), {1, 0, 2});
  auto flat = RankedTensorType::get({elements}, type.getElementType());
  Value own = b.create<OwnPieceOp>(TypeRange(flat), rows, groupOf(split)).getResult(0);
  return b.reshape(own, part.getShape());
}

Value mtc::separateSum(TensorBuilder &b, Value sum) {
  auto gather = b.create<AllGatherOp>(TypeRange(sum.getType()),
                                      b.reshape(sum, {typeOf(sum).getNumElements()}), RankGroup());
  gather->setAttr(addendsAttribute, b.getUnitAttr());
  return gather.getResult(0);
}

/// Transposes the part to a row for each rank, and the rows that all ranks have sent to the other
/// part.
Value mtc::reshardPart(TensorBuilder &b, Value part, AxisSplitAttr from, AxisSplitAttr to) {
  const int64_t ranks = from.getParts(), elements = typeOf(part).getNumElements();
  SmallVector<int64_t> extents, result(shapeOf(part));
  int64_t runs = 0, ownBlocks = 0; // the positions of the ranks' runs, and of the own blocks
  for (auto [axis, extent] : llvm::enumerate(shapeOf(part))) {
    if (static_cast<int64_t>(axis) == from.getAxis()) {
      ownBlocks = static_cast<int64_t>(extents.size());
      llvm::append_values(extents, from.getOuter(), extent / from.getOuter());
    } else if (static_cast<int64_t>(axis) == to.getAxis()) {
      runs = static_cast<int64_t>(extents.size()) + 1;
      llvm::append_values(extents, to.getOuter(), ranks, extent / to.getOuter() / ranks);
    } else {
      extents.push_back(extent);
    }
  }
  // The runs of rank i become row i.
  SmallVector<int64_t> order = {runs};
  for (int64_t i = 0; i < static_cast<int64_t>(extents.size()); ++i)
    if (i != runs)
      order.push_back(i);
  Value rows = b.transpose(b.reshape(part, extents), order);
  Value received = b.create<AllToAllOp>(ValueRange(rows), ArrayRef<int64_t>{elements / ranks},
                                        RankGroup{ranks, from.getStride()});
  // The blocks that rank i has sent are the i-th of the other axis.
  received = b.reshape(received, shapeOf(rows));
  SmallVector<int64_t> back;
  for (int64_t i = 1; i < static_cast<int64_t>(extents.size()); ++i) {
    back.push_back(i);
    const int64_t before = order[i];
    if (before == ownBlocks)
      back.push_back(0);
  }
  result[from.getAxis()] *= ranks;
  result[to.getAxis()] /= ranks;
  return b.reshape(b.transpose(received, back), result);
}
