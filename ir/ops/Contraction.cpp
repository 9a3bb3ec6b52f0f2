//===- Contraction.cpp - Contractions with and without epilogues ------------------------------===//

#include "ir/ops/Contraction.h"

#include "ir/TypeCode.h"
#include "ir/builders/Shape.h"
#include "ir/builders/TensorBuilder.h"
#include "ir/interfaces/TargetInfo.h"

using namespace mlir;
using namespace mtc;

std::optional<int64_t> mtc::mergedStride(ArrayRef<int64_t> axes, ArrayRef<int64_t> shape,
                                         ArrayRef<int64_t> strides) {
  std::optional<int64_t> inner, outerExpected;
  for (int64_t axis : llvm::reverse(axes)) {
    if (shape[axis] == 1)
      continue;
    if (outerExpected && strides[axis] != *outerExpected)
      return std::nullopt;
    if (!inner)
      inner = strides[axis];
    outerExpected = strides[axis] * shape[axis];
  }
  return inner.value_or(1);
}

static int64_t product(ArrayRef<int64_t> axes, ArrayRef<int64_t> shape) {
  int64_t result = 1;
  for (int64_t axis : axes)
    result *= shape[axis];
  return result;
}

SmallVector<int64_t> mtc::joined(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  SmallVector<int64_t> both = llvm::to_vector(a);
  llvm::append_range(both, b);
  return both;
}

SmallVector<int64_t> Contraction::getLhsFree() const {
  return otherAxes(lhs.getType().getRank(), joined(lhsBatch, lhsContract));
}

SmallVector<int64_t> Contraction::getRhsFree() const {
  return otherAxes(rhs.getType().getRank(), joined(rhsBatch, rhsContract));
}

LogicalResult Contraction::verify() const {
  RankedTensorType lhs = this->lhs.getType(), rhs = this->rhs.getType(), result = type;
  auto areAxes = [](SmallVector<int64_t> axes, int64_t rank) {
    llvm::sort(axes);
    return ascendWithin(axes, rank);
  };
  if (!areAxes(joined(lhsBatch, lhsContract), lhs.getRank()) ||
      !areAxes(joined(rhsBatch, rhsContract), rhs.getRank()) ||
      lhsBatch.size() != rhsBatch.size() || lhsContract.size() != rhsContract.size())
    return op->emitOpError() << "batch axes " << toText(lhsBatch) << " x " << toText(rhsBatch)
                             << " and contracted axes " << toText(lhsContract) << " x "
                             << toText(rhsContract) << " must be distinct, within ranks "
                             << lhs.getRank() << " and " << rhs.getRank()
                             << ", and equally many on both sides (contract_c1)";
  for (auto [a, b] : llvm::zip_equal(joined(lhsBatch, lhsContract), joined(rhsBatch, rhsContract)))
    if (lhs.getDimSize(a) != rhs.getDimSize(b))
      return op->emitOpError() << "axis " << a << " of lhs has extent " << lhs.getDimSize(a)
                               << ", axis " << b << " of rhs " << rhs.getDimSize(b)
                               << ": paired axes must be equal (contract_c2)";
  SmallVector<int64_t> expected = pick(lhs.getShape(), joined(lhsBatch, getLhsFree()));
  llvm::append_range(expected, pick(rhs.getShape(), getRhsFree()));
  if (result.getShape() != ArrayRef<int64_t>(expected))
    return op->emitOpError() << "result has extents " << toText(result.getShape()) << ", expected "
                             << toText(expected) << " (contract_c3)";
  if (lhs.getElementType() != rhs.getElementType() ||
      !holdsSumsOf(lhs.getElementType(), result.getElementType()))
    return op->emitOpError() << "elements are " << lhs.getElementType() << ", "
                             << rhs.getElementType() << " and " << result.getElementType()
                             << ", expected the same, or a result of f32 where operands are "
                                "narrower (contract_c3)";
  return success();
}

