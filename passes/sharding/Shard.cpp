//===- Shard.cpp - Exchange of gradients and losses between ranks -----------------------------===//

#include "ir/ReservedNames.h"
#include "ir/builders/TensorBuilder.h"
#include "passes/Passes.h"

#include "llvm/Support/MathExtras.h"

namespace mtc {
#define GEN_PASS_DEF_SHARD
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

/// Gradients that travel together, in the order in which the micro-step computes them.
struct Bucket {
  SmallVector<WriteOp> writes;
  Type element;
  int64_t elements = 0;

  int64_t getBytes() const { return elements * elementBytes(element); }
  /// Returns the gradient that is known last.
  WriteOp getLast() const { return writes.back(); }
};

class ShardPass : public mtc::impl::ShardBase<ShardPass> {
public:
  using ShardBase::ShardBase;
  void runOnOperation() override;

private:
  LogicalResult checkState(func::FuncOp microStep);
  std::vector<Bucket> makeBuckets(func::FuncOp microStep);
  VariableOp addSum(const Bucket &bucket, unsigned number);
  Operation *send(const Bucket &bucket, RankedTensorType piece);
  void add(Operation *exchange, VariableOp sum, Operation *before);
  void gather(const Bucket &bucket, VariableOp sum, func::FuncOp update, Operation *before);
  void exchangeScalars(func::FuncOp microStep);

  int64_t ranks = 1;
  std::optional<SymbolTable> symbols;
};

} // namespace

/// Rejects state that micro-steps update, which each rank would update from its own samples only.
LogicalResult ShardPass::checkState(func::FuncOp microStep) {
  if (ranks == 1)
    return success();
  for (auto write : microStep.front().getOps<WriteOp>())
    if (auto variable = symbols->lookup<VariableOp>(write.getVariable());
        variable.getRole() == Role::State)
      return emitError(write.getLoc(), "--ranks ")
             << ranks << ": training updates '" << variable.getSymName()
             << "', a running statistic, from the samples of one rank; use --batch-norm frozen";
  return success();
}

std::vector<Bucket> ShardPass::makeBuckets(func::FuncOp microStep) {
  std::vector<Bucket> buckets;
  for (auto write : microStep.front().getOps<WriteOp>()) {
    if (symbols->lookup<VariableOp>(write.getVariable()).getRole() != Role::Gradient)
      continue;
    RankedTensorType type = typeOf(write.getValue());
    if (buckets.empty() || buckets.back().element != type.getElementType() ||
        buckets.back().getBytes() + byteSize(type) > bucketBytes)
      buckets.push_back({{}, type.getElementType(), 0});
    buckets.back().writes.push_back(write);
    buckets.back().elements += type.getNumElements();
  }
  return buckets;
}

/// Adds the variable for the piece of this rank. Pieces are multiples of the arena's alignment, so
/// that each received row is aligned.
VariableOp ShardPass::addSum(const Bucket &bucket, unsigned number) {
  const int64_t alignment = paddedBytes(1) / elementBytes(bucket.element);
  const auto piece =
      static_cast<int64_t>(llvm::alignTo(llvm::divideCeil(bucket.elements, ranks), alignment));
  OpBuilder builder(&getContext());
  auto sum = VariableOp::create(
      builder, bucket.getLast().getLoc(), Role::Gradient, gradientSumPrefix + Twine(number),
      RankedTensorType::get({piece}, bucket.element), ZerosAttr::get(&getContext()));
  symbols->insert(sum, (*getOperation().getOps<func::FuncOp>().begin())->getIterator());
  return sum;
}

static void setAfter(TensorBuilder &b, Operation *op) {
  b.setInsertionPointAfter(op);
  b.setLoc(op->getLoc());
}

/// Sends the gradients of a bucket once the last of them is written.
Operation *ShardPass::send(const Bucket &bucket, RankedTensorType piece) {
  WriteOp last = bucket.getLast();
  TensorBuilder b(last.getLoc(), &getContext());
  setAfter(b, last);
  SmallVector<Value> values;
  for (WriteOp write : bucket.writes)
    values.push_back(b.create<ReadOp>(write.getValue().getType(), write.getVariable()));
  auto rows = RankedTensorType::get({ranks, piece.getNumElements()}, bucket.element);
  return b.create<AllToAllOp>(rows, values);
}

