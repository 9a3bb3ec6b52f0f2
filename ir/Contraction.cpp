//===- Contraction.cpp - A contraction as its operations and libraries see it -----------------===//

#include "ir/Contraction.h"

#include "ir/Shape.h"
#include "ir/TensorBuilder.h"

using namespace mlir;
using namespace mtc;

/// The stride of axes seen as one, in the order given; nothing if they cannot be. Axes of extent 1
/// have no say.
static std::optional<int64_t> mergedStride(ArrayRef<int64_t> axes, ArrayRef<int64_t> shape,
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

static SmallVector<int64_t> join(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  SmallVector<int64_t> joined = llvm::to_vector(a);
  llvm::append_range(joined, b);
  return joined;
}

SmallVector<int64_t> Contraction::getLhsFree() const {
  return otherAxes(lhs.getType().getRank(), join(lhsBatch, lhsContract));
}

SmallVector<int64_t> Contraction::getRhsFree() const {
  return otherAxes(rhs.getType().getRank(), join(rhsBatch, rhsContract));
}

LogicalResult Contraction::verify() const {
  RankedTensorType lhs = this->lhs.getType(), rhs = this->rhs.getType(), result = type;
  auto areAxes = [](SmallVector<int64_t> axes, int64_t rank) {
    llvm::sort(axes);
    return ascendWithin(axes, rank);
  };
  if (!areAxes(join(lhsBatch, lhsContract), lhs.getRank()) ||
      !areAxes(join(rhsBatch, rhsContract), rhs.getRank()) || lhsBatch.size() != rhsBatch.size() ||
      lhsContract.size() != rhsContract.size())
    return op->emitOpError() << "batch axes " << toText(lhsBatch) << " x " << toText(rhsBatch)
                             << " and contracted axes " << toText(lhsContract) << " x "
                             << toText(rhsContract) << " must be distinct, within ranks "
                             << lhs.getRank() << " and " << rhs.getRank()
                             << ", and equally many on both sides (contract_c1)";
  for (auto [a, b] : llvm::zip_equal(join(lhsBatch, lhsContract), join(rhsBatch, rhsContract)))
    if (lhs.getDimSize(a) != rhs.getDimSize(b))
      return op->emitOpError() << "axis " << a << " of lhs has extent " << lhs.getDimSize(a)
                               << ", axis " << b << " of rhs " << rhs.getDimSize(b)
                               << ": paired axes must be equal (contract_c2)";
  SmallVector<int64_t> expected = pick(lhs.getShape(), join(lhsBatch, getLhsFree()));
  llvm::append_range(expected, pick(rhs.getShape(), getRhsFree()));
  if (result.getShape() != ArrayRef<int64_t>(expected))
    return op->emitOpError() << "result has extents " << toText(result.getShape()) << ", expected "
                             << toText(expected) << " (contract_c3)";
  if (lhs.getElementType() != rhs.getElementType() ||
      lhs.getElementType() != result.getElementType())
    return op->emitOpError() << "elements are " << lhs.getElementType() << ", "
                             << rhs.getElementType() << " and " << result.getElementType()
                             << ", expected the same (contract_c3)";
  if (addends.size() > ContractOp::mostAddends ||
      llvm::any_of(addends.getTypes(), [&](Type other) { return other != result; }))
    return op->emitOpError() << "adds values of types " << addends.getTypes()
                             << ", expected at most " << ContractOp::mostAddends << " of type "
                             << result << " (contract_c4)";
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

/// Axes of the result as the call sees them: batch axes by themselves, then all of lhs, all of rhs.
/// The strides of an addend over them; nothing if they have none.
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
  if (operand >= ContractOp::firstAddend)
    return addendStrides(*this, strides).has_value();
  ArrayRef<int64_t> shape = shapeOf(op->getOperand(operand));
  return mergedStride(operand == 0 ? getLhsFree() : getRhsFree(), shape, strides) &&
         mergedStride(operand == 0 ? lhsContract : rhsContract, shape, strides);
}

SmallVector<int64_t> Contraction::getDenseOrder(unsigned operand) const {
  if (operand >= ContractOp::firstAddend)
    return llvm::to_vector(llvm::seq(type.getRank()));
  if (operand == 0)
    return join(join(lhsBatch, getLhsFree()), lhsContract);
  return join(join(rhsBatch, getRhsFree()), rhsContract);
}

/// An addend that lies as the result does is what the result accumulates to. Of several at one
/// place only one would be.
bool Contraction::mayWriteOver(unsigned result, unsigned operand) const {
  Value value = op->getOperand(operand);
  return result == 0 && operand >= ContractOp::firstAddend &&
         operand < ContractOp::firstAddend + addends.size() &&
         llvm::count(op->getOperands(), value) == 1 &&
         stridesOf(value) == rowMajorStrides(type.getShape());
}

CallContractOp Contraction::buildCall(OpBuilder &builder, const CallPlaces &places) const {
  ArrayRef<int64_t> lhsShape = lhs.getType().getShape(), rhsShape = rhs.getType().getShape();
  SmallVector<int64_t> lhsStrides = stridesOf(lhs), rhsStrides = stridesOf(rhs);
  SmallVector<int64_t> lhsFree = getLhsFree(), rhsFree = getRhsFree();
  SmallVector<int64_t> batch = pick(lhsShape, lhsBatch);
  SmallVector<int64_t> lhsCall = pick(lhsStrides, lhsBatch);
  SmallVector<int64_t> rhsCall = pick(rhsStrides, rhsBatch);
  lhsCall.append({*mergedStride(lhsFree, lhsShape, lhsStrides),
                  *mergedStride(lhsContract, lhsShape, lhsStrides)});
  rhsCall.append({*mergedStride(rhsContract, rhsShape, rhsStrides),
                  *mergedStride(rhsFree, rhsShape, rhsStrides)});
  int64_t m = product(lhsFree, lhsShape), n = product(rhsFree, rhsShape);
  SmallVector<int64_t> out(batch);
  out.append({m, n});
  bool accumulate = false;
  SmallVector<Attribute> added;
  SmallVector<int64_t> strides;
  for (auto [i, addend] : llvm::enumerate(addends)) {
    AtAttr place = places.operands[ContractOp::firstAddend + i];
    if (place.getOffset() == places.results[0].getOffset()) {
      accumulate = true;
      continue;
    }
    added.push_back(place);
    llvm::append_range(strides, *addendStrides(*this, stridesOf(addend)));
  }
  return CallContractOp::create(
      builder, op->getLoc(), places.operands[0], places.operands[1], places.results[0],
      places.scratchOffset, places.scratchBytes, batch, m, n, product(lhsContract, lhsShape),
      lhsCall, rhsCall, rowMajorStrides(out), accumulate, builder.getArrayAttr(added), strides,
      ActivationAttr(), AtAttr(), AtAttr(), SummedAttr(), AtAttr());
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

FusedContractOp Contraction::buildFused(OpBuilder &builder, std::optional<Activation> activation,
                                        bool keepsSum, Value point,
                                        std::optional<Summed> summed) const {
  auto attribute = [&](auto value, auto get) {
    return value ? get(builder.getContext(), *value) : decltype(get(nullptr, *value))();
  };
  auto fused = FusedContractOp::create(builder, op->getLoc(), type, keepsSum ? Type(type) : Type(),
                                       summed ? Type(getSumsType(*summed)) : Type(), lhs, rhs,
                                       addends, point, lhsBatch, rhsBatch, lhsContract, rhsContract,
                                       attribute(activation, ActivationAttr::get),
                                       attribute(summed, SummedAttr::get));
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
