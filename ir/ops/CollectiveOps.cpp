//===- CollectiveOps.cpp - Exchange of values between the ranks of a program ------------------===//

#include "ir/Mtc.h"
#include "ir/builders/TensorBuilder.h"
#include "runtime/abi/collective.h"

#include <numeric>

using namespace mlir;
using namespace mtc;

static_assert(static_cast<int>(CollectiveKind::AllToAll) == MTC_ALL_TO_ALL &&
              static_cast<int>(CollectiveKind::AllGather) == MTC_ALL_GATHER &&
              static_cast<int>(CollectiveKind::OwnPiece) == MTC_OWN_PIECE);

/// Returns whether one piece for each rank can hold the elements of a value.
static bool holds(int64_t ranks, int64_t piece, int64_t total) {
  // Divides instead of multiplying, which could overflow.
  return ranks >= 1 && piece >= 1 && total >= 1 && (total - 1) / piece < ranks;
}

LogicalResult CollectiveAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                                     CollectiveKind, int64_t ranks, int64_t stride,
                                     ArrayRef<int64_t> pieces, ArrayRef<int64_t> totals, Type) {
  if (stride < 1)
    return emitError() << "has ranks with the stride " << stride
                       << ", expected at least 1 (collective_c1)";
  if (pieces.empty() || pieces.size() != totals.size())
    return emitError() << "has " << pieces.size() << " pieces and " << totals.size()
                       << " totals, expected one of each for every value (collective_c1)";
  for (auto [piece, total] : llvm::zip_equal(pieces, totals))
    if (!holds(ranks, piece, total))
      return emitError() << ranks << " ranks with pieces of " << piece << " elements cannot hold "
                         << total << " elements (collective_c1)";
  return success();
}

int64_t CollectiveAttr::getSentBytes(int64_t rank) {
  int64_t elements = 0;
  for (auto [piece, total] : llvm::zip_equal(getPieces(), getTotals()))
    elements += mtc_sent_elements(static_cast<uint32_t>(getKind()), getRanks(), piece, total,
                                  mtc_number_in_group(rank, getRanks(), getStride()));
  return elementBytes(getElement()) * elements;
}

int64_t CollectiveAttr::getMaximumSentBytes() {
  // The first rank of a group owns the most elements of each value, and the last rank the fewest.
  return std::max(getSentBytes(0), getSentBytes((getRanks() - 1) * getStride()));
}

LogicalResult AxisSplitAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                                    int64_t axis, int64_t outer, int64_t parts, int64_t stride,
                                    int64_t padding) {
  if (axis >= 0 && outer >= 1 && parts >= 1 && stride >= 1 && padding >= 0)
    return success();
  return emitError() << "has axis " << axis << ", outer " << outer << ", parts " << parts
                     << ", stride " << stride << " and padding " << padding
                     << ", expected an axis and padding of at least 0 and other numbers of at "
                        "least 1 (axis_split_c1)";
}

RankedTensorType AxisSplitAttr::getPadded(RankedTensorType whole) {
  SmallVector<int64_t> shape(whole.getShape());
  shape[getAxis()] += getOuter() * getPadding();
  return RankedTensorType::get(shape, whole.getElementType(), whole.getEncoding());
}

RankedTensorType AxisSplitAttr::getPartOf(RankedTensorType whole) {
  if (getAxis() >= whole.getRank() || whole.getDimSize(getAxis()) % getOuter())
    return {};
  RankedTensorType padded = getPadded(whole);
  if (padded.getDimSize(getAxis()) / getOuter() % getParts())
    return {};
  SmallVector<int64_t> shape(padded.getShape());
  shape[getAxis()] /= getParts();
  return padded.clone(shape);
}

/// Returns the number of elements at each index of the axis.
static int64_t elementsOfIndex(RankedTensorType type, int64_t axis) {
  int64_t elements = 1;
  for (int64_t extent : type.getShape().drop_front(axis + 1))
    elements *= extent;
  return elements;
}

