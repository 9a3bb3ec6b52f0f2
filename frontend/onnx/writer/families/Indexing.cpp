//===- Indexing.cpp - Indexed access as ONNX nodes --------------------------------------------===//

#include "frontend/onnx/writer/Conversions.h"

#include "mlir/IR/Builders.h"

#include <numeric>

using namespace mlir;

namespace mtc::onnx {
namespace {

/// Returns indices of a type that every operator accepts.
GraphValue indicesOf(GraphBuilder &b, Value indices) {
  return b.cast(b.get(indices), IntegerType::get(b.getContext(), 64));
}

/// GatherND reads along the axis after the batch axes. The gathered axis [B.., pre.., axis, post..]
/// is moved there, and the index axes of the result [B.., J.., pre.., post..] are moved back.
GraphValue gatherInBatches(GraphBuilder &b, const GraphValue &x, const GraphValue &indices,
                           GatherOp op) {
  const auto axis = static_cast<int64_t>(op.getAxis()), batch = static_cast<int64_t>(op.getBatch());
  SmallVector<int64_t> forward(x.rank());
  std::iota(forward.begin(), forward.end(), 0);
  std::rotate(forward.begin() + batch, forward.begin() + axis, forward.begin() + axis + 1);
  GraphValue moved = b.transpose(x, forward);

  SmallVector<int64_t> tuples(indices.shape()), shape(indices.shape());
  tuples.push_back(1);
  llvm::append_range(shape, moved.shape().drop_front(batch + 1));
  GraphValue gathered = b.node("GatherND", {moved, b.reshape(indices, tuples)},
                               b.typeOf(shape, x.element()), {{"batch_dims", batch}});
  SmallVector<int64_t> backward(gathered.rank());
  std::iota(backward.begin(), backward.end(), 0);
  auto first = backward.begin() + batch, pre = backward.begin() + indices.rank();
  std::rotate(first, pre, pre + (axis - batch));
  return b.transpose(gathered, backward);
}

GraphValue convertGather(GatherOp op, GraphBuilder &b) {
  GraphValue x = b.get(op.getInput()), indices = indicesOf(b, op.getIndices());
  if (op.getBatch() > 0)
    return gatherInBatches(b, x, indices, op);
  return b.node("Gather", {x, indices}, op.getResult().getType(),
                {{"axis", static_cast<int64_t>(op.getAxis())}});
}

/// The index axes are merged to one axis.
GraphValue convertScatterAdd(ScatterAddOp op, GraphBuilder &b) {
  GraphValue updates = b.get(op.getUpdates()), indices = indicesOf(b, op.getIndices());
  RankedTensorType type = op.getResult().getType();
  const auto axis = static_cast<int64_t>(op.getAxis()), batch = static_cast<int64_t>(op.getBatch());
  ArrayRef<int64_t> ofIndices = indices.shape().drop_front(batch);
  SmallVector<int64_t> shape(type.getShape()), ofRows(type.getRank(), 1);
  shape[axis] = ofRows[axis] =
      std::accumulate(ofIndices.begin(), ofIndices.end(), int64_t(1), std::multiplies<>());
  for (int64_t i = 0; i < batch; ++i)
    ofRows[i] = shape[i];
  std::optional<GraphValue> onto;
  if (op.getOnto())
    onto = b.get(op.getOnto());
  return b.scatterAdd(onto, type, b.reshape(indices, ofRows), b.reshape(updates, shape), axis);
}

} // namespace

void addIndexingConversions(Conversions &conversions) {
  conversions.add(convertGather);
  conversions.add(convertScatterAdd);
}

} // namespace mtc::onnx
