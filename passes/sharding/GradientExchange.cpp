//===- GradientExchange.cpp - Sums of gradients over ranks ------------------------------------===//

#include "passes/sharding/GradientExchange.h"

#include "ir/ReservedNames.h"
#include "passes/sharding/Pieces.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mtc;

GradientExchange::GradientExchange(ModuleOp module, func::FuncOp microStep, int64_t bucketBytes)
    : microStep(microStep), symbols(module), group(ProgramOp::find(module).getDataGroup()),
      bucketBytes(bucketBytes) {
  for (auto variable : module.getOps<VariableOp>())
    if (variable.getSymName().starts_with(gradientSumPrefix))
      ++nextNumber;
}

std::vector<GradientBucket>
GradientExchange::makeBuckets(llvm::function_ref<bool(VariableOp)> includes, bool inUpdate) {
  llvm::MapVector<VariableOp, WriteOp> gradients; // in the order of their last writes
  for (auto write : microStep.front().getOps<WriteOp>()) {
    auto variable = symbols.lookup<VariableOp>(write.getVariable());
    if (variable.getRole() != Role::Gradient || !includes(variable))
      continue;
    gradients.erase(variable);
    gradients.insert({variable, write});
  }
  // Without a sum over ranks in it, the micro-step does not write gradients that are always zero.
  if (inUpdate)
    for (auto variable : symbols.getOp()->getRegion(0).getOps<VariableOp>())
      if (variable.getRole() == Role::Gradient && includes(variable))
        gradients.insert({variable, WriteOp()});
  std::vector<GradientBucket> buckets;
  for (auto [variable, write] : gradients) {
    RankedTensorType type = VariableOp(variable).getTensorType();
    if (buckets.empty() || buckets.back().element != type.getElementType() ||
        buckets.back().bytes + byteSize(type) > bucketBytes)
      buckets.push_back({{}, {}, type.getElementType(), 0, 0, {}, {}});
    GradientBucket &bucket = buckets.back();
    const int64_t piece = pieceTypeOf(type, group.count).getNumElements();
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
  for (auto [gradient, write] : llvm::zip_equal(bucket.gradients, bucket.writes))
    values.push_back(gradients == Gradients::Released
                         ? WriteOp(write).getValue()
                         : b.create<ReadOp>(gradient.type, WriteOp(write).getVariable()));
  AllToAllOp exchange = send(b, bucket, values);
  if (gradients == Gradients::Released)
    for (WriteOp write : bucket.writes)
      write.erase();
  return exchange;
}

AllToAllOp GradientExchange::send(TensorBuilder &b, const GradientBucket &bucket,
                                  ArrayRef<Value> values) const {
  auto pieces = llvm::map_to_vector(
      bucket.gradients, [](const GradientBucket::Gradient &gradient) { return gradient.piece; });
  return b.create<AllToAllOp>(values, pieces, group);
}

Value mtc::addRows(TensorBuilder &b, Value sum, Value rows, int64_t column) {
  RankedTensorType type =
      sum ? typeOf(sum)
          : RankedTensorType::get(shapeOf(rows).drop_front(), typeOf(rows).getElementType());
  if (shapeOf(rows).front() > 1)
    return b.create<AddRowsOp>(type, rows, sum, static_cast<uint64_t>(column), FloatAttr());
  Value row = b.slice(rows, {0, column}, {1, type.getNumElements()}, {1, 1});
  row = b.reshape(row, type.getShape());
  return sum ? b.add(sum, row) : row;
}

void GradientExchange::add(AllToAllOp exchange, VariableOp sums, Operation *before) {
  OpBuilder builder(before);
  TensorBuilder b(exchange.getLoc(), builder);
  Value old = b.create<ReadOp>(sums.getTensorType(), sums.getSymName());
  b.create<WriteOp>(sums.getSymName(), addRows(b, old, exchange.getRows()));
}

std::vector<GradientBucket> GradientExchange::run(llvm::function_ref<bool(VariableOp)> includes,
                                                  Gradients gradients) {
  std::vector<GradientBucket> buckets = makeBuckets(includes, /*inUpdate=*/false);
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

std::vector<GradientBucket>
GradientExchange::runInUpdate(TensorBuilder &b, llvm::function_ref<bool(VariableOp)> includes) {
  std::vector<GradientBucket> buckets = makeBuckets(includes, /*inUpdate=*/true);
  AllToAllOp sent;
  for (size_t i = 0; i <= buckets.size(); ++i) {
    AllToAllOp exchange;
    if (i < buckets.size()) {
      auto values = llvm::map_to_vector(
          buckets[i].gradients, [&](const GradientBucket::Gradient &gradient) -> Value {
            return b.create<ReadOp>(gradient.type, VariableOp(gradient.variable).getSymName());
          });
      exchange = send(b, buckets[i], values);
    }
    if (sent)
      buckets[i - 1].sumsInUpdate = addRows(b, {}, sent.getRows());
    sent = exchange;
  }
  return buckets;
}
