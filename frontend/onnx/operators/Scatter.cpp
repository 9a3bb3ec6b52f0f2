//===- Scatter.cpp - Scatter operators --------------------------------------------------------===//
//
// Reduction add is mtc.scatter_add. To overwrite, elements with updates are replaced by the sum of
// their updates: the standard leaves duplicate indices undefined.
//
//===------------------------------------------------------------------------------------------===//

#include "frontend/onnx/operators/Operators.h"
#include "frontend/onnx/operators/support/Conversion.h"
#include "frontend/onnx/operators/support/Evaluate.h"
#include "frontend/onnx/operators/support/Indices.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

#include <cstring>

using namespace mlir;

namespace mtc::onnx {
namespace {

/// Returns how updates are combined with data.
StringRef readReduction(NodeView &node) {
  return node.choice("reduction", "none", {"none", "add", "mul", "max", "min"});
}

int64_t scatteredAxis(NodeView &node) { return node.axis("axis", 0, node.rank(0)); }

/// Copies data and writes `updates[i .. i + block)` at `positionOf(i / block)`. Does not fold if a
/// position is out of bounds.
void evaluateScatter(Inference &node, int64_t block,
                     llvm::function_ref<int64_t(int64_t)> positionOf) {
  if (readReduction(node) != "none")
    return;
  Tensor data = node.tensor(0), updates = node.tensor(2);
  std::optional<Tensor> result = Tensor::allocate(data.type());
  if (!result)
    return;
  size_t width = data.elementSize();
  char *out = result->mutableBytes().data();
  for (int64_t i = 0, count = data.size(); i < count; ++i)
    std::memcpy(out + i * width, data.bytes().data() + (data.isSplat() ? 0 : i * width), width);
  for (int64_t i = 0, count = updates.size(); i < count; ++i) {
    int64_t position = positionOf(i / block);
    if (position < 0 || position >= data.size())
      return;
    std::memcpy(out + (position + i % block) * width,
                updates.bytes().data() + (updates.isSplat() ? 0 : i * width), width);
  }
  node.fold(0, result);
}

/// Scatter-adds updates into zeros of the data's shape.
using Spread = llvm::function_ref<Value(Value updates)>;
/// Reduces data with all updates, by multiplication, maximum or minimum.
using Reduce = llvm::function_ref<Value(ReductionKind kind)>;

LogicalResult convertScatter(Conversion &node, Spread spread, Reduce reduce) {
  StringRef reduction = readReduction(node);
  if (node.failed())
    return failure();
  if (node.elementType(0).isInteger(1))
    return node.failure("element type i1 is not supported");
  if (reduction != "none" && reduction != "add")
    return node.result(0, reduce(reduction == "mul"   ? ReductionKind::Mul
                                 : reduction == "max" ? ReductionKind::Max
                                                      : ReductionKind::Min));
  TensorBuilder &b = node.b;
  Value data = node.value(0), updates = node.value(2), sum = spread(updates);
  if (reduction == "add")
    return node.result(0, b.add(data, sum));
  Value ones = b.splat(RankedTensorType::get(shapeOf(updates), b.getI32Type()), 1.0);
  Value count = spread(ones);
  Value written = b.compare(Predicate::Gt, count, b.splat(count, 0.0));
  return node.result(0, b.select(written, sum, data));
}

/// Reduces data [common.., N, inner..] with updates [common.., K, inner..] at `indices` [common..,
/// K] along `axis`. Every element is compared with all indices, because any other order of
/// multiplications would not be reproducible.
Value reduceUpdates(TensorBuilder &b, ReductionKind kind, Value data, Value indices, Value updates,
                    int64_t axis) {
  int64_t extent = shapeOf(data)[axis], count = shapeOf(updates)[axis];
  if (count == 0)
    return data;
  SmallVector<int64_t> met(shapeOf(data));
  met.insert(met.begin() + axis + 1, count); // [common.., N, K, inner..].
  SmallVector<int64_t> places(ArrayRef(met).take_front(axis + 2));
  Value index = b.cast(indices, b.getI64Type());
  Value isNegative = b.compare(Predicate::Lt, index, b.splat(index, 0.0));
  Value end = b.splat(index, static_cast<double>(extent));
  index = b.select(isNegative, b.add(index, end), index);
  Value place = b.iota(RankedTensorType::get(places, b.getI64Type()), axis);
  Value isHere = b.compare(Predicate::Eq, b.broadcast(index, {axis}, places), place);
  SmallVector<int64_t> inner;
  for (auto i = static_cast<int64_t>(places.size()); i < static_cast<int64_t>(met.size()); ++i)
    inner.push_back(i);
  Value own = b.broadcast(data, {axis + 1}, met);
  Value elsewhere = kind == ReductionKind::Mul ? b.splat(own, 1.0) : own;
  Value chosen =
      b.select(b.broadcast(isHere, inner, met), b.broadcast(updates, {axis}, met), elsewhere);
  Value reduced = b.reduce(kind, chosen, {axis + 1});
  switch (kind) {
  case ReductionKind::Mul:
    return b.mul(data, reduced);
  case ReductionKind::Max:
    return b.max(data, reduced);
  default:
    return b.min(data, reduced);
  }
}

//===--- ScatterElements ----------------------------------------------------------------------===//

/// Indices have the shape of the updates; each replaces its own position along the axis.
LogicalResult inferScatterElements(Inference &node) {
  readReduction(node);
  if (!node.integerElements(1) || !node.sameElementType(0, 2) || !node.hasRank(0, 1) ||
      !node.hasRank(1, node.rank(0), node.rank(0)))
    return failure();
  scatteredAxis(node);
  if (node.shape(1) != node.shape(2))
    return node.failure(Twine(node.operandName(2)) + " has shape " + shapeText(node.shape(2)) +
                        ", expected the shape of the indices, " + shapeText(node.shape(1)));
  return node.result(0, node.type(0));
}

void evaluateScatterElements(Inference &node) {
  int64_t axis = scatteredAxis(node);
  std::vector<int64_t> indices = node.tensor(1).values<int64_t>();
  Extents strides = rowMajorStrides(node.shape(0)), own = rowMajorStrides(node.shape(1));
  evaluateScatter(node, 1, [&](int64_t linear) {
    int64_t index = indices[linear], extent = node.dim(0, axis), position = 0;
    if (index < -extent || index >= extent)
      return int64_t(-1);
    for (int64_t d = 0; d < node.rank(0); ++d) {
      position += (d != axis ? linear / own[d] : index < 0 ? index + extent : index) * strides[d];
      linear %= own[d];
    }
    return position;
  });
}

/// y[i, indices[i, j, k], k] = updates[i, j, k] for axis 1; the other axes are shared.
LogicalResult convertScatterElements(Conversion &node) {
  int64_t rank = node.rank(0), axis = scatteredAxis(node);
  if (node.failed())
    return failure();
  TensorBuilder &b = node.b;
  SmallVector<int64_t> last = axisLast(rank, axis), back = axisBack(rank, axis);
  Value indices = b.transpose(node.value(1), last);
  SmallVector<int64_t> zero(rank, 0), missing;
  for (auto [i, extent] : llvm::enumerate(node.shape(0)))
    missing.push_back(static_cast<int64_t>(i) == axis ? 0 : extent - node.dim(1, i));
  bool isWhole = llvm::all_of(missing, [](int64_t m) { return m == 0; });
  auto spread = [&](Value updates) {
    Value y =
        b.scatterAdd(b.transpose(updates, last), indices, rank - 1, rank - 1, node.dim(0, axis));
    y = b.transpose(y, back);
    // The indices may be shorter along the shared axes.
    return isWhole ? y : b.pad(y, zero, missing, zero);
  };
  auto reduce = [&](ReductionKind kind) {
    Value data = node.value(0);
    SmallVector<int64_t> sizes(node.shape(1)), one(rank, 1);
    sizes[axis] = node.dim(0, axis);
    Value met = isWhole ? data : b.slice(data, zero, sizes, one);
    Value y = b.transpose(reduceUpdates(b, kind, b.transpose(met, last), indices,
                                        b.transpose(node.value(2), last), rank - 1),
                          back);
    if (isWhole)
      return y;
    Value isMet =
        b.pad(b.splat(RankedTensorType::get(sizes, b.getI1Type()), 1.0), zero, missing, zero);
    return b.select(isMet, b.pad(y, zero, missing, zero), data);
  };
  return convertScatter(node, spread, reduce);
}

//===--- ScatterND ----------------------------------------------------------------------------===//

/// The last axis of the indices contains tuples that address leading axes of data; updates are
/// slices of the remaining axes.
LogicalResult inferScatterND(Inference &node) {
  readReduction(node);
  if (!node.integerElements(1) || !node.sameElementType(0, 2) || !node.hasRank(0, 1) ||
      !node.hasRank(1, 1))
    return failure();
  int64_t tuple = node.shape(1).back();
  if (tuple < 1 || tuple > node.rank(0))
    return node.failure(Twine(node.operandName(1)) + " has tuples of " + Twine(tuple) +
                        " indices, expected 1.." + Twine(node.rank(0)));
  Extents expected(node.shape(1).drop_back());
  llvm::append_range(expected, node.shape(0).drop_front(tuple));
  if (node.shape(2) != ArrayRef<int64_t>(expected))
    return node.failure(Twine(node.operandName(2)) + " has shape " + shapeText(node.shape(2)) +
                        ", expected " + shapeText(expected));
  return node.result(0, node.type(0));
}

void evaluateScatterND(Inference &node) {
  int64_t tuple = node.shape(1).back();
  std::vector<int64_t> indices = node.tensor(1).values<int64_t>();
  int64_t block = elementCount(node.shape(0).drop_front(tuple));
  evaluateScatter(node, std::max<int64_t>(block, 1), [&](int64_t row) {
    int64_t position = 0;
    for (int64_t d = 0; d < tuple; ++d) {
      int64_t index = indices[row * tuple + d], extent = node.dim(0, d);
      if (index < -extent || index >= extent)
        return int64_t(-1);
      position = position * extent + (index < 0 ? index + extent : index);
    }
    return position * block;
  });
}

/// Collapses the addressed leading axes into one axis.
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
  auto spread = [&](Value updates) {
    return b.reshape(b.scatterAdd(b.reshape(updates, flat), positions, 0, 0, places), shape);
  };
  auto reduce = [&](ReductionKind kind) {
    SmallVector<int64_t> rows(flat);
    rows.front() = places;
    Value y = reduceUpdates(b, kind, b.reshape(node.value(0), rows), positions,
                            b.reshape(node.value(2), flat), 0);
    return b.reshape(y, shape);
  };
  return convertScatter(node, spread, reduce);
}

//===--- TensorScatter ------------------------------------------------------------------------===//

struct CacheWrite {
  int64_t axis;
  bool isCircular;

