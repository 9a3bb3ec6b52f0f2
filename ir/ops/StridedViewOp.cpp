//===- StridedViewOp.cpp - Strided views that library calls read in place ---------------------===//

#include "ir/Mtc.h"
#include "ir/builders/Shape.h"
#include "ir/builders/TensorBuilder.h"

using namespace mlir;
using namespace mtc;

SmallVector<int64_t> mtc::stridesOf(Value value) {
  if (auto view = value.getDefiningOp<StridedViewOp>())
    return SmallVector<int64_t>(view.getStrides());
  return rowMajorStrides(shapeOf(value));
}

StridedLayout StridedViewOp::getLayout() {
  return {static_cast<int64_t>(getOffset()), SmallVector<int64_t>(getStrides())};
}

LogicalResult StridedViewOp::verify() {
  RankedTensorType source = getSource().getType(), result = getType();
  int64_t offset = getOffset();
  if (offset < 0 || static_cast<int64_t>(getStrides().size()) != result.getRank() ||
      llvm::any_of(getStrides(), [](int64_t stride) { return stride < 0; }))
    return emitOpError() << "offset " << offset << " and strides " << toText(getStrides())
                         << " must not be negative, with a stride for each of " << result.getRank()
                         << " axes (strided_view_c1)";
  int64_t last = offset;
  for (auto [extent, stride] : llvm::zip_equal(result.getShape(), getStrides()))
    last += (extent - 1) * stride;
  if (source.getElementType() != result.getElementType() ||
      (result.getNumElements() > 0 && last >= source.getNumElements()))
    return emitOpError() << "reads " << result.getElementType() << " up to element " << last
                         << " of " << source
                         << ", expected elements of the source (strided_view_c2)";
  for (Operation *user : getResult().getUsers())
    if (auto call = dyn_cast<LibraryCallOpInterface>(user); !call || !call.isLibraryCall())
      return emitOpError() << "is read by " << user->getName()
                           << ", which is not a library call (strided_view_c3)";
  return success();
}
