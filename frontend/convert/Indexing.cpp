//===- Indexing.cpp - Operators that read at given indices ------------------------------------===//

#include "frontend/convert/Converters.h"
#include "frontend/convert/Indices.h"

using namespace mlir;

namespace mtc::onnx {
namespace {

LogicalResult convertGather(Conversion &node) {
  int64_t axis = node.axis("axis", 0, node.rank(0));
  if (node.failed())
    return failure();
  if (auto indices = node.constantInts(1))
    if (Value even = gatherEvenly(node.b, node.value(0), axis, *indices, node.shape(1)))
      return node.result(0, even);
  return node.result(0, node.b.gather(node.value(0), node.value(1), axis, /*batch=*/0));
}

/// y[i, j, k] = x[i, indices[i, j, k], k] for axis 1: all other axes are common, so it is a gather
/// along the last axis with the others as batch.
LogicalResult convertGatherElements(Conversion &node) {
  int64_t rank = node.rank(0), axis = node.axis("axis", 0, rank);
  if (node.failed())
    return failure();
  TensorBuilder &b = node.b;
  // Exporters look up a table of zeros for the types of tokens.
  if (std::optional<Tensor> data = node.constant(0); data && data->isSplat())
    return node.result(0, b.constant(data->withType(node.resultType()).toAttribute()));
  // The indices may be shorter along the common axes.
  SmallVector<int64_t> sizes(node.shape(1)), offsets(rank, 0), strides(rank, 1);
  sizes[axis] = node.dim(0, axis);
  Value x = node.value(0);
  if (shapeOf(x) != ArrayRef(sizes))
    x = b.slice(x, offsets, sizes, strides);
  SmallVector<int64_t> last = axisLast(rank, axis);
  Value y = b.gather(b.transpose(x, last), b.transpose(node.value(1), last), rank - 1, rank - 1);
  return node.result(0, b.transpose(y, axisBack(rank, axis)));
}

/// Tuples along the last axis of the indices address the axes behind the batch's, which become one.
LogicalResult convertGatherND(Conversion &node) {
  int64_t batch = node.integer("batch_dims", 0);
  if (node.failed())
    return failure();
  TensorBuilder &b = node.b;
  ArrayRef<int64_t> shape = node.shape(0);
  int64_t length = node.shape(1).back();
  ArrayRef<int64_t> addressed = shape.slice(batch, length);
  SmallVector<int64_t> flat(shape.take_front(batch));
  flat.push_back(ShapedType::getNumElements(addressed));
  llvm::append_range(flat, shape.drop_front(batch + length));
  Value x = b.reshape(node.value(0), flat);
  if (auto tuples = node.constantInts(1); tuples && batch == 0)
    if (auto positions = linearizeConstant(*tuples, addressed))
      if (Value even = gatherEvenly(b, x, 0, *positions, node.shape(1).drop_back()))
        return node.result(0, even);
  return node.result(0, b.gather(x, linearize(b, node.value(1), addressed), batch, batch));
}

/// values[1] where the class is at its place along `axis`, values[0] elsewhere; a negative class
/// counts from the end.
LogicalResult convertOneHot(Conversion &node) {
  int64_t rank = node.resultType().getRank(), axis = node.axis("axis", -1, rank);
  if (node.failed())
    return failure();
  TensorBuilder &b = node.b;
  ArrayRef<int64_t> shape = node.resultShape();
  Value classes = b.cast(node.value(0), b.getI64Type());
  Value wrapped = b.select(b.compare(Predicate::Lt, classes, b.splat(classes, 0.0)),
                           b.add(classes, b.splat(classes, shape[axis])), classes);
  Value place = b.iota(RankedTensorType::get(shape, b.getI64Type()), axis);
  Value isHot = b.compare(Predicate::Eq, b.broadcast(wrapped, {axis}, shape), place);
  auto pick = [&](int64_t i) {
    Value scalar = b.reshape(b.slice(node.value(2), {i}, {1}, {1}), {});
    return b.broadcastTo(scalar, shape);
  };
  return node.result(0, b.select(isHot, pick(1), pick(0)));
}

} // namespace

void registerIndexingConverters(Converters &converters) {
  converters.add("Gather", 1, convertGather);
  converters.add("GatherElements", 11, convertGatherElements);
  converters.add("GatherND", 11, convertGatherND);
  converters.add("OneHot", 9, convertOneHot);
}

} // namespace mtc::onnx