int64_t AxisSplitAttr::getRunOf(RankedTensorType whole) {
  return (whole.getDimSize(getAxis()) / getOuter() + getPadding()) / getParts() *
         elementsOfIndex(whole, getAxis());
}

int64_t AxisSplitAttr::getBlockOf(RankedTensorType whole) {
  return whole.getDimSize(getAxis()) / getOuter() * elementsOfIndex(whole, getAxis());
}

static SmallVector<int64_t> elementCounts(TypeRange types) {
  return llvm::map_to_vector(
      types, [](Type type) { return cast<RankedTensorType>(type).getNumElements(); });
}

/// Verifies that the values and pieces of a collective have elements of one type, and that the
/// pieces hold the values.
static LogicalResult verifyPieces(Operation *op, int64_t ranks, TypeRange values,
                                  ArrayRef<int64_t> pieces, StringRef constraint) {
  if (values.empty() || values.size() != pieces.size())
    return op->emitOpError("has ") << values.size() << " values and " << pieces.size()
                                   << " pieces, expected equal numbers (" << constraint << ")";
  Type element = cast<RankedTensorType>(values.front()).getElementType();
  for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()))
    if (cast<RankedTensorType>(type).getElementType() != element)
      return op->emitOpError("has values of ")
             << element << " and of " << type << ", expected elements of one type (" << constraint
             << ")";
  for (auto [total, piece] : llvm::zip_equal(elementCounts(values), pieces))
    if (!holds(ranks, piece, total))
      return op->emitOpError("has ")
             << ranks << " pieces of " << piece << " elements, expected pieces for all " << total
             << " elements (" << constraint << ")";
  return success();
}

static CollectiveAttr describe(CollectiveKind kind, int64_t ranks, uint64_t stride,
                               TypeRange values, ArrayRef<int64_t> pieces) {
  auto first = cast<RankedTensorType>(values.front());
  return CollectiveAttr::get(first.getContext(), kind, ranks, static_cast<int64_t>(stride), pieces,
                             elementCounts(values), first.getElementType());
}

void AllToAllOp::build(OpBuilder &b, OperationState &state, ValueRange values,
                       ArrayRef<int64_t> pieces, RankGroup group) {
  const auto all = std::accumulate(pieces.begin(), pieces.end(), int64_t{0});
  auto element = cast<RankedTensorType>(values.front().getType()).getElementType();
  build(b, state, RankedTensorType::get({group.count, all}, element), values, pieces,
        static_cast<uint64_t>(group.stride));
}

LogicalResult AllToAllOp::verify() {
  RankedTensorType type = getRows().getType();
  const auto all = std::accumulate(getPieces().begin(), getPieces().end(), int64_t{0});
  if (type.getRank() != 2 || type.getDimSize(1) != all)
    return emitOpError("has the result ")
           << type << ", expected one row of " << all << " elements for each rank (all_to_all_c1)";
  return verifyPieces(*this, type.getDimSize(0), getValues().getTypes(), getPieces(),
                      "all_to_all_c1");
}

CollectiveAttr AllToAllOp::getCollective() {
  return describe(CollectiveKind::AllToAll, getRows().getType().getDimSize(0), getStride(),
                  getValues().getTypes(), getPieces());
}

void AllGatherOp::build(OpBuilder &b, OperationState &state, TypeRange types, ValueRange pieces,
                        RankGroup group) {
  build(b, state, types, pieces, static_cast<uint64_t>(group.count),
        static_cast<uint64_t>(group.stride));
}

LogicalResult AllGatherOp::verify() {
  return verifyPieces(*this, static_cast<int64_t>(getRanks()), getValues().getTypes(),
                      elementCounts(getPieces().getTypes()), "all_gather_c1");
}

CollectiveAttr AllGatherOp::getCollective() {
  return describe(CollectiveKind::AllGather, static_cast<int64_t>(getRanks()), getStride(),
                  getValues().getTypes(), elementCounts(getPieces().getTypes()));
}

LogicalResult AverageOverRanksOp::verify() {
  if (static_cast<int64_t>(getRanks()) < 1)
    return emitOpError("expected at least 1 rank (average_over_ranks_c1)");
  return success();
}

