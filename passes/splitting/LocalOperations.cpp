//===- LocalOperations.cpp - Operations on the parts of one rank ------------------------------===//

#include "passes/splitting/LocalOperations.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mtc;

/// Clones an operation with the types of parts.
static Operation *cloneLocal(TensorBuilder &b, Operation *op, const OperationSplit &split,
                             ValueRange operands) {
  Operation *local = b.clone(*op);
  local->setOperands(operands);
  for (auto [i, result] : llvm::enumerate(local->getResults())) {
    AxisSplitAttr part = split.results[i];
    auto type = cast<RankedTensorType>(result.getType());
    if (part)
      type = part.getPartOf(type);
    result.setType(split.partial ? addendType(type) : type);
  }
  return local;
}

/// Returns the numbers of a list with that of the divided axis divided by the number of ranks.
static SmallVector<int64_t> localNumbers(ArrayRef<int64_t> numbers, AxisSplitAttr split) {
  SmallVector<int64_t> local(numbers);
  local[split.getAxis()] /= split.getParts();
  return local;
}

namespace {

/// The rows of a divided table that indices point to.
struct LocalIndices {
  Value indices; ///< in this rank's part; 0 for rows of other ranks
  Value isOwn;   ///< whether the row is in this rank's part
};

} // namespace

/// An index outside the whole table is outside the part, too, so that it ends the run.
static LocalIndices localIndices(TensorBuilder &b, Value indices, int64_t extent, int64_t part,
                                 PartExchange &exchange) {
  Value wide = b.cast(indices, b.getI64Type());
  ArrayRef<int64_t> shape = shapeOf(wide);
  SmallVector<int64_t> axes =
      llvm::to_vector(llvm::seq<int64_t>(0, static_cast<int64_t>(shape.size())));
  auto bound = [&](int64_t value) { return b.splat(wide, static_cast<double>(value)); };
  Value zero = bound(0);
  Value fromStart =
      b.select(b.compare(Predicate::Lt, wide, zero), b.add(wide, bound(extent)), wide);
  Value first = exchange.rankTimes(part);
  Value local = b.sub(fromStart, b.broadcast(first, axes, shape));
  Value isOwn = b.logicalAnd(b.compare(Predicate::Ge, local, zero),
                             b.compare(Predicate::Lt, local, bound(part)));
  Value exists = b.logicalAnd(b.compare(Predicate::Ge, fromStart, zero),
                              b.compare(Predicate::Lt, fromStart, bound(extent)));
  return {b.select(isOwn, local, b.select(exists, zero, wide)), isOwn};
}

/// Returns a condition for each index of a gather with the shape of its result.
static Value broadcastToGathered(TensorBuilder &b, Value condition, ArrayRef<int64_t> shape,
                                 int64_t axis, int64_t batch) {
  const auto count = static_cast<int64_t>(shapeOf(condition).size());
  SmallVector<int64_t> added;
  for (int64_t i = 0; i < static_cast<int64_t>(shape.size()); ++i)
    if (!(i < batch || (i >= axis && i < axis + count - batch)))
      added.push_back(i);
  return added.empty() ? condition : b.broadcast(condition, added, shape);
}

/// A row of another rank is -0, which changes no sum.
static Value buildGather(TensorBuilder &b, GatherOp op, ValueRange operands,
                         PartExchange &exchange) {
  const auto axis = static_cast<int64_t>(op.getAxis()), batch = static_cast<int64_t>(op.getBatch());
  LocalIndices local = localIndices(b, operands[1], op.getInput().getType().getDimSize(axis),
                                    shapeOf(operands[0])[axis], exchange);
  Value rows = b.gather(operands[0], local.indices, axis, batch);
  Value addends = b.select(broadcastToGathered(b, local.isOwn, shapeOf(rows), axis, batch), rows,
                           b.splat(rows, -0.0));
  return b.cast(addends, addendType(addends.getType()).getElementType());
}

