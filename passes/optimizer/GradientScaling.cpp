//===- GradientScaling.cpp - Unscaling and clipping of gradients ------------------------------===//

#include "passes/optimizer/GradientScaling.h"

#include "ir/ReservedNames.h"
#include "passes/optimizer/Optimizer.h"
#include "passes/sharding/Pieces.h"

using namespace mlir;
using namespace mtc;

/// Computes the loss scale times the fraction of targets that counted, or their weight, if not all
/// have weight 1. Without any counted target, all gradients are 0 and stay 0.
void GradientScaling::findScale(TensorBuilder &b) {
  if (lossScale) {
    scale = lossScale->getScale();
    inverse = lossScale->getInverse();
  }
  if (!accumulation || accumulation.getTargets() == 0)
    return;
  Value count = b.create<ReadOp>(RankedTensorType::get({}, b.getF64Type()), targetCountName);
  Value isPositive = b.compare(Predicate::Gt, count, b.splat(count, 0.0));
  count = b.select(isPositive, count, b.splat(count, 1.0));
  Value all = b.splat(count, static_cast<double>(accumulation.getTargets()));
  Value part = b.div(count, all), inversePart = b.div(all, count);
  scale = scale ? b.mul(scale, part) : part;
  inverse = inverse ? b.mul(inverse, inversePart) : inversePart;
}

/// Clips each element to the range of --clip-value, multiplied by the scale that gradients still
/// have.
Value GradientScaling::limit(TensorBuilder &b, Value gradient) const {
  if (!limits.value)
    return gradient;
  const Number &most = *limits.value;
  auto spread = [&](double sign) {
    if (!scale && !most.setting)
      return b.splat(gradient, sign * most.constant);
    if (!most.setting)
      return broadcastLike(b, b.mul(scale, b.splat(scale, sign * most.constant)), gradient);
    Value bound = b.mul(most.setting, b.splat(most.setting, sign));
    return broadcastLike(b, scale ? b.mul(scale, bound) : bound, gradient);
  };
  return b.max(b.min(gradient, spread(1.0)), spread(-1.0));
}

/// Returns a gradient as its norm is computed.
Value GradientScaling::scaled(TensorBuilder &b, Value given) const {
  Value gradient = limit(b, given);
  // Unscale before squaring, so that the squares have the same range as without loss scaling.
  if (inverse)
    gradient = b.mul(gradient, broadcastLike(b, inverse, gradient));
  return gradient;
}

/// Returns the sums of the squares of successive blocks of elements, f64. The order of summation
/// within a block must not depend on the size of the gradient, so missing elements of the last
/// block are zeros in memory, as in a piece. Kernels that also scale the elements have the same
/// iterations for whole gradients and pieces.
Value GradientScaling::sumBlocks(TensorBuilder &b, Value gradient, int64_t block) const {
  const int64_t count = typeOf(gradient).getNumElements();
  Value flat = b.reshape(gradient, {count});
  auto sum = [&](Value elements) {
    Value blocks =
        scaled(b, b.reshape(elements, {typeOf(elements).getNumElements() / block, block}));
    return b.cast(b.sum(b.mul(blocks, blocks), {1}), b.getF64Type());
  };
  const int64_t inWhole = count / block * block;
  if (inWhole == count)
    return sum(flat);
  Value rest = b.slice(flat, {inWhole}, {count - inWhole}, {1});
  auto padded = b.create<OwnPieceOp>(
      TypeRange(RankedTensorType::get({block}, typeOf(flat).getElementType())), rest, RankGroup());
  Value last = sum(padded->getResult(0));
  return inWhole ? b.concatenate({sum(b.slice(flat, {0}, {inWhole}, {1})), last}, 0) : last;
}

/// Replaces values of this rank by those of all ranks of a group, one after the other. `sizes` are
/// the numbers of elements of all of them; values with the size 0 stay.
static void gatherSums(TensorBuilder &b, MutableArrayRef<Value> values, ArrayRef<int64_t> sizes,
                       RankGroup group) {
  SmallVector<Type> types;
  SmallVector<Value> pieces;
  for (auto [value, size] : llvm::zip_equal(values, sizes))
    if (size) {
      types.push_back(RankedTensorType::get({size}, typeOf(value).getElementType()));
      pieces.push_back(value);
    }
  if (pieces.empty())
    return;
  auto all = b.create<AllGatherOp>(types, pieces, group);
  size_t next = 0;
  for (auto [value, size] : llvm::zip_equal(values, sizes))
    if (size)
      value = all->getResult(next++);
}

/// Returns the sums of a gradient's blocks, in the order of the elements of this rank's part, in
/// that of chunks: those of the first chunk, then those of the second.
static Value inOrderOfChunks(TensorBuilder &b, Value sums, const UpdatedGradient &gradient,
                             int64_t block) {
  AxisSplitAttr chunks = gradient.chunks;
  if (!chunks)
    return sums;
  const int64_t own = chunks.getParts() / (gradient.split ? gradient.split.getParts() : 1),
                count = typeOf(sums).getNumElements(),
                run = chunks.getRunOf(gradient.whole) / block;
  Value rows = b.transpose(b.reshape(sums, {count / (own * run), own, run}), {1, 0, 2});
  return b.reshape(rows, {count});
}

