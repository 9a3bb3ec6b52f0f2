//===- Padding.cpp - Pad ----------------------------------------------------------------------===//

#include "frontend/convert/Converters.h"

using namespace mlir;

namespace mtc::onnx {
namespace {

/// Elements to add before and after each axis; negative ones are removed.
struct Amounts {
  SmallVector<int64_t> low, high;
};

/// `pads` hold all beginnings, then all ends: of the axes of operand 3 (since version 18), or of
/// all.
FailureOr<Amounts> readAmounts(Conversion &node) {
  int64_t rank = node.rank(0);
  auto pads = node.intsOperandOrAttribute(1, "pads");
  if (failed(pads))
    return failure();
  if (!*pads)
    return node.failure("pads are missing");
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (node.has(3)) {
    auto given = node.constantInts(3);
    if (!given)
      return node.needsConstant(3);
    axes = node.normalizedAxes(*given, rank, node.operandName(3));
  }
  if (node.failed())
    return failure();
  if ((*pads)->size() != 2 * axes.size())
    return node.failure(Twine((*pads)->size()) + " pads for " + Twine(axes.size()) +
                        " axes, expected two for each");
  Amounts amounts{SmallVector<int64_t>(rank, 0), SmallVector<int64_t>(rank, 0)};
  for (auto [i, axis] : llvm::enumerate(axes)) {
    amounts.low[axis] = (**pads)[i];
    amounts.high[axis] = (**pads)[axes.size() + i];
  }
  return amounts;
}

/// Removes what negative amounts take away, and sets them to 0.
Value crop(TensorBuilder &b, Value x, Amounts &amounts) {
  SmallVector<int64_t> offsets, sizes(shapeOf(x)), strides(sizes.size(), 1);
  for (size_t i = 0; i < sizes.size(); ++i) {
    int64_t low = std::min<int64_t>(amounts.low[i], 0),
            high = std::min<int64_t>(amounts.high[i], 0);
    offsets.push_back(-low);
    sizes[i] += low + high;
    amounts.low[i] -= low;
    amounts.high[i] -= high;
  }
  return shapeOf(x) == ArrayRef(sizes) ? x : b.slice(x, offsets, sizes, strides);
}

/// The index from which position i of a padded axis is read; i is relative to the first element.
int64_t sourceIndex(StringRef mode, int64_t i, int64_t extent) {
  if (mode == "edge")
    return std::clamp<int64_t>(i, 0, extent - 1);
  auto wrapped = [](int64_t value, int64_t period) { return ((value % period) + period) % period; };
  if (mode == "wrap")
    return wrapped(i, extent);
  // Reflected without repeating the border: 2 1 0 1 2 1 0 ..., of period 2 (extent - 1).
  if (extent == 1)
    return 0;
  int64_t period = 2 * (extent - 1), place = wrapped(i, period);
  return place < extent ? place : period - place;
}

/// Edge, reflect and wrap as a gather along each padded axis.
Value padByIndex(TensorBuilder &b, Value x, const Amounts &amounts, StringRef mode) {
  for (int64_t axis = 0; axis < typeOf(x).getRank(); ++axis) {
    int64_t low = amounts.low[axis], high = amounts.high[axis], extent = shapeOf(x)[axis];
    if (low == 0 && high == 0)
      continue;
    SmallVector<int64_t> indices;
    for (int64_t i = -low; i < extent + high; ++i)
      indices.push_back(sourceIndex(mode, i, extent));
    auto type = RankedTensorType::get(indices.size(), b.getI64Type());
    x = b.gather(x, b.constant(DenseElementsAttr::get(type, ArrayRef(indices))), axis, 0);
  }
  return x;
}

/// The value of the padding: attribute before version 11, operand since.
FailureOr<double> paddingValue(Conversion &node) {
  if (!node.has(2))
    return node.floating("value", 0.0);
  auto value = node.constantFloats(2);
  if (!value)
    return node.needsConstant(2);
  return value->front();
}

LogicalResult convertPad(Conversion &node) {
  StringRef mode = node.choice("mode", "constant", {"constant", "edge", "reflect", "wrap"});
  FailureOr<Amounts> amounts = readAmounts(node);
  FailureOr<double> value = paddingValue(node);
  if (node.failed() || failed(amounts) || failed(value))
    return failure();
  Value x = crop(node.b, node.value(0), *amounts);
  if (mode != "constant")
    return node.result(0, padByIndex(node.b, x, *amounts, mode));
  if (shapeOf(x) == node.resultShape())
    return node.result(0, x);
  SmallVector<int64_t> interior(node.rank(0), 0);
  return node.result(0, node.b.pad(x, amounts->low, amounts->high, interior, *value));
}

} // namespace

void registerPaddingConverters(Converters &converters) { converters.add("Pad", 2, convertPad); }

} // namespace mtc::onnx
