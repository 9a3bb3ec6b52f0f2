//===- AxisParts.cpp - Parts of tensors along an axis -----------------------------------------===//
//
// In row-major order, runs of elements belong to the parts in turn. A tensor is therefore a
// [blocks, parts, run] tensor, which is transposed to a row for each part.
//
//===------------------------------------------------------------------------------------------===//

#include "passes/sharding/AxisParts.h"

using namespace mlir;
using namespace mtc;

static RankGroup groupOf(AxisSplitAttr split) { return {split.getParts(), split.getStride()}; }

Value mtc::gatherParts(TensorBuilder &b, Value part, RankedTensorType whole, AxisSplitAttr split) {
  if (!split)
    return part;
  const int64_t parts = split.getParts(), run = split.getRunOf(whole),
                elements = typeOf(part).getNumElements(), blocks = elements / run;
  auto rows = RankedTensorType::get({parts, blocks, run}, typeOf(part).getElementType());
  Value own = b.reshape(part, {elements});
  Value all = b.create<AllGatherOp>(TypeRange(rows), own, groupOf(split)).getResult(0);
  return b.reshape(b.transpose(all, {1, 0, 2}), whole.getShape());
}

Value mtc::takePart(TensorBuilder &b, Value whole, AxisSplitAttr split) {
  if (!split)
    return whole;
  const RankedTensorType type = typeOf(whole), part = split.getPartOf(type);
  const int64_t parts = split.getParts(), run = split.getRunOf(type),
                elements = part.getNumElements(), blocks = elements / run;
  Value rows = b.transpose(b.reshape(whole, {blocks, parts, run}), {1, 0, 2});
  auto flat = RankedTensorType::get({elements}, type.getElementType());
  Value own = b.create<OwnPieceOp>(TypeRange(flat), rows, groupOf(split)).getResult(0);
  return b.reshape(own, part.getShape());
}