/// Returns the sum of squares of all gradients. The order is the same for every number of ranks:
/// blocks that no piece and no chunk divides are summed by their owners, then every rank adds all
/// of them, chunk by chunk, including those of the other parts of its tensor group.
Value GradientScaling::sumSquaresOfRanks(TensorBuilder &b,
                                         ArrayRef<UpdatedGradient> gradients) const {
  SmallVector<Value> blocks;
  SmallVector<int64_t> lengths, ofPieces, ofParts;
  for (const UpdatedGradient &gradient : gradients) {
    lengths.push_back(blockWithin(gradient.chunks, gradient.whole, pieceBlock));
    blocks.push_back(sumBlocks(b, gradient.view.readWide(b), lengths.back()));
    ofPieces.push_back(llvm::divideCeil(gradient.dividedElements, lengths.back()));
  }
  gatherSums(b, blocks, ofPieces, ranks.getDataGroup());
  for (auto [gradient, sums, length] : llvm::zip_equal(gradients, blocks, lengths)) {
    sums = inOrderOfChunks(b, sums, gradient, length);
    const int64_t parts = gradient.split ? gradient.split.getParts() : 1;
    // With one part, a gather separates the sum of all blocks from their order in memory.
    const bool isOrdered = gradient.chunks || gradient.split;
    ofParts.push_back(isOrdered ? parts * typeOf(sums).getNumElements() : 0);
  }
  gatherSums(b, blocks, ofParts, ranks.getTensorGroup());
  for (Value &sums : blocks)
    sums = sumOfElements(b, sums);
  if (stagesOfGradients)
    blocks = gatherStages(b, blocks);
  Value total = b.splat(RankedTensorType::get({}, b.getF64Type()), 0.0);
  for (Value sum : blocks)
    total = b.add(total, sum);
  return total;
}

/// Returns the sums of squares of all gradients of the program, in their order, from those of the
/// gradients of this pipeline stage.
SmallVector<Value> GradientScaling::gatherStages(TensorBuilder &b, ArrayRef<Value> own) const {
  const RankGroup group = ranks.getStageGroup();
  ArrayRef<int64_t> owners = stagesOfGradients.asArrayRef();
  int64_t most = 0;
  for (int64_t stage = 0; stage < group.count; ++stage)
    most = std::max<int64_t>(most, llvm::count(owners, stage));
  SmallVector<Value> row;
  for (Value sum : own)
    row.push_back(b.reshape(sum, {1}));
  if (const int64_t missing = most - static_cast<int64_t>(own.size()); missing || row.empty())
    row.push_back(b.splat(RankedTensorType::get({missing}, b.getF64Type()), 0.0));
  auto rows = RankedTensorType::get({group.count, most}, b.getF64Type());
  Value all = b.create<AllGatherOp>(TypeRange(rows),
                                    row.size() == 1 ? row.front() : b.concatenate(row, 0), group)
                  ->getResult(0);
  SmallVector<int64_t> next(static_cast<size_t>(group.count), 0);
  return llvm::map_to_vector(owners, [&](int64_t stage) {
    const int64_t column = next[static_cast<size_t>(stage)]++;
    return b.reshape(b.slice(all, {stage, column}, {1, 1}, {1, 1}), {});
  });
}

Value GradientScaling::buildNorm(TensorBuilder &b, ArrayRef<UpdatedGradient> gradients) const {
  if (ranks)
    return b.sqrt(sumSquaresOfRanks(b, gradients));
  Value total = b.splat(RankedTensorType::get({}, b.getF64Type()), 0.0);
  for (const UpdatedGradient &gradient : gradients)
    total = b.add(total, sumOfSquares(b, scaled(b, gradient.view.readWide(b))));
  return b.sqrt(total);
}

/// Returns the factor that limits the norm of the gradients: min(1, limit / (norm + 1e-6)).
static Value buildClipping(TensorBuilder &b, Value norm, const Number &limit) {
  Value most = limit.setting ? limit.setting : b.splat(norm, limit.constant);
  return b.min(b.splat(norm, 1.0), b.div(most, b.add(norm, b.splat(norm, 1e-6))));
}

void GradientScaling::build(TensorBuilder &b, ArrayRef<UpdatedGradient> gradients) {
  findScale(b);
  if (limits.norm || reportsNorm)
    norm = buildNorm(b, gradients);
  factor = inverse;
  if (limits.norm) {
    Value clipping = buildClipping(b, norm, *limits.norm);
    factor = factor ? b.mul(clipping, factor) : clipping;
  }
}

Value GradientScaling::apply(TensorBuilder &b, Value gradient) const {
  Value limited = limit(b, gradient);
  return factor ? b.mul(limited, broadcastLike(b, factor, limited)) : limited;
}
