//===- LowRankUpdate.cpp - Low-rank updates of contractions -----------------------------------===//

#include "passes/adapters/LowRankUpdate.h"

#include "ir/builders/Dropout.h"

using namespace mlir;
using namespace mtc;

static Value read(TensorBuilder &b, VariableOp variable) {
  return ReadOp::create(b, variable.getTensorType(),
                        FlatSymbolRefAttr::get(variable.getSymNameAttr()));
}

DropoutStreams::DropoutStreams(ModuleOp module) : module(module) {
  module.walk([&](RandomBitsOp bits) {
    next = std::max(next, static_cast<int64_t>(bits.getStream()) + 1);
  });
}

Value DropoutStreams::buildDropout(TensorBuilder &b, Value x, double ratio) {
  if (ratio == 0)
    return x;
  SymbolTable symbols(module);
  auto readScalar = [&](RuntimeScalar scalar) {
    Block::iterator end = module.getBody()->begin();
    for (auto variable : module.getOps<VariableOp>())
      end = std::next(variable->getIterator());
    return read(b, VariableOp::findOrAddScalar(symbols, scalar, end));
  };
  Value seed = readScalar(RuntimeScalar::Seed), step = readScalar(RuntimeScalar::Step);
  Value bits = RandomBitsOp::create(b, RankedTensorType::get(shapeOf(x), b.getI32Type()), seed,
                                    step, static_cast<uint64_t>(next++));
  return b.selectByMode(mtc::buildDropout(b, x, buildKeepMask(b, bits, ratio), ratio), x);
}

/// Returns m / n. The squares of the norms n of w + s B A are computed without a matrix of the size
/// of w: sum(w²) + sum((2 s w Aᵀ + s² B A Aᵀ) * B).
Value LowRankUpdate::buildRatio(TensorBuilder &b) {
  Value a = read(b, down), second = read(b, up);
  Value w = b.cast(read(b, base), typeOf(a).getElementType());
  Value projected = b.contract(w, a, {}, {}, {axis}, {1});
  Value own = b.contract(second, b.contract(a, a, {}, {}, {1}, {1}), {}, {}, {1}, {0});
  Value slope = b.add(b.mul(projected, b.splat(projected, 2 * scale)),
                      b.mul(own, b.splat(own, scale * scale)));
  Value squares = b.add(b.sum(b.mul(w, w), {axis}), b.sum(b.mul(slope, second), {1}));
  return b.div(read(b, magnitude), b.detach(b.sqrt(squares)));
}

/// Returns the replacement of the contraction, and the `user` that computes it from the original.
Value LowRankUpdate::apply(const AdaptableUse &use, TensorBuilder &b, DropoutStreams &streams,
                           Value ratio, Operation *&user) {
  ContractOp contraction = use.contraction;
  Type element = down.getTensorType().getElementType(),
       resultElement = contraction.getType().getElementType();
  bool isRhs = use.operand == 1, isForward = use.axis == axis;
  Value input = isRhs ? contraction.getLhs() : contraction.getRhs();
  Value x = streams.buildDropout(b, b.cast(input, element), dropout);
  ArrayRef<int64_t> over = isRhs ? contraction.getLhsContract() : contraction.getRhsContract();
  int64_t inputAxis = isForward ? 1 : 0;
  Value inner = b.contract(x, read(b, isForward ? down : up), {}, {}, over, {inputAxis});
  if (scale != 1.0)
    inner = b.mul(inner, b.splat(inner, scale));
  int64_t last = typeOf(inner).getRank() - 1;
  Value outer = read(b, isForward ? up : down);
  Value change = isRhs ? b.contract(inner, outer, {}, {}, {last}, {inputAxis})
                       : b.contract(outer, inner, {}, {}, {inputAxis}, {last});
  change = b.cast(change, resultElement);
  auto addToOriginal = [&](Value value) {
    Value sum = b.add(contraction, value);
    user = sum.getDefiningOp();
    return sum;
  };
  if (!ratio)
    return addToOriginal(change);
  ArrayRef<int64_t> shape = contraction.getType().getShape();
  SmallVector<int64_t> otherAxes =
      llvm::to_vector(llvm::seq<int64_t>(isRhs ? 0 : 1, shape.size() - (isRhs ? 1 : 0)));
  Value factor = b.broadcast(b.cast(ratio, resultElement), otherAxes, shape);
  if (dropout == 0)
    return b.mul(factor, addToOriginal(change));
  IRMapping dropped;
  dropped.map(input, b.cast(x, typeOf(input).getElementType()));
  Value again = b.clone(*contraction, dropped)->getResult(0);
  return addToOriginal(
      b.add(b.mul(b.sub(factor, b.splat(factor, 1.0)), again), b.mul(factor, change)));
}

void LowRankUpdate::apply(ArrayRef<AdaptableUse> uses, DropoutStreams &streams) {
  OpBuilder builder(base.getContext());
  Value ratio;
  if (magnitude) {
    builder.setInsertionPoint(uses.front().contraction);
    TensorBuilder b(base.getLoc(), builder);
    ratio = buildRatio(b);
  }
  for (const AdaptableUse &use : uses) {
    ContractOp contraction = use.contraction;
    builder.setInsertionPointAfter(contraction);
    TensorBuilder b(contraction.getLoc(), builder);
    Operation *user = nullptr;
    Value replacement = apply(use, b, streams, ratio, user);
    contraction.getResult().replaceAllUsesExcept(replacement, user);
  }
}
