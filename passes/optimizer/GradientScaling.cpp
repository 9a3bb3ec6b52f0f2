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
Value GradientScaling::sumBlocks(TensorBuilder &b, Value gradient) const {
  const int64_t count = typeOf(gradient).getNumElements();
  Value flat = b.reshape(gradient, {count});
  auto sum = [&](Value elements) {
    Value blocks = scaled(
        b, b.reshape(elements, {typeOf(elements).getNumElements() / pieceBlock, pieceBlock}));
    return b.cast(b.sum(b.mul(blocks, blocks), {1}), b.getF64Type());
  };
  const int64_t inWhole = count / pieceBlock * pieceBlock;
  if (inWhole == count)
    return sum(flat);
  Value rest = b.slice(flat, {inWhole}, {count - inWhole}, {1});
  auto padded = b.create<OwnPieceOp>(
      TypeRange(RankedTensorType::get({pieceBlock}, typeOf(flat).getElementType())), rest,
      RankGroup());
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

/// Returns the parts of a gradient whose blocks are summed one after the other.
static SmallVector<Value> chunksOf(TensorBuilder &b, const UpdatedGradient &gradient) {
  Value value = gradient.view.readWide(b);
  const int64_t count = gradient.chunks ? gradient.chunks.getParts() /
                                              (gradient.split ? gradient.split.getParts() : 1)
                                        : 1;
  // A piece has the parts of other ranks of its data group, too.
  if (count == 1 || gradient.isDivided())
    return {value};
  RankedTensorType type = typeOf(value);
  auto own = AxisSplitAttr::get(b.getContext(), gradient.chunks.getAxis(),
                                gradient.chunks.getOuter(), count, /*stride=*/1);
  const int64_t run = own.getRunOf(type), elements = type.getNumElements() / count;
  Value rows = b.transpose(b.reshape(value, {elements / run, count, run}), {1, 0, 2});
  rows = b.reshape(rows, {count, elements});
  SmallVector<Value> chunks;
  for (int64_t i = 0; i < count; ++i)
    chunks.push_back(b.reshape(b.slice(rows, {i, 0}, {1, elements}, {1, 1}), {elements}));
  return chunks;
}

/// Returns the sum of squares of all gradients. The order is the same for every number of ranks of
/// a data group: blocks that no piece divides are summed by their owners, then every rank adds all
/// of them, and those of the other parts of its tensor group.
Value GradientScaling::sumSquaresOfRanks(TensorBuilder &b,
                                         ArrayRef<UpdatedGradient> gradients) const {
  auto blocks = llvm::map_to_vector(gradients, [&](const UpdatedGradient &gradient) {
    const auto sums = llvm::map_to_vector(chunksOf(b, gradient),
                                          [&](Value chunk) { return sumBlocks(b, chunk); });
    return sums.size() == 1 ? sums.front() : b.concatenate(sums, 0);
  });
  gatherSums(b, blocks,
             llvm::map_to_vector(gradients,
                                 [](const UpdatedGradient &gradient) {
                                   return static_cast<int64_t>(
                                       llvm::divideCeil(gradient.dividedElements, pieceBlock));
                                 }),
             ranks.getDataGroup());
  SmallVector<int64_t> ofParts;
  for (auto [gradient, sums] : llvm::zip_equal(gradients, blocks))
    ofParts.push_back(gradient.split ? gradient.split.getParts() * typeOf(sums).getNumElements()
                                     : 0);
  gatherSums(b, blocks, ofParts, ranks.getTensorGroup());
  Value total = b.splat(RankedTensorType::get({}, b.getF64Type()), 0.0);
  for (Value sums : blocks)
    total = b.add(total, sumOfElements(b, sums));
  return total;
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
