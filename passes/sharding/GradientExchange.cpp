//===- GradientExchange.cpp - Sums of gradients over ranks ------------------------------------===//

#include "passes/sharding/GradientExchange.h"

#include "ir/ReservedNames.h"
#include "ir/builders/TensorBuilder.h"
#include "passes/sharding/Pieces.h"

using namespace mlir;
using namespace mtc;

GradientExchange::GradientExchange(ModuleOp module, func::FuncOp microStep, int64_t bucketBytes)
    : microStep(microStep), symbols(module), ranks(ProgramOp::find(module).getRankCount()),
      bucketBytes(bucketBytes) {
  for (auto variable : module.getOps<VariableOp>())
    if (variable.getSymName().starts_with(gradientSumPrefix))
      ++nextNumber;
}

std::vector<GradientBucket>
GradientExchange::makeBuckets(llvm::function_ref<bool(VariableOp)> includes) {
  std::vector<GradientBucket> buckets;
  for (auto write : microStep.front().getOps<WriteOp>()) {
    auto variable = symbols.lookup<VariableOp>(write.getVariable());
    if (variable.getRole() != Role::Gradient || !includes(variable))
      continue;
    RankedTensorType type = typeOf(write.getValue());
    if (buckets.empty() || buckets.back().element != type.getElementType() ||
        buckets.back().bytes + byteSize(type) > bucketBytes)
      buckets.push_back({{}, {}, type.getElementType(), 0, 0, {}});
    GradientBucket &bucket = buckets.back();
    const int64_t piece = pieceTypeOf(type, ranks).getNumElements();
    bucket.gradients.push_back({variable, type, piece, bucket.pieces});
    bucket.writes.push_back(write);
    bucket.bytes += byteSize(type);
    bucket.pieces += piece;
  }
  return buckets;
}

VariableOp GradientExchange::addSums(const GradientBucket &bucket) {
  auto module = microStep->getParentOfType<ModuleOp>();
  OpBuilder builder(microStep.getContext());
  auto sums = VariableOp::create(builder, bucket.writes.back()->getLoc(), Role::Gradient,
                                 gradientSumPrefix + Twine(nextNumber++),
                                 RankedTensorType::get({bucket.pieces}, bucket.element),
                                 ZerosAttr::get(builder.getContext()));
  symbols.insert(sums, (*module.getOps<func::FuncOp>().begin())->getIterator());
  return sums;
}

/// Sends the gradients of a bucket once the last of them is known.
AllToAllOp GradientExchange::send(const GradientBucket &bucket, Gradients gradients) {
  WriteOp last = bucket.writes.back();
  OpBuilder builder(last->getContext());
  builder.setInsertionPointAfter(last);
  TensorBuilder b(last.getLoc(), builder);
  SmallVector<Value> values;
  SmallVector<int64_t> pieces;
  for (auto [gradient, write] : llvm::zip_equal(bucket.gradients, bucket.writes)) {
    Value value = WriteOp(write).getValue();
    values.push_back(gradients == Gradients::Released
                         ? value
                         : b.create<ReadOp>(gradient.type, WriteOp(write).getVariable()));
    pieces.push_back(gradient.piece);
  }
  auto rows = RankedTensorType::get({ranks, bucket.pieces}, bucket.element);
  auto exchange = AllToAllOp::create(builder, last.getLoc(), rows, values, pieces);
  if (gradients == Gradients::Released)
    for (WriteOp write : bucket.writes)
      write.erase();
  return exchange;
}

Value mtc::addRows(TensorBuilder &b, Value sum, Value rows) {
  for (int64_t rank = 0; rank < shapeOf(rows).front(); ++rank) {
    SmallVector<int64_t> offsets(shapeOf(rows).size(), 0), sizes(shapeOf(rows)),
        strides(offsets.size(), 1);
    offsets.front() = rank;
    sizes.front() = 1;
    Value row = b.reshape(b.slice(rows, offsets, sizes, strides), shapeOf(sum));
    sum = b.add(sum, row);
  }
  return sum;
}

void GradientExchange::add(AllToAllOp exchange, VariableOp sums, Operation *before) {
  OpBuilder builder(before);
  TensorBuilder b(exchange.getLoc(), builder);
  Value old = b.create<ReadOp>(sums.getTensorType(), sums.getSymName());
  b.create<WriteOp>(sums.getSymName(), addRows(b, old, exchange.getRows()));
}

std::vector<GradientBucket> GradientExchange::run(llvm::function_ref<bool(VariableOp)> includes,
                                                  Gradients gradients) {
  std::vector<GradientBucket> buckets = makeBuckets(includes);
  AllToAllOp sent;
  VariableOp sumsOfSent;
  for (GradientBucket &bucket : buckets) {
    bucket.sums = addSums(bucket);
    AllToAllOp exchange = send(bucket, gradients);
    if (sent)
      add(sent, sumsOfSent, exchange->getNextNode());
    sent = exchange;
    sumsOfSent = bucket.sums;
  }
  if (sent)
    add(sent, sumsOfSent, microStep.front().getTerminator());
  return buckets;
}