Cost Contraction::getCost() const {
  Cost cost = detail::defaultCost(op);
  cost.flops = 2 * type.getNumElements();
  for (int64_t extent : pick(lhs.getType().getShape(), lhsContract))
    cost.flops *= extent;
  cost.flops += type.getNumElements() * static_cast<int64_t>(addends.size());
  return cost;
}

//===------------------------------------------------------------------------------------------===//
// Library calls
//===------------------------------------------------------------------------------------------===//

bool Contraction::isLibraryCall() const {
  auto element = dyn_cast<FloatType>(type.getElementType());
  return element && element.getWidth() <= 32 && !lhsContract.empty();
}

/// Returns the strides of an addend over the axes of the call's result, which are the batch axes,
/// the collapsed axes of lhs and the collapsed axes of rhs; nullopt if axes cannot be collapsed.
static std::optional<SmallVector<int64_t>> addendStrides(const Contraction &c,
                                                         ArrayRef<int64_t> strides) {
  int64_t batch = c.lhsBatch.size(), rows = c.getLhsFree().size(), rank = c.type.getRank();
  ArrayRef<int64_t> shape = c.type.getShape();
  auto row = mergedStride(llvm::to_vector(llvm::seq(batch, batch + rows)), shape, strides);
  auto column = mergedStride(llvm::to_vector(llvm::seq(batch + rows, rank)), shape, strides);
  if (!row || !column)
    return std::nullopt;
  SmallVector<int64_t> result(strides.take_front(batch));
  result.append({*row, *column});
  return result;
}

bool Contraction::takesLayout(unsigned operand, ArrayRef<int64_t> strides) const {
  if (operand >= FusedContractOp::firstAddend)
    return addendStrides(*this, strides).has_value();
  ArrayRef<int64_t> shape = shapeOf(op->getOperand(operand));
  return mergedStride(operand == 0 ? getLhsFree() : getRhsFree(), shape, strides) &&
         mergedStride(operand == 0 ? lhsContract : rhsContract, shape, strides);
}

SmallVector<int64_t> Contraction::getDenseOrder(unsigned operand) const {
  if (operand >= FusedContractOp::firstAddend)
    return llvm::to_vector(llvm::seq(type.getRank()));
  if (operand == 0)
    return joined(joined(lhsBatch, getLhsFree()), lhsContract);
  return joined(joined(rhsBatch, getRhsFree()), rhsContract);
}

/// The last addend may be accumulated into in place if it has the layout of the result. Whether the
/// addend is accumulated in place depends on the memory plan. Calls add the previous contents of
/// the result after all addends, so another addend would change the order of the sum. The addend
/// must be used only once, since the call can replace only one of its uses.
bool Contraction::mayAccumulate(unsigned operand) const {
  Value value = op->getOperand(operand);
  return !addends.empty() && operand + 1 == FusedContractOp::firstAddend + addends.size() &&
         llvm::count(op->getOperands(), value) == 1 &&
         typeOf(value).getElementType() == type.getElementType() && hasLayoutOfResult(value);
}

bool Contraction::hasLayoutOfResult(Value addend) const {
  return stridesOf(addend) == rowMajorStrides(type.getShape());
}

SmallVector<Value> Contraction::appendAddend(Value value) const {
  SmallVector<Value> all(addends);
  auto *place = hasLayoutOfResult(value)
                    ? all.end()
                    : llvm::find_if(all, [&](Value addend) { return hasLayoutOfResult(addend); });
  all.insert(place, value);
  return all;
}

bool Contraction::mayAdd(Type addend) const {
  auto other = cast<RankedTensorType>(addend);
  return other.getShape() == type.getShape() &&
         holdsSumsOf(lhs.getType().getElementType(), other.getElementType());
}

