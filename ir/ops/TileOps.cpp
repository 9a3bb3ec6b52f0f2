//===- TileOps.cpp - Tiled values -------------------------------------------------------------===//

#include "ir/Mtc.h"
#include "ir/builders/Shape.h"
#include "ir/builders/TensorBuilder.h"

using namespace mlir;
using namespace mtc;

static bool isAligned(int64_t bytes) { return paddedBytes(bytes) == bytes; }

StridedLayout TileOp::getLayout() {
  return {static_cast<int64_t>(getOffset()), rowMajorStrides(getType().getShape())};
}

LogicalResult TileOp::verify() {
  RankedTensorType source = getSource().getType(), result = getType();
  const auto offset = static_cast<int64_t>(getOffset());
  if (offset < 0 || source.getElementType() != result.getElementType() ||
      result.getNumElements() > source.getNumElements() - offset)
    return emitOpError() << "is " << result << " from element " << offset << " of " << source
                         << ", expected elements that it has (tile_c1)";
  if (!isAligned(offset * elementBytes(source.getElementType())))
    return emitOpError() << "begins at element " << offset << " of " << source
                         << ", expected a multiple of 64 bytes (tile_c2)";
  return success();
}

int64_t AssembleOp::getOffsetInBytes(unsigned tile) {
  int64_t bytes = 0;
  for (Value before : getTiles().take_front(tile))
    bytes += byteSize(typeOf(before));
  return bytes;
}

LogicalResult AssembleOp::verify() {
  int64_t elements = 0;
  for (auto [i, tile] : llvm::enumerate(getTiles())) {
    auto type = cast<RankedTensorType>(tile.getType());
    if (type.getElementType() != getType().getElementType())
      return emitOpError() << "assembles " << type << ", expected elements of " << getType()
                           << " (assemble_c1)";
    if (!isAligned(elements * elementBytes(type.getElementType())))
      return emitOpError() << "has tile " << i << " begin at element " << elements
                           << ", expected a multiple of 64 bytes (assemble_c2)";
    elements += type.getNumElements();
  }
  if (elements != getType().getNumElements())
    return emitOpError() << "assembles " << elements << " elements, expected those of " << getType()
                         << " (assemble_c1)";
  return success();
}
