//===- PieceOps.cpp - Values in pieces --------------------------------------------------------===//

#include "ir/Mtc.h"
#include "ir/Shape.h"
#include "ir/TensorBuilder.h"

using namespace mlir;
using namespace mtc;

static bool isAligned(int64_t bytes) { return paddedBytes(bytes) == bytes; }

StridedLayout PieceOp::getLayout() {
  return {static_cast<int64_t>(getOffset()), rowMajorStrides(getType().getShape())};
}

LogicalResult PieceOp::verify() {
  RankedTensorType source = getSource().getType(), result = getType();
  const auto offset = static_cast<int64_t>(getOffset());
  if (offset < 0 || source.getElementType() != result.getElementType() ||
      result.getNumElements() > source.getNumElements() - offset)
    return emitOpError() << "is " << result << " from element " << offset << " of " << source
                         << ", expected elements that it has (piece_c1)";
  if (!isAligned(offset * elementBytes(source.getElementType())))
    return emitOpError() << "begins at element " << offset << " of " << source
                         << ", expected a multiple of 64 bytes (piece_c2)";
  return success();
}

int64_t AssembleOp::getOffsetInBytes(unsigned piece) {
  int64_t bytes = 0;
  for (Value before : getPieces().take_front(piece))
    bytes += byteSize(typeOf(before));
  return bytes;
}

LogicalResult AssembleOp::verify() {
  int64_t elements = 0;
  for (auto [i, piece] : llvm::enumerate(getPieces())) {
    auto type = cast<RankedTensorType>(piece.getType());
    if (type.getElementType() != getType().getElementType())
      return emitOpError() << "assembles " << type << ", expected elements of " << getType()
                           << " (assemble_c1)";
    if (!isAligned(elements * elementBytes(type.getElementType())))
      return emitOpError() << "has piece " << i << " begin at element " << elements
                           << ", expected a multiple of 64 bytes (assemble_c2)";
    elements += type.getNumElements();
  }
  if (elements != getType().getNumElements())
    return emitOpError() << "assembles " << elements << " elements, expected those of " << getType()
                         << " (assemble_c1)";
  return success();
}
