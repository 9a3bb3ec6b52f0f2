//===- Shard.cpp - Exchange of gradients and losses between ranks -----------------------------===//

#include "ir/ReservedNames.h"
#include "ir/builders/TensorBuilder.h"
#include "passes/Passes.h"
#include "passes/sharding/GradientExchange.h"
#include "passes/sharding/Pieces.h"
#include "passes/sharding/RunningStatistics.h"
#include "passes/sharding/UpdateGathers.h"

namespace mtc {
#define GEN_PASS_DEF_SHARD
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

class ShardPass : public mtc::impl::ShardBase<ShardPass> {
public:
  using ShardBase::ShardBase;
  void runOnOperation() override;

private:
  void gather(const GradientBucket &bucket, Value sums, TensorBuilder &b);
  void gatherSums(func::FuncOp microStep, func::FuncOp update);
  void averageOverRanks(func::FuncOp function);
  void addInPlace(func::FuncOp microStep);
  void resetSums(func::FuncOp update);
  void exchangeScalars(func::FuncOp microStep);

  RankGroup group; ///< ranks with different samples
  std::optional<SymbolTable> symbols;
};

} // namespace

/// Gathers the sums of a bucket and writes them to the gradients.
void ShardPass::gather(const GradientBucket &bucket, Value sums, TensorBuilder &b) {
  SmallVector<Type> types;
  SmallVector<Value> pieces;
  for (const GradientBucket::Gradient &gradient : bucket.gradients) {
    types.push_back(gradient.type);
    pieces.push_back(b.create<TileOp>(pieceTypeOf(gradient.type, group.count), sums,
                                      static_cast<uint64_t>(gradient.offset)));
  }
  auto all = b.create<AllGatherOp>(types, pieces, group);
  for (auto [gradient, value] : llvm::zip_equal(bucket.gradients, all.getValues()))
    b.create<WriteOp>(VariableOp(gradient.variable).getSymName(), value);
}

/// Adds each gradient of a micro-step to the variable. The addition has the order of the exchange
/// among several ranks, so it is no part of a call, which might start its sum from the variable.
void ShardPass::addInPlace(func::FuncOp microStep) {
  // With ranks, a micro-step writes each gradient once.
  for (auto write : llvm::to_vector(microStep.front().getOps<WriteOp>())) {
    if (symbols->lookup<VariableOp>(write.getVariable()).getRole() != Role::Gradient)
      continue;
    TensorBuilder b(write->getLoc(), &getContext());
    b.setInsertionPoint(write);
    RankedTensorType type = typeOf(write.getValue());
    Value row = b.reshape(write.getValue(), {1, type.getNumElements()});
    Value old = b.create<ReadOp>(type, write.getVariable());
    write.getValueMutable().assign(
        b.create<AddRowsOp>(type, row, old, static_cast<uint64_t>(0), FloatAttr()));
  }
}

/// Gathers the sums of gradients that are not divided at the start of the update.
void ShardPass::gatherSums(func::FuncOp microStep, func::FuncOp update) {
  if (addsGradientsInPlace(ProgramOp::find(getOperation())))
    return addInPlace(microStep);
  GradientExchange exchange(getOperation(), microStep, bucketBytes);
  TensorBuilder b(update.getLoc(), &getContext());
  b.setInsertionPointToStart(&update.front());
  if (ProgramOp::find(getOperation()).reducesInUpdate()) {
    if (ProgramOp::find(getOperation()).getShard() != Shard::None)
      return; // The update exchanges divided gradients.
    for (const GradientBucket &bucket : exchange.runInUpdate(b, [](VariableOp) { return true; }))
      gather(bucket, bucket.sumsInUpdate, b);
    return;
  }
  auto isGradient = [](VariableOp variable) {
    return !variable.getSymName().starts_with(gradientSumPrefix);
  };
  for (const GradientBucket &bucket : exchange.run(isGradient, GradientExchange::Gradients::Kept)) {
    VariableOp sums = bucket.sums;
    b.setLoc(sums.getLoc());
    gather(bucket, b.create<ReadOp>(sums.getTensorType(), sums.getSymName()), b);
  }
}

/// Lowers averages over ranks to gathers and additions.
void ShardPass::averageOverRanks(func::FuncOp function) {
  for (auto op : llvm::to_vector(function.getOps<AverageOverRanksOp>())) {
    TensorBuilder b(op.getLoc(), &getContext());
    b.setInsertionPoint(op);
    RankedTensorType type = typeOf(op.getInput());
    auto rows = RankedTensorType::get({group.count, type.getNumElements()}, type.getElementType());
    Value own = b.reshape(op.getInput(), {type.getNumElements()});
    Value all = b.create<AllGatherOp>(TypeRange(rows), own, group).getResult(0);
    Value sum = b.reshape(addRows(b, {}, all), type.getShape());
    op.replaceAllUsesWith(b.div(sum, b.splat(sum, static_cast<double>(group.count))));
    op.erase();
  }
}

/// Resets the sums of gradients at the end of the update.
void ShardPass::resetSums(func::FuncOp update) {
  TensorBuilder b(update.getLoc(), &getContext());
  b.setInsertionPoint(update.front().getTerminator());
  for (auto variable : getOperation().getOps<VariableOp>())
    if (variable.getSymName().starts_with(gradientSumPrefix))
      b.create<WriteOp>(variable.getSymName(), b.splat(variable.getTensorType(), 0.0));
}

/// Adds the parts of the loss and the counts of targets of all ranks to their sums, on every rank,
/// at the end of a micro-step. An earlier transfer, between the forward and the backward pass,
/// would separate the kernels of the loss, so that the logits could not be tiled.
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
  b.setInsertionPoint(microStep.front().getTerminator());
  SmallVector<Value> parts;
  for (const Scalar &scalar : scalars)
    parts.push_back(b.reshape(scalar.part, {1}));
  Value own = parts.size() == 1 ? parts.front() : b.concatenate(parts, 0);
  const auto count = static_cast<int64_t>(parts.size());
  auto rows = RankedTensorType::get({group.count, count}, typeOf(own).getElementType());
  Value all = b.create<AllGatherOp>(TypeRange(rows), own, group).getResult(0);
  for (auto [i, scalar] : llvm::enumerate(scalars)) {
    StringRef name = WriteOp(scalar.write).getVariable();
    Value sum = b.create<ReadOp>(RankedTensorType::get({}, b.getF64Type()), name);
    b.create<WriteOp>(name, addRows(b, sum, all, static_cast<int64_t>(i)));
    scalar.write.erase();
  }
}

void ShardPass::runOnOperation() {
  ProgramOp program = ProgramOp::find(getOperation());
  if (!program || !program.getRanks() || program.getMicroSteps() == 1)
    return;
  group = program.getDataGroup();
  symbols.emplace(getOperation());
  auto update = symbols->lookup<func::FuncOp>(updateName);
  const SmallVector<func::FuncOp> microSteps = findMicroSteps(getOperation());
  if (microSteps.empty() || !update) {
    emitError(getOperation().getLoc(),
              "the module has no functions @micro_step and @update; run mtc-optimizer first");
    return signalPassFailure();
  }
  for (func::FuncOp microStep : microSteps) {
    if (failed(exchangeRunningStatistics(microStep, group)))
      return signalPassFailure();
    averageOverRanks(microStep);
    exchangeScalars(microStep);
    gatherSums(microStep, update);
  }
  resetSums(update);
  joinUpdateGathers(update, bucketBytes);
}