/// Adds the rows of a received value to a sum, one after the other.
static Value addRows(TensorBuilder &b, Value sum, Value rows) {
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

void ShardPass::add(Operation *exchange, VariableOp sum, Operation *before) {
  TensorBuilder b(exchange->getLoc(), &getContext());
  b.setInsertionPoint(before);
  Value old = b.create<ReadOp>(sum.getTensorType(), sum.getSymName());
  b.create<WriteOp>(sum.getSymName(), addRows(b, old, exchange->getResult(0)));
}

/// Gathers the sums of a bucket at the start of the update, and resets them at its end.
void ShardPass::gather(const Bucket &bucket, VariableOp sum, func::FuncOp update,
                       Operation *before) {
  TensorBuilder b(bucket.getLast().getLoc(), &getContext());
  b.setInsertionPoint(before);
  SmallVector<Type> types;
  for (WriteOp write : bucket.writes)
    types.push_back(write.getValue().getType());
  Value piece = b.create<ReadOp>(sum.getTensorType(), sum.getSymName());
  auto all = b.create<AllGatherOp>(types, piece, static_cast<uint64_t>(ranks));
  for (auto [write, value] : llvm::zip_equal(bucket.writes, all.getResults()))
    b.create<WriteOp>(WriteOp(write).getVariable(), value);
  b.setInsertionPoint(update.front().getTerminator());
  b.create<WriteOp>(sum.getSymName(), b.splat(sum.getTensorType(), 0.0));
}

/// Adds the parts of the loss and the counts of targets of all ranks to their sums, on every rank.
void ShardPass::exchangeScalars(func::FuncOp microStep) {
  struct Scalar {
    WriteOp write;
    Value part;
  };
  SmallVector<Scalar> scalars;
  for (StringRef name : {lossSumName, targetCountName})
    for (auto write : microStep.front().getOps<WriteOp>()) {
      auto sum = write.getValue().getDefiningOp<AddOp>();
      if (write.getVariable() == name && sum)
        scalars.push_back(
            {write, sum.getLhs().getDefiningOp<ReadOp>() ? sum.getRhs() : sum.getLhs()});
    }
  if (scalars.empty())
    return;
  TensorBuilder b(scalars.back().write.getLoc(), &getContext());
  Operation *last = scalars.front().write;
  for (const Scalar &scalar : scalars)
    if (last->isBeforeInBlock(scalar.write))
      last = scalar.write;
  setAfter(b, last);
  SmallVector<Value> parts;
  for (const Scalar &scalar : scalars)
    parts.push_back(b.reshape(scalar.part, {1}));
  Value own = parts.size() == 1 ? parts.front() : b.concatenate(parts, 0);
  const auto count = static_cast<int64_t>(parts.size());
  auto rows = RankedTensorType::get({ranks, count}, typeOf(own).getElementType());
  Value all =
      b.create<AllGatherOp>(TypeRange(rows), own, static_cast<uint64_t>(ranks)).getResult(0);
  b.setInsertionPoint(microStep.front().getTerminator());
  for (auto [i, scalar] : llvm::enumerate(scalars)) {
    StringRef name = WriteOp(scalar.write).getVariable();
    Value column = b.slice(all, {0, static_cast<int64_t>(i)}, {ranks, 1}, {1, 1});
    Value sum = b.create<ReadOp>(RankedTensorType::get({}, b.getF64Type()), name);
    b.create<WriteOp>(name, addRows(b, sum, column));
    scalar.write.erase();
  }
}

void ShardPass::runOnOperation() {
  ProgramOp program = ProgramOp::find(getOperation());
  if (!program || !program.getRanks() || program.getMicroSteps() == 1)
    return;
  ranks = program.getRankCount();
  symbols.emplace(getOperation());
  auto microStep = symbols->lookup<func::FuncOp>(microStepName);
  auto update = symbols->lookup<func::FuncOp>(updateName);
  if (!microStep || !update) {
    emitError(getOperation().getLoc(),
              "the module has no functions @micro_step and @update; run mtc-optimizer first");
    return signalPassFailure();
  }
  if (failed(checkState(microStep)))
    return signalPassFailure();
  exchangeScalars(microStep);
  Operation *start = &update.front().front(), *sent = nullptr;
  VariableOp sumOfSent;
  for (auto [number, bucket] : llvm::enumerate(makeBuckets(microStep))) {
    VariableOp sum = addSum(bucket, number);
    gather(bucket, sum, update, start);
    Operation *exchange = send(bucket, sum.getTensorType());
    if (sent)
      add(sent, sumOfSent, exchange->getNextNode());
    sent = exchange;
    sumOfSent = sum;
  }
  if (sent)
    add(sent, sumOfSent, microStep.front().getTerminator());
}
