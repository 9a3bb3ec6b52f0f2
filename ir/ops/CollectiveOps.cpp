//===- CollectiveOps.cpp - Exchange of values between the ranks of a program ------------------===//

#include "ir/Mtc.h"
#include "runtime/abi/collective.h"

using namespace mlir;
using namespace mtc;

static_assert(static_cast<int>(CollectiveKind::AllToAll) == MTC_ALL_TO_ALL &&
              static_cast<int>(CollectiveKind::AllGather) == MTC_ALL_GATHER);

LogicalResult CollectiveAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                                     CollectiveKind, int64_t ranks, int64_t piece, int64_t total,
                                     Type) {
  // Divides instead of multiplying, which could overflow.
  if (ranks >= 1 && piece >= 1 && total >= 1 && (total - 1) / piece < ranks)
    return success();
  return emitError() << ranks << " ranks with pieces of " << piece << " elements cannot hold "
                     << total << " elements (collective_c1)";
}

int64_t CollectiveAttr::getSentBytes(int64_t rank) {
  return elementBytes(getElement()) * mtc_sent_elements(static_cast<uint32_t>(getKind()),
                                                        getRanks(), getPiece(), getTotal(), rank);
}

int64_t CollectiveAttr::getTraffic() {
  // Each element crosses to every rank but its owner, or from every rank but its owner.
  return elementBytes(getElement()) * getTotal() * (getRanks() - 1);
}

int64_t CollectiveAttr::getMaximumSentBytes() {
  // Only the first piece and the last one can have the maximum.
  return std::max(getSentBytes(0), getSentBytes(getRanks() - 1));
}

static int64_t countElements(TypeRange types) {
  int64_t total = 0;
  for (Type type : types)
    total += cast<RankedTensorType>(type).getNumElements();
  return total;
}

/// Verifies the flat tensor `values` of a collective, whose pieces have `piece` elements of a type.
static LogicalResult verifyFlat(Operation *op, TypeRange values, Type element, int64_t ranks,
                                int64_t piece, StringRef constraint) {
  for (Type type : values)
    if (cast<RankedTensorType>(type).getElementType() != element)
      return op->emitOpError("has a value of ")
             << type << ", but pieces of " << element << " (" << constraint << ")";
  const int64_t total = countElements(values);
  if (ranks >= 1 && piece >= 1 && total >= 1 && (total - 1) / piece < ranks)
    return success();
  return op->emitOpError("has ") << ranks << " pieces of " << piece << " elements for " << total
                                 << " elements (" << constraint << ")";
}

LogicalResult AllToAllOp::verify() {
  auto type = cast<RankedTensorType>(getPieces().getType());
  if (type.getRank() != 2)
    return emitOpError("has the result ") << type << ", expected one row per rank (all_to_all_c1)";
  return verifyFlat(*this, getValues().getTypes(), type.getElementType(), type.getDimSize(0),
                    type.getDimSize(1), "all_to_all_c1");
}

CollectiveAttr AllToAllOp::getCollective() {
  auto type = cast<RankedTensorType>(getPieces().getType());
  return CollectiveAttr::get(getContext(), CollectiveKind::AllToAll, type.getDimSize(0),
                             type.getDimSize(1), countElements(getValues().getTypes()),
                             type.getElementType());
}

LogicalResult AllGatherOp::verify() {
  auto type = cast<RankedTensorType>(getPiece().getType());
  return verifyFlat(*this, getValues().getTypes(), type.getElementType(),
                    static_cast<int64_t>(getRanks()), type.getNumElements(), "all_gather_c1");
}

CollectiveAttr AllGatherOp::getCollective() {
  auto type = cast<RankedTensorType>(getPiece().getType());
  return CollectiveAttr::get(getContext(), CollectiveKind::AllGather, getRanks(),
                             type.getNumElements(), countElements(getValues().getTypes()),
                             type.getElementType());
}

/// Verifies the slices of an allocated collective.
static LogicalResult verifySlices(Operation *op, CollectiveAttr collective, ArrayAttr inputs,
                                  ArrayAttr outputs) {
  const bool gathers = collective.getKind() == CollectiveKind::AllGather;
  int64_t whole = 0, pieces = 0;
  for (auto [isInput, slices] : {std::pair(true, inputs), std::pair(false, outputs)})
    for (AtAttr slice : slices.getAsRange<AtAttr>()) {
      if (slice.getSpace() != MemorySpace::Device)
        return op->emitOpError("has the operand ")
               << slice << ", which is not on the device (collective_c3)";
      if (slice.getType().getElementType() != collective.getElement())
        return op->emitOpError("has the operand ") << slice << ", expected elements of "
                                                   << collective.getElement() << " (collective_c2)";
      (isInput == gathers ? pieces : whole) += slice.getType().getNumElements();
    }
  const int64_t expected =
      gathers ? collective.getPiece() : collective.getRanks() * collective.getPiece();
  if (whole == collective.getTotal() && pieces == expected)
    return success();
  return op->emitOpError("has slices of ")
         << whole << " elements of the flat tensor and of " << pieces << " of pieces, expected "
         << collective.getTotal() << " and " << expected << " (collective_c2)";
}

LogicalResult TransferOp::verify() {
  return verifySlices(*this, getCollective(), getInputs(), getOutputs());
}

LogicalResult AsyncTransferOp::verify() {
  if (static_cast<int64_t>(getStream()) < 1)
    return emitOpError("is on stream ") << getStream() << ", expected 1 or more (collective_c4)";
  return verifySlices(*this, getCollective(), getInputs(), getOutputs());
}