  static CacheWrite read(NodeView &node) {
    return {node.axis("axis", -2, node.rank(0)),
            node.choice("mode", "linear", {"linear", "circular"}) == "circular"};
  }
};

/// Cache [N, …, T, …], updates with extent S instead of T, start positions [N].
LogicalResult inferTensorScatter(Inference &node) {
  if (!node.hasRank(0, 2) || !node.sameElementType(0, 1))
    return failure();
  auto [axis, isCircular] = CacheWrite::read(node);
  if (node.failed())
    return failure();
  if (axis == 0)
    return node.failure("attribute axis is the batch axis; expected another axis");
  Extents expected(node.shape(0));
  int64_t length = node.rank(1) == node.rank(0) ? node.dim(1, axis) : -1;
  expected[axis] = std::min(length, expected[axis]);
  if (node.shape(1) != ArrayRef<int64_t>(expected))
    return node.failure(Twine(node.operandName(1)) + " has shape " + shapeText(node.shape(1)) +
                        ", expected " + shapeText(node.shape(0)) + " or less on axis " +
                        Twine(axis));
  if (node.has(2) && node.shape(2) != ArrayRef<int64_t>(node.dim(0, 0)))
    return node.failure(Twine(node.operandName(2)) + " has shape " + shapeText(node.shape(2)) +
                        ", expected " + shapeText(node.dim(0, 0)));
  return node.result(0, node.type(0));
}

/// Each cache element reads the update that is written to it, if any.
LogicalResult convertTensorScatter(Conversion &node) {
  auto [axis, isCircular] = CacheWrite::read(node);
  TensorBuilder &b = node.b;
  Value cache = node.value(0), updates = node.value(1);
  int64_t rows = node.dim(0, 0), places = node.dim(0, axis), length = node.dim(1, axis);
  if (length == 0)
    return node.result(0, cache);
  auto type = RankedTensorType::get({rows, places}, b.getI64Type());
  Value source = b.iota(type, 1);
  if (node.has(2))
    source = b.sub(source, b.broadcast(node.value(2), {1}, type.getShape()));
  Value zero = b.splat(type, 0.0), count = b.splat(type, static_cast<double>(places));
  if (isCircular) {
    source = b.rem(source, count);
    source = b.select(b.compare(Predicate::Lt, source, zero), b.add(source, count), source);
  }
  Value written =
      b.logicalAnd(b.compare(Predicate::Ge, source, zero),
                   b.compare(Predicate::Lt, source, b.splat(type, static_cast<double>(length))));
  source = b.select(written, source, zero);
  // Moves `axis` directly after the batch axis.
  SmallVector<int64_t> order = axesFirst(node.rank(0), {0, axis});
  Value read = b.transpose(b.gather(b.transpose(updates, order), source, 1, 1),
                           invertPermutationVector(order));
  ArrayRef<int64_t> others = ArrayRef(order).drop_front(2);
  return node.result(0, b.select(b.broadcast(written, others, node.shape(0)), read, cache));
}

} // namespace

void addScatterOperators(Operators &operators) {
  for (auto [name, version] : {std::pair("Scatter", 9), std::pair("ScatterElements", 11)})
    operators.add(name, version,
                  {.infer = inferScatterElements,
                   .evaluate = evaluateScatterElements,
                   .convert = convertScatterElements,
                   .roles = {{0, OperandRole::Scattered}, {2, OperandRole::Scattered}}});
  operators.add("ScatterND", 11,
                {.infer = inferScatterND,
                 .evaluate = evaluateScatterND,
                 .convert = convertScatterND,
                 .roles = {{0, OperandRole::Scattered}, {2, OperandRole::Scattered}}});
  operators.add("TensorScatter", 24,
                {.infer = inferTensorScatter, .convert = convertTensorScatter});
}

} // namespace mtc::onnx
