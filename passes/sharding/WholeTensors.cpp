//===- WholeTensors.cpp - Assignment of whole tensors to ranks --------------------------------===//

#include "passes/sharding/WholeTensors.h"

#include "passes/sharding/Pieces.h"

using namespace mlir;
using namespace mtc;

WholeTensors::WholeTensors(TensorBuilder &b, RankedTensorType type, size_t count, RankGroup group)
    : b(b), type(type), piece(pieceTypeOf(type, group.count)), count(count), group(group) {}

Value WholeTensors::flatten(Value value) {
  return b.reshape(value, {typeOf(value).getNumElements()});
}

/// Returns flat values of one size in one tensor, with zeros for ranks without a value.
Value WholeTensors::concatenate(ArrayRef<Value> values) {
  SmallVector<Value> flat =
      llvm::map_to_vector(values, [&](Value value) { return flatten(value); });
  const int64_t missing = group.count - static_cast<int64_t>(flat.size());
  RankedTensorType first = typeOf(flat.front());
  if (missing)
    flat.push_back(b.splat(
        RankedTensorType::get({missing * first.getNumElements()}, first.getElementType()), 0.0));
  return flat.size() == 1 ? flat.front() : b.concatenate(flat, 0);
}

Value WholeTensors::assemble(ArrayRef<Value> pieces) {
  if (group.count == 1)
    return b.create<AllGatherOp>(TypeRange(type), flatten(pieces.front()), group).getResult(0);
  if (isReplicated())
    return b.create<AllGatherOp>(TypeRange(type), pieces, group).getResult(0);
  Value all = flatten(b.create<AllToAllOp>(ValueRange(concatenate(pieces)),
                                           ArrayRef<int64_t>{piece.getNumElements()}, group));
  // The last pieces may have more elements than the tensor.
  if (typeOf(all).getNumElements() != type.getNumElements())
    all = b.slice(all, {0}, {type.getNumElements()}, {1});
  return b.reshape(all, type.getShape());
}

SmallVector<Value> WholeTensors::distribute(Value tensor) {
  if (isReplicated())
    return {b.create<OwnPieceOp>(TypeRange(piece), tensor, group).getResult(0)};
  const int64_t size = piece.getNumElements();
  Value all = b.create<AllToAllOp>(ValueRange(tensor), ArrayRef<int64_t>{size}, group);
  SmallVector<Value> pieces;
  for (size_t i = 0; i < count; ++i)
    pieces.push_back(
        b.reshape(b.slice(all, {static_cast<int64_t>(i), 0}, {1, size}, {1, 1}), {size}));
  return pieces;
}

Value WholeTensors::select(ArrayRef<Value> values) {
  if (isReplicated())
    return values.front();
  RankedTensorType each = typeOf(values.front());
  auto own = RankedTensorType::get({each.getNumElements()}, each.getElementType());
  Value all = concatenate(values);
  return b.reshape(b.create<OwnPieceOp>(TypeRange(own), all, group).getResult(0), each.getShape());
}

SmallVector<Value> WholeTensors::collect(Value value) {
  if (isReplicated())
    return {value};
  RankedTensorType each = typeOf(value);
  const int64_t size = each.getNumElements();
  auto rows = RankedTensorType::get({group.count, size}, each.getElementType());
  Value all = b.create<AllGatherOp>(TypeRange(rows), flatten(value), group).getResult(0);
  SmallVector<Value> values;
  for (size_t i = 0; i < count; ++i)
    values.push_back(
        b.reshape(b.slice(all, {static_cast<int64_t>(i), 0}, {1, size}, {1, 1}), each.getShape()));
  return values;
}
