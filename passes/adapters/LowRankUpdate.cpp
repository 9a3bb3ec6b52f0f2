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
                                    step, b.getI64IntegerAttr(next++));
  return b.selectByMode(mtc::buildDropout(b, x, buildKeepMask(b, bits, ratio), ratio), x);
}

void LowRankUpdate::apply(const AdaptableUse &use, DropoutStreams &streams) {
  ContractOp contraction = use.contraction;
  OpBuilder builder(contraction->getContext());
  builder.setInsertionPointAfter(contraction);
  TensorBuilder b(contraction.getLoc(), builder);
  Type element = down.getTensorType().getElementType();
  bool isRhs = use.operand == 1, isForward = use.axis == axis;
  Value x = b.cast(isRhs ? contraction.getLhs() : contraction.getRhs(), element);
  x = streams.buildDropout(b, x, dropout);
  ArrayRef<int64_t> over = isRhs ? contraction.getLhsContract() : contraction.getRhsContract();
  int64_t inputAxis = isForward ? 1 : 0;
  Value inner = b.contract(x, read(b, isForward ? down : up), {}, {}, over, {inputAxis});
  if (scale != 1.0)
    inner = b.mul(inner, b.splat(inner, scale));
  int64_t last = typeOf(inner).getRank() - 1;
  Value outer = read(b, isForward ? up : down);
  Value change = isRhs ? b.contract(inner, outer, {}, {}, {last}, {inputAxis})
                       : b.contract(outer, inner, {}, {}, {inputAxis}, {last});
  change = b.cast(change, contraction.getType().getElementType());
  Value sum = b.add(contraction, change);
  contraction.getResult().replaceAllUsesExcept(sum, sum.getDefiningOp());
}