/// An update of a row of another rank adds -0 to the first row, which does not change it.
static Value buildScatter(TensorBuilder &b, ScatterAddOp op, ValueRange operands,
                          PartExchange &exchange) {
  const auto axis = static_cast<int64_t>(op.getAxis()), batch = static_cast<int64_t>(op.getBatch());
  const int64_t extent = op.getType().getDimSize(axis);
  const int64_t part = extent / exchange.getRanks();
  LocalIndices local = localIndices(b, operands[1], extent, part, exchange);
  Value updates = b.select(broadcastToGathered(b, local.isOwn, shapeOf(operands[0]), axis, batch),
                           operands[0], b.splat(operands[0], -0.0));
  SmallVector<int64_t> shape(op.getType().getShape());
  shape[axis] = part;
  Value onto = operands.size() > 2 ? operands[2] : Value();
  return b.create<ScatterAddOp>(op.getType().clone(shape), updates, local.indices,
                                static_cast<uint64_t>(axis), static_cast<uint64_t>(batch), onto);
}

/// Adds the index of the first element of this rank's part.
static Value addFirstIndex(TensorBuilder &b, IotaOp local, PartExchange &exchange) {
  ArrayRef<int64_t> shape = local.getType().getShape();
  Value first =
      b.cast(exchange.rankTimes(shape[local.getAxis()]), local.getType().getElementType());
  SmallVector<int64_t> axes =
      llvm::to_vector(llvm::seq<int64_t>(0, static_cast<int64_t>(shape.size())));
  return b.add(local, b.broadcast(first, axes, shape));
}

/// Returns the split of an axis within this rank's part along `outer`, among another group.
static AxisSplitAttr withinPart(AxisSplitAttr split, AxisSplitAttr outer) {
  if (split.getAxis() != outer.getAxis())
    return split;
  return AxisSplitAttr::get(split.getContext(), split.getAxis(),
                            split.getOuter() / outer.getParts(), split.getParts(),
                            split.getStride());
}

void mtc::setGroupsOfChannels(Operation *op) {
  llvm::TypeSwitch<Operation *>(op)
      .Case<ConvolveOp, TransposedConvolveOp, ConvolveWeightGradientOp>([](auto convolution) {
        convolution.setGroups(static_cast<uint64_t>(shapeOf(convolution.getInput()).back() /
                                                    shapeOf(convolution.getWeights())[1]));
      });
}

SmallVector<Value> mtc::buildLocal(TensorBuilder &b, Operation *op, const OperationSplit &split,
                                   ValueRange operands, PartExchange &exchange) {
  if (auto gather = dyn_cast<GatherOp>(op); gather && split.partial)
    return {buildGather(b, gather, operands, exchange)};
  if (auto scatter = dyn_cast<ScatterAddOp>(op))
    if (AxisSplitAttr part = split.results[0];
        part && part.getAxis() == static_cast<int64_t>(scatter.getAxis()))
      return {buildScatter(b, scatter, operands, exchange)};
  Operation *local = cloneLocal(b, op, split, operands);
  setGroupsOfChannels(local);
  return llvm::TypeSwitch<Operation *, SmallVector<Value>>(local)
      .Case([&](IotaOp iota) -> SmallVector<Value> {
        if (split.results[0].getAxis() != static_cast<int64_t>(iota.getAxis()))
          return {iota};
        return {addFirstIndex(b, iota, exchange)};
      })
      .Case([&](RandomBitsOp bits) -> SmallVector<Value> {
        AxisSplitAttr part = split.results[0];
        bits.getPartMutable().assign(exchange.rankTimes(1));
        bits.setParts(static_cast<uint64_t>(part.getParts()));
        bits.setRun(static_cast<uint64_t>(
            part.getRunOf(cast<RankedTensorType>(op->getResult(0).getType()))));
        bits->moveBefore(op);
        return {bits};
      })
      .Case([&](SliceOp slice) -> SmallVector<Value> {
        slice.setOffsets(localNumbers(slice.getOffsets(), split.results[0]));
        return {slice};
      })
      .Case([&](PadOp pad) -> SmallVector<Value> {
        pad.setLow(localNumbers(pad.getLow(), split.results[0]));
        pad.setHigh(localNumbers(pad.getHigh(), split.results[0]));
        return {pad};
      })
      .Case([&](ReshardOp reshard) -> SmallVector<Value> {
        reshard.setFromAttr(withinPart(reshard.getFrom(), split.results[0]));
        reshard.setToAttr(withinPart(reshard.getTo(), split.results[0]));
        return {reshard};
      })
      .Default([](Operation *other) { return SmallVector<Value>(other->getResults()); });
}
