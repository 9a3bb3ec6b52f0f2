//===- Scatter.cpp - Operators that write at given indices ------------------------------------===//
//
// Adding is mtc.scatter_add. Overwriting is the sum of the updates where a place is written at all:
// the standard leaves open what happens when two updates name one place.
//
//===------------------------------------------------------------------------------------------===//

#include "frontend/convert/Converters.h"
#include "frontend/convert/Indices.h"

using namespace mlir;

namespace mtc::onnx {
namespace {

/// Spreads updates over a tensor of the data's shape, zero elsewhere.
using Spread = llvm::function_ref<Value(Value updates)>;

LogicalResult scatter(Conversion &node, Spread spread) {
  StringRef reduction = node.choice("reduction", "none", {"none", "add", "mul", "max", "min"});
  if (node.failed())
    return failure();
  if (reduction != "none" && reduction != "add")
    return node.failure("attribute reduction = \"" + reduction + "\", expected none or add");
  if (node.elementType(0).isInteger(1))
    return node.failure("element type i1 is not supported");
  TensorBuilder &b = node.b;
  Value data = node.value(0), updates = node.value(2), sum = spread(updates);
  if (reduction == "add")
    return node.result(0, b.add(data, sum));
  Value ones = b.splat(RankedTensorType::get(shapeOf(updates), b.getI32Type()), 1.0);
  Value count = spread(ones);
  Value written = b.compare(Predicate::Gt, count, b.splat(count, 0.0));
  return node.result(0, b.select(written, sum, data));
}

/// y[i, indices[i, j, k], k] = updates[i, j, k] for axis 1: the other axes are common.
LogicalResult convertScatterElements(Conversion &node) {
  int64_t rank = node.rank(0), axis = node.axis("axis", 0, rank);
  if (node.failed())
    return failure();
  TensorBuilder &b = node.b;
  SmallVector<int64_t> last = axisLast(rank, axis), back = axisBack(rank, axis);
  Value indices = b.transpose(node.value(1), last);
  SmallVector<int64_t> zero(rank, 0), missing;
  for (auto [i, extent] : llvm::enumerate(node.shape(0)))
    missing.push_back(static_cast<int64_t>(i) == axis ? 0 : extent - node.dim(1, i));
  return scatter(node, [&](Value updates) {
    Value y =
        b.scatterAdd(b.transpose(updates, last), indices, rank - 1, rank - 1, node.dim(0, axis));
    y = b.transpose(y, back);
    // The indices may be shorter along the common axes.
    return llvm::all_of(missing, [](int64_t m) { return m == 0; }) ? y
                                                                   : b.pad(y, zero, missing, zero);
  });
}

/// Tuples along the last axis of the indices address the leading axes, which become one.
LogicalResult convertScatterND(Conversion &node) {
  TensorBuilder &b = node.b;
  ArrayRef<int64_t> shape = node.shape(0);
  int64_t length = node.shape(1).back();
  int64_t places = ShapedType::getNumElements(shape.take_front(length));
  Value positions = linearize(b, node.value(1), shape.take_front(length));
  int64_t count = typeOf(positions).getNumElements();
  positions = b.reshape(positions, {count});
  SmallVector<int64_t> flat{count};
  llvm::append_range(flat, shape.drop_front(length));
  return scatter(node, [&](Value updates) {
    return b.reshape(b.scatterAdd(b.reshape(updates, flat), positions, 0, 0, places), shape);
  });
}

} // namespace

void registerScatterConverters(Converters &converters) {
  converters.add("Scatter", 9, convertScatterElements);
  converters.add("ScatterElements", 11, convertScatterElements);
  converters.add("ScatterND", 11, convertScatterND);
}

} // namespace mtc::onnx