MtcContraction Contraction::describe(std::optional<unsigned> accumulated) const {
  ArrayRef<int64_t> lhsShape = lhs.getType().getShape(), rhsShape = rhs.getType().getShape();
  SmallVector<int64_t> lhsStrides = stridesOf(lhs), rhsStrides = stridesOf(rhs);
  SmallVector<int64_t> lhsFree = getLhsFree(), rhsFree = getRhsFree();
  MtcContraction c = {};
  assert(lhsBatch.size() <= std::size(c.batch) && "a contraction has too many axes");
  Type element = lhs.getType().getElementType();
  mtc_set_contraction_types(&c, typeCode(element));
  c.out_type = typeCode(type.getElementType());
  c.product_type = typeCode(TargetInfo::of(op).getProductType(element));
  c.batch_rank = static_cast<uint32_t>(lhsBatch.size());
  llvm::copy(pick(lhsShape, lhsBatch), c.batch);
  c.m = product(lhsFree, lhsShape);
  c.n = product(rhsFree, rhsShape);
  c.k = product(lhsContract, lhsShape);
  auto fill = [](int64_t (&strides)[MTC_MAX_RANK], ArrayRef<int64_t> batch, int64_t rows,
                 int64_t columns) {
    int64_t *next = llvm::copy(batch, strides);
    *next++ = rows;
    *next = columns;
  };
  fill(c.lhs_strides, pick(lhsStrides, lhsBatch), *mergedStride(lhsFree, lhsShape, lhsStrides),
       *mergedStride(lhsContract, lhsShape, lhsStrides));
  fill(c.rhs_strides, pick(rhsStrides, rhsBatch), *mergedStride(rhsContract, rhsShape, rhsStrides),
       *mergedStride(rhsFree, rhsShape, rhsStrides));
  SmallVector<int64_t> out = pick(lhsShape, lhsBatch);
  out.append({c.m, c.n});
  llvm::copy(rowMajorStrides(out), c.out_strides);
  static_assert(FusedContractOp::maxAddends == MTC_MAX_ADDENDS);
  for (auto [i, addend] : llvm::enumerate(addends)) {
    if (accumulated == FusedContractOp::firstAddend + i) {
      c.accumulate = 1;
      continue;
    }
    c.addend_types[c.addend_count] = typeCode(typeOf(addend).getElementType());
    llvm::copy(*addendStrides(*this, stridesOf(addend)), c.addend_strides[c.addend_count++]);
  }
  return c;
}

//===------------------------------------------------------------------------------------------===//
// Epilogues
//===------------------------------------------------------------------------------------------===//

RankedTensorType Contraction::getSumsType(Summed summed) const {
  SmallVector<int64_t> extents = summed == Summed::Lhs
                                     ? pick(lhs.getType().getShape(), getLhsFree())
                                     : pick(rhs.getType().getShape(), getRhsFree());
  return RankedTensorType::get(extents, type.getElementType());
}

FusedContractOp Contraction::buildFused(OpBuilder &builder, const Epilogue &epilogue) const {
  auto attribute = [&](auto value, auto get) {
    return value ? get(builder.getContext(), *value) : decltype(get(nullptr, *value))();
  };
  auto fused = FusedContractOp::create(
      builder, op->getLoc(), type, epilogue.hasAuxiliary ? Type(type) : Type(),
      epilogue.summed ? Type(getSumsType(*epilogue.summed)) : Type(), lhs, rhs, epilogue.addends,
      epilogue.preactivation, lhsBatch, rhsBatch, lhsContract, rhsContract,
      attribute(epilogue.activation, ActivationAttr::get),
      attribute(epilogue.summed, SummedAttr::get));
  fused->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  return fused;
}

std::optional<Summed> Contraction::findSummed(Value value, ArrayRef<int64_t> kept) const {
  if (!lhsBatch.empty())
    return std::nullopt;
  if (value == lhs && kept == ArrayRef(getLhsFree()))
    return Summed::Lhs;
  if (value == rhs && kept == ArrayRef(getRhsFree()))
    return Summed::Rhs;
  int64_t rows = getLhsFree().size();
  if (value == op->getResult(0) && llvm::equal(kept, llvm::seq(rows, type.getRank())))
    return Summed::Result;
  return std::nullopt;
}