OpFoldResult AverageOverRanksOp::fold(FoldAdaptor) {
  return getRanks() == 1 ? OpFoldResult(getInput()) : OpFoldResult();
}

/// Each rank's loss depends on the values of all ranks, so the operation is its own transpose.
void AverageOverRanksOp::buildGradient(GradientBuilder &g) {
  g.set(0, g.averageOverRanks(g.cotangent(0), static_cast<int64_t>(getRanks())));
}

void OwnPieceOp::build(OpBuilder &b, OperationState &state, TypeRange types, ValueRange values,
                       RankGroup group) {
  build(b, state, types, values, static_cast<uint64_t>(group.count),
        static_cast<uint64_t>(group.stride));
}

LogicalResult OwnPieceOp::verify() {
  return verifyPieces(*this, static_cast<int64_t>(getRanks()), getValues().getTypes(),
                      elementCounts(getPieces().getTypes()), "own_piece_c1");
}

CollectiveAttr OwnPieceOp::getCollective() {
  return describe(CollectiveKind::OwnPiece, static_cast<int64_t>(getRanks()), getStride(),
                  getValues().getTypes(), elementCounts(getPieces().getTypes()));
}

/// Verifies the slices of an allocated collective.
static LogicalResult verifySlices(Operation *op, CollectiveAttr collective, ArrayAttr inputs,
                                  ArrayAttr outputs) {
  const bool gathers = collective.getKind() == CollectiveKind::AllGather;
  const SmallVector<int64_t> values(collective.getTotals()), pieces(collective.getPieces());
  SmallVector<int64_t> rows = pieces; // The result of an all-to-all is one slice.
  if (collective.getKind() == CollectiveKind::AllToAll)
    rows = {collective.getRanks() * std::accumulate(pieces.begin(), pieces.end(), int64_t{0})};
  for (auto [slices, expected] : {std::pair(inputs, gathers ? pieces : values),
                                  std::pair(outputs, gathers ? values : rows)}) {
    if (slices.size() != expected.size())
      return op->emitOpError("has ")
             << slices.size() << " slices, expected " << expected.size() << " (collective_c2)";
    for (auto [slice, count] : llvm::zip_equal(slices.getAsRange<AtAttr>(), expected)) {
      if (slice.getSpace() != MemorySpace::Device)
        return op->emitOpError("has the operand ")
               << slice << ", which is not on the device (collective_c3)";
      if (slice.getType().getElementType() != collective.getElement() ||
          slice.getType().getNumElements() != count)
        return op->emitOpError("has the operand ")
               << slice << ", expected " << count << " elements of " << collective.getElement()
               << " (collective_c2)";
    }
  }
  return success();
}

LogicalResult TransferOp::verify() {
  return verifySlices(*this, getCollective(), getInputs(), getOutputs());
}

LogicalResult AsyncTransferOp::verify() {
  if (static_cast<int64_t>(getStream()) < 1)
    return emitOpError("is on stream ") << getStream() << ", expected 1 or more (collective_c4)";
  return verifySlices(*this, getCollective(), getInputs(), getOutputs());
}

LogicalResult ReshardOp::verify() {
  AxisSplitAttr from = getFrom(), to = getTo();
  if (from.getParts() != to.getParts() || from.getStride() != to.getStride() ||
      from.getAxis() == to.getAxis())
    return emitOpError("exchanges parts from ")
           << from << " to " << to << ", expected another axis among the same ranks (reshard_c1)";
  auto input = cast<RankedTensorType>(getInput().getType()),
       result = cast<RankedTensorType>(getResult().getType());
  if (from.getAxis() < input.getRank()) {
    SmallVector<int64_t> shape(input.getShape());
    shape[from.getAxis()] *= from.getParts();
    auto whole = RankedTensorType::get(shape, input.getElementType());
    if (from.getPartOf(whole) && to.getPartOf(whole) == result)
      return success();
  }
  return emitOpError("returns ") << result << ", which is no part of the tensor of which " << input
                                 << " is one (reshard_c2)";
}
