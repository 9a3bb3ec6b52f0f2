//===- Indexing.cpp - Gather operators, OneHot, ReverseSequence -------------------------------===//

#include "frontend/onnx/operators/Operators.h"
#include "frontend/onnx/operators/support/Conversion.h"
#include "frontend/onnx/operators/support/Evaluate.h"
#include "frontend/onnx/operators/support/Indices.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

namespace mtc::onnx {
namespace {

/// Returns constant indices, normalized to non-negative ones, into axes of the given extents
/// (repeated cyclically). Fails with a diagnostic if an index is out of bounds.
std::optional<std::vector<int64_t>> checkedIndices(Inference &node, size_t operand,
                                                   ArrayRef<int64_t> extents) {
  std::vector<int64_t> indices = node.tensor(operand).values<int64_t>();
  for (size_t i = 0; i < indices.size(); ++i) {
    int64_t extent = extents[i % extents.size()];
    if (indices[i] < -extent || indices[i] >= extent) {
      (void)node.failure(Twine(node.operandName(operand)) + " holds " + Twine(indices[i]) +
                         ", expected " + Twine(-extent) + ".." + Twine(extent - 1));
      return std::nullopt;
    }
    if (indices[i] < 0)
      indices[i] += extent;
  }
  return indices;
}

//===--- Gather -------------------------------------------------------------------------------===//

/// Returns the axis of the data that the indices address.
int64_t indexedAxis(NodeView &node) { return node.axis("axis", 0, node.rank(0)); }

/// Infers the shape of the data with the axis replaced by the indices' shape.
LogicalResult inferGather(Inference &node) {
  if (!node.integerElements(1) || !node.hasRank(0, 1))
    return failure();
  int64_t axis = indexedAxis(node);
  if (node.failed())
    return failure();
  Extents shape(node.shape(0).take_front(axis));
  llvm::append_range(shape, node.shape(1));
  llvm::append_range(shape, node.shape(0).drop_front(axis + 1));
  return node.result(0, node.elementType(0), shape);
}

void evaluateGather(Inference &node) {
  int64_t axis = indexedAxis(node), extent = node.dim(0, axis);
  auto indices = checkedIndices(node, 1, extent);
  if (!indices)
    return;
  int64_t inner = elementCount(node.shape(0).drop_front(axis + 1));
  auto count = static_cast<int64_t>(indices->size());
  node.fold(0, indexedCopy(node.tensor(0), node.resultType(), [&](int64_t linear) {
              int64_t column = linear % inner, row = linear / inner;
              return (row / count * extent + (*indices)[row % count]) * inner + column;
            }));
}

/// For an embedding with `padding_idx`: stops the gradient at the gathered padding rows, so that
/// the table's padding row has no gradient (torch.nn.Embedding).
Value stopAtPadding(Conversion &node, Value rows) {
  auto padding = node.op()->getAttrOfType<IntegerAttr>(paddingAttribute);
  if (!padding || indexedAxis(node) != 0)
    return rows;
  TensorBuilder &b = node.b;
  Value indices = node.value(1);
  Value isPadding = b.compare(Predicate::Eq, indices, b.splat(indices, padding.getInt()));
  SmallVector<int64_t> shape(shapeOf(indices));
  shape.resize(shapeOf(rows).size(), 1);
  Value mask = b.broadcastTo(b.reshape(isPadding, shape), shapeOf(rows));
  return b.select(mask, b.detach(rows), rows);
}

LogicalResult convertGather(Conversion &node) {
  int64_t axis = indexedAxis(node);
  if (node.failed())
    return failure();
  if (auto indices = node.constantInts(1))
    if (Value even = gatherEvenly(node.b, node.value(0), axis, *indices, node.shape(1)))
      return node.result(0, stopAtPadding(node, even));
  return node.result(
      0, stopAtPadding(node, node.b.gather(node.value(0), node.value(1), axis, /*batch=*/0)));
}

//===--- GatherElements -----------------------------------------------------------------------===//

/// Infers the shape of the indices. Each index replaces its own position along the axis.
LogicalResult inferGatherElements(Inference &node) {
  if (!node.integerElements(1) || !node.hasRank(0, 1) ||
      !node.hasRank(1, node.rank(0), node.rank(0)))
    return failure();
  int64_t axis = indexedAxis(node);
  for (int64_t d = 0; d < node.rank(0); ++d)
    if (d != axis && node.dim(1, d) > node.dim(0, d))
      return node.failure(Twine(node.operandName(1)) + " has shape " + shapeText(node.shape(1)) +
                          ", larger than " + shapeText(node.shape(0)) + " outside axis " +
                          Twine(axis));
  return node.result(0, node.elementType(0), node.shape(1));
}

void evaluateGatherElements(Inference &node) {
  int64_t axis = indexedAxis(node);
  auto indices = checkedIndices(node, 1, node.dim(0, axis));
  if (!indices)
    return;
  Extents strides = rowMajorStrides(node.shape(0)), result = rowMajorStrides(node.shape(1));
  node.fold(0, indexedCopy(node.tensor(0), node.resultType(), [&](int64_t linear) {
              int64_t from = (*indices)[linear] * strides[axis];
              for (int64_t d = 0; d < node.rank(0); ++d) {
                if (d != axis)
                  from += linear / result[d] * strides[d];
                linear %= result[d];
              }
              return from;
            }));
}

/// y[i, j, k] = x[i, indices[i, j, k], k] for axis 1. All other axes are shared, so this is a
/// gather along the last axis with the others as batch axes.
LogicalResult convertGatherElements(Conversion &node) {
  int64_t rank = node.rank(0), axis = indexedAxis(node);
  if (node.failed())
    return failure();
  TensorBuilder &b = node.b;
  // Exporters gather from a table of zeros for token types.
  if (std::optional<Tensor> data = node.constant(0); data && data->isSplat())
    return node.result(0, b.constant(data->withType(node.resultType()).toAttribute()));
  // The indices may be shorter along the shared axes.
  SmallVector<int64_t> sizes(node.shape(1)), offsets(rank, 0), strides(rank, 1);
  sizes[axis] = node.dim(0, axis);
  Value x = node.value(0);
  if (shapeOf(x) != ArrayRef(sizes))
    x = b.slice(x, offsets, sizes, strides);
  SmallVector<int64_t> last = axisLast(rank, axis);
  Value y = b.gather(b.transpose(x, last), b.transpose(node.value(1), last), rank - 1, rank - 1);
  return node.result(0, b.transpose(y, axisBack(rank, axis)));
}

//===--- GatherND -----------------------------------------------------------------------------===//

int64_t batchDims(NodeView &node) { return node.integer("batch_dims", 0); }

/// The last axis of the indices contains tuples that address the axes of the data after
/// `batch_dims` shared axes.
LogicalResult inferGatherND(Inference &node) {
  if (!node.integerElements(1) || !node.hasRank(0, 1) || !node.hasRank(1, 1))
    return failure();
  int64_t batch = batchDims(node), tuple = node.shape(1).back();
  if (batch < 0 || batch >= std::min(node.rank(0), node.rank(1)))
    return node.failure("attribute batch_dims = " + Twine(batch) + ", expected 0.." +
                        Twine(std::min(node.rank(0), node.rank(1)) - 1));
  if (tuple < 1 || batch + tuple > node.rank(0))
    return node.failure(Twine(node.operandName(1)) + " has tuples of " + Twine(tuple) +
                        " indices, expected 1.." + Twine(node.rank(0) - batch));
  if (node.shape(0).take_front(batch) != node.shape(1).take_front(batch))
    return node.failure("operands of shapes " + shapeText(node.shape(0)) + " and " +
                        shapeText(node.shape(1)) + " differ in the first " + Twine(batch) +
                        " axes");
  Extents shape(node.shape(1).drop_back());
  llvm::append_range(shape, node.shape(0).drop_front(batch + tuple));
  return node.result(0, node.elementType(0), shape);
}

void evaluateGatherND(Inference &node) {
  int64_t batch = batchDims(node), tuple = node.shape(1).back();
  ArrayRef<int64_t> named = node.shape(0).slice(batch, tuple);
  auto indices = checkedIndices(node, 1, named);
  if (!indices)
    return;
  int64_t inner = elementCount(node.shape(0).drop_front(batch + tuple));
  int64_t batches = elementCount(node.shape(0).take_front(batch));
  int64_t perBatch = elementCount(node.shape(1).drop_back()) / std::max<int64_t>(batches, 1);
  node.fold(0, indexedCopy(node.tensor(0), node.resultType(), [&](int64_t linear) {
              int64_t position = linear / inner, from = position / perBatch;
              for (int64_t d = 0; d < tuple; ++d)
                from = from * named[d] + (*indices)[position * tuple + d];
              return from * inner + linear % inner;
            }));
}

/// Collapses the addressed axes into one axis, after the batch axes.
LogicalResult convertGatherND(Conversion &node) {
  int64_t batch = batchDims(node);
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

//===--- OneHot -------------------------------------------------------------------------------===//

/// Returns the new axis of the result.
int64_t classAxis(NodeView &node) { return node.axis("axis", -1, node.rank(0) + 1); }

/// Infers the shape with the new axis.
LogicalResult inferOneHot(Inference &node) {
  if (!node.hasRank(2, 1, 1))
    return failure();
  int64_t axis = classAxis(node);
  std::optional<SmallVector<double>> depth = node.constantFloats(1);
  if (!depth)
    return node.needsConstant(1);
  if (node.failed())
    return failure();
  if (depth->size() != 1 || !(depth->front() >= 0 && depth->front() <= double(maxElements)))
    return node.failure(Twine(node.operandName(1)) + " must hold one integer from 0 to " +
                        Twine(maxElements));
  if (node.dim(2, 0) != 2)
    return node.failure(Twine(node.operandName(2)) + " has shape " + shapeText(node.shape(2)) +
                        ", expected [2]");
  Extents shape(node.shape(0));
  shape.insert(shape.begin() + axis, static_cast<int64_t>(depth->front()));
  return node.result(0, node.elementType(2), shape);
}

void evaluateOneHot(Inference &node) {
  int64_t axis = classAxis(node), depth = node.resultShape()[axis];
  int64_t inner = elementCount(node.resultShape().drop_front(axis + 1));
  std::vector<int64_t> indices = node.tensor(0).values<int64_t>();
  node.fold(0, indexedCopy(node.tensor(2), node.resultType(), [&](int64_t linear) {
              int64_t at = linear / inner % depth;
              int64_t index = indices[linear / (inner * depth) * inner + linear % inner];
              return int64_t(at == (index < 0 ? index + depth : index));
            }));
}

/// Returns values[1] at the class index along `axis` and values[0] elsewhere; negative classes
/// count from the end.
LogicalResult convertOneHot(Conversion &node) {
  int64_t axis = classAxis(node);
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

//===--- ReverseSequence ----------------------------------------------------------------------===//

struct SequenceAxes {
  int64_t batch, time;

  static SequenceAxes read(NodeView &node) {
    return {node.axis("batch_axis", 1, node.rank(0)), node.axis("time_axis", 0, node.rank(0))};
  }
};

LogicalResult inferReverseSequence(Inference &node) {
  if (!node.hasRank(0, 2) || !node.hasRank(1, 1, 1) || !node.integerElements(1))
    return failure();
  auto [batch, time] = SequenceAxes::read(node);
  if (node.failed())
    return failure();
  if (batch == time)
    return node.failure("attributes batch_axis and time_axis are both " + Twine(batch));
  if (node.dim(1, 0) != node.dim(0, batch))
    return node.failure(Twine(node.operandName(1)) + " has " + Twine(node.dim(1, 0)) +
                        " lengths, expected " + Twine(node.dim(0, batch)));
  return node.result(0, node.type(0));
}

/// Reverses the first lengths[n] elements of sequence n; later elements keep their positions.
LogicalResult convertReverseSequence(Conversion &node) {
  auto [batch, time] = SequenceAxes::read(node);
  TensorBuilder &b = node.b;
  SmallVector<int64_t> order = axesFirst(node.rank(0), {batch, time});
  Value y = reverseSequences(b, b.transpose(node.value(0), order), node.value(1));
  return node.result(0, b.transpose(y, invertPermutationVector(order)));
}

} // namespace

void addIndexingOperators(Operators &operators) {
  operators.add("Gather", 1,
                {.infer = inferGather, .evaluate = evaluateGather, .convert = convertGather});
  operators.add("GatherElements", 11,
                {.infer = inferGatherElements,
                 .evaluate = evaluateGatherElements,
                 .convert = convertGatherElements});
  operators.add("GatherND", 11,
                {.infer = inferGatherND, .evaluate = evaluateGatherND, .convert = convertGatherND});
  operators.add("OneHot", 9,
                {.infer = inferOneHot,
                 .evaluate = evaluateOneHot,
                 .convert = convertOneHot,
                 .roles = {{2, OperandRole::NoGradient}}});
  operators.add("ReverseSequence", 10,
                {.infer = inferReverseSequence, .convert = convertReverseSequence});
}

} // namespace mtc::onnx
