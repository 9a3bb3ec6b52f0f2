//===- PartialOps.cpp - Partial values of the ranks of a group --------------------------------===//

#include "ir/Mtc.h"
#include "ir/builders/TensorBuilder.h"

using namespace mlir;
using namespace mtc;

LogicalResult PartialAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, ReductionKind,
                                  int64_t ranks, int64_t stride, int64_t chunk, int64_t chunks) {
  if (ranks >= 1 && stride >= 1 && chunk >= 0 && chunk < chunks)
    return success();
  return emitError()
         << "has chunk " << chunk << " of " << chunks << ", and " << ranks
         << " ranks with the stride " << stride
         << ", expected one of the chunks, and other numbers of at least 1 (partial_c1)";
}

PartialAttr PartialAttr::of(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? dyn_cast_or_null<PartialAttr>(tensor.getEncoding()) : PartialAttr();
}

Type PartialAttr::withoutPartial(Type type) {
  return of(type) ? cast<RankedTensorType>(type).dropEncoding() : type;
}

/// Returns the first partial type; null if there is none.
static Type findPartial(TypeRange types) {
  auto found = llvm::find_if(types, [](Type type) { return PartialAttr::of(type); });
  return found == types.end() ? Type() : *found;
}

/// Terms must not be rounded: their sum is rounded once.
static LogicalResult verifyNotRounded(Operation *op) {
  auto from = dyn_cast<FloatType>(getElementTypeOrSelf(op->getOperand(0).getType()));
  auto to = dyn_cast<FloatType>(getElementTypeOrSelf(op->getResult(0).getType()));
  const bool isExact = from == to || (from && to && from.getWidth() < to.getWidth());
  if (isExact || (!from && !to))
    return success();
  return op->emitOpError("converts the partial operand ")
         << op->getOperand(0).getType() << " to " << op->getResult(0).getType()
         << ", expected a wider float type; convert the result of 'mtc.all_reduce' instead "
            "(partial_c4)";
}

LogicalResult mtc::detail::verifyPartialValues(Operation *op) {
  if (op->hasTrait<mtc::ConvertsPartial>())
    return success();
  Type operand = findPartial(op->getOperandTypes());
  if (!operand) {
    if (Type result = findPartial(op->getResultTypes()))
      return op->emitOpError("has the partial result ")
             << result << ", but no partial operand; expected a result of 'mtc.partial' "
             << "(partial_c2)";
    return success();
  }
  PartialAttr partial = PartialAttr::of(operand);
  const bool isAdded = partial.getKind() == ReductionKind::Add && op->hasTrait<mtc::Additive>();
  if (!isAdded && !op->hasTrait<mtc::MovesElements>())
    return op->emitOpError("has the partial operand ")
           << operand << ", expected a whole value; compute it by 'mtc.all_reduce' or "
           << "'mtc.reduce_scatter' (partial_c2)";
  for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()))
    if (PartialAttr::of(type) != partial)
      return op->emitOpError("has values of ")
             << operand << " and of " << type << ", expected the encoding " << partial
             << " of all (partial_c3)";
  return verifyNotRounded(op);
}

LogicalResult PartialOp::verify() {
  RankedTensorType input = getInput().getType(), result = getResult().getType();
  if (!PartialAttr::of(input) && PartialAttr::of(result) && result.dropEncoding() == input)
    return success();
  return emitOpError("converts ") << input << " to " << result
                                  << ", expected a partial value of the operand's shape and "
                                     "element type (partial_value_c1)";
}

/// Verifies that there is a term for each chunk of a reduction.
static LogicalResult verifyTerms(Operation *op, TypeRange terms, StringRef constraint) {
  if (terms.empty())
    return op->emitOpError("has no operand, expected a partial value for each chunk (")
           << constraint << ")";
  auto first = cast<RankedTensorType>(terms.front());
  PartialAttr partial = PartialAttr::of(first);
  if (!partial)
    return op->emitOpError("has the operand ")
           << first << ", expected a partial value (" << constraint << ")";
  if (static_cast<int64_t>(terms.size()) != partial.getChunks())
    return op->emitOpError("has ") << terms.size() << " operands, expected one for each of the "
                                   << partial.getChunks() << " chunks (" << constraint << ")";
  for (auto [i, type] : llvm::enumerate(terms)) {
    auto expected = RankedTensorType::get(
        first.getShape(), first.getElementType(),
        PartialAttr::get(op->getContext(), partial.getKind(), partial.getRanks(),
                         partial.getStride(), static_cast<int64_t>(i), partial.getChunks()));
    if (type != expected)
      return op->emitOpError("has the operand ")
             << type << ", expected " << expected << " (" << constraint << ")";
  }
  return success();
}

static LogicalResult verifyResult(Operation *op, RankedTensorType expected, StringRef constraint) {
  if (op->getResult(0).getType() == expected)
    return success();
  return op->emitOpError("has the result ")
         << op->getResult(0).getType() << ", expected " << expected << " (" << constraint << ")";
}

LogicalResult AllReduceOp::verify() {
  if (failed(verifyTerms(*this, getTerms().getTypes(), "all_reduce_c1")))
    return failure();
  return verifyResult(*this, typeOf(getTerms().front()).dropEncoding(), "all_reduce_c2");
}

LogicalResult ReduceScatterOp::verify() {
  if (failed(verifyTerms(*this, getTerms().getTypes(), "reduce_scatter_c1")))
    return failure();
  RankedTensorType whole = typeOf(getTerms().front()).dropEncoding();
  PartialAttr partial = PartialAttr::of(getTerms().front().getType());
  AxisSplitAttr split = getSplit();
  RankedTensorType part = split.getPartOf(whole);
  if (!part || RankGroup{split.getParts(), split.getStride()} != partial.getGroup() ||
      split.getRunOf(whole) * split.getParts() != whole.getNumElements())
    return emitOpError("divides ")
           << getTerms().front().getType() << " along " << split
           << ", expected an axis of consecutive parts for the ranks of its group "
              "(reduce_scatter_c3)";
  return verifyResult(*this, part, "reduce_scatter_c2");
}
