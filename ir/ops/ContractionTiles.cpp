//===- ContractionTiles.cpp - Tiling of contractions ------------------------------------------===//

#include "ir/builders/TensorBuilder.h"
#include "ir/interfaces/TargetInfo.h"
#include "ir/interfaces/Tiles.h"
#include "ir/ops/Contraction.h"

using namespace mlir;
using namespace mtc;

namespace {

/// An axis of one value and the corresponding axis of another value.
using Pair = std::pair<int64_t, int64_t>;

} // namespace

/// Returns the tiling of `other` that follows from the tiling `cut`: axes that correspond to tiled
/// axes of `cut` are tiled in the same way. Returns nullopt if these parts are not the tiles of
/// `other`.
static std::optional<TileKind> follow(RankedTensorType cut, RankedTensorType other,
                                      ArrayRef<Pair> pairs, int64_t count) {
  std::optional<Box> from = findTile(cut.getShape(), count, 0);
  SmallVector<int64_t> extents(other.getShape());
  int64_t before = -1;
  for (auto [axis, partner] : pairs)
    if (from->cuts(axis, cut.getShape())) {
      if (partner <= before)
        return std::nullopt;
      before = partner;
      extents[partner] = from->extents[axis];
    }
  if (before < 0)
    return TileKind::Whole;
  std::optional<Box> to = findTile(other.getShape(), count, 0);
  if (!to || to->extents != extents)
    return std::nullopt;
  return TileKind::Tile;
}

static void addPairs(SmallVector<Pair> &pairs, int64_t first, ArrayRef<int64_t> axes) {
  for (auto [i, axis] : llvm::enumerate(axes))
    pairs.push_back({first + static_cast<int64_t>(i), axis});
}

/// Returns the tiling by rows of the result, which are rows of one operand, or of both along batch
/// axes.
static std::optional<Tiles> inRows(const Contraction &c, int64_t count) {
  if (!findTile(c.type.getShape(), count, 0))
    return std::nullopt;
  auto batch = static_cast<int64_t>(c.lhsBatch.size());
  SmallVector<int64_t> lhsFree = c.getLhsFree();
  SmallVector<Pair> lhs, rhs;
  addPairs(lhs, 0, c.lhsBatch);
  addPairs(lhs, batch, lhsFree);
  addPairs(rhs, 0, c.rhsBatch);
  addPairs(rhs, batch + static_cast<int64_t>(lhsFree.size()), c.getRhsFree());
  std::optional<TileKind> ofLhs = follow(c.type, c.lhs.getType(), lhs, count),
                          ofRhs = follow(c.type, c.rhs.getType(), rhs, count);
  if (!ofLhs || !ofRhs)
    return std::nullopt;
  Tiles tiles{count, {*ofLhs, *ofRhs}, {}};
  tiles.operands.resize(c.op->getNumOperands(), TileKind::Tile);
  tiles.results.resize(c.op->getNumResults(), TileKind::Tile);
  return tiles;
}

/// Returns the tiling along the contracted axes of both operands.
static std::optional<Tiles> inTerms(const Contraction &c, int64_t count) {
  std::optional<Box> box = findTile(c.lhs.getType().getShape(), count, 0);
  if (!box)
    return std::nullopt;
  for (int64_t axis : llvm::seq(c.lhs.getType().getRank()))
    if (box->cuts(axis, c.lhs.getType().getShape()) && !llvm::is_contained(c.lhsContract, axis))
      return std::nullopt;
  SmallVector<Pair> pairs;
  for (auto [a, b] : llvm::zip_equal(c.lhsContract, c.rhsContract))
    pairs.push_back({a, b});
  llvm::sort(pairs);
  if (follow(c.lhs.getType(), c.rhs.getType(), pairs, count) != TileKind::Tile)
    return std::nullopt;
  Tiles tiles{count, {TileKind::Tile, TileKind::Tile}, {TileKind::Sum}};
  tiles.operands.resize(c.op->getNumOperands(), TileKind::Whole);
  return tiles;
}

SmallVector<Tiles> Contraction::getTiles(int64_t count) const {
  SmallVector<Tiles> tilings;
  if (!isLibraryCall())
    return tilings;
  if (std::optional<Tiles> rows = inRows(*this, count))
    tilings.push_back(*rows);
  if (std::optional<Tiles> terms = inTerms(*this, count))
    tilings.push_back(*terms);
  return tilings;
}

/// Returns the call that computes the terms of a tile, with a result of this type.
static LibraryCallOpInterface buildTerms(OpBuilder &builder, const Contraction &c,
                                         RankedTensorType type, ValueRange operands,
                                         ValueRange addends) {
  auto terms = ContractOp::create(builder, c.op->getLoc(), type, operands[0], operands[1],
                                  c.lhsBatch, c.rhsBatch, c.lhsContract, c.rhsContract);
  terms->setDiscardableAttrs(c.op->getDiscardableAttrDictionary());
  if (addends.empty())
    return terms;
  FusedContractOp fused =
      Contraction(terms).buildFused(builder, {.addends = llvm::to_vector(addends)});
  terms.erase();
  return fused;
}

/// The partial sum of the preceding tiles is an addend of the call. A narrow result is rounded only
/// once: by the last tile, or after it if the library cannot add f32 to a narrow result.
static Value buildTerms(OpBuilder &builder, const Contraction &c, int64_t index, int64_t count,
                        ValueRange operands, Value sum) {
  const bool isNarrow = c.type.getElementTypeBitWidth() < 32, isLast = index + 1 == count;
  const RankedTensorType wide =
      isNarrow ? RankedTensorType(c.type).clone(Type(builder.getF32Type())) : c.type;
  const ValueRange addends = sum ? ValueRange(sum) : operands.drop_front(2);
  LibraryCallOpInterface call = buildTerms(builder, c, isLast ? c.type : wide, operands, addends);
  if (!isLast || !isNarrow || TargetInfo::of(c.op).getSupportLevel(call) > 0)
    return call->getResult(0);
  call.erase();
  call = buildTerms(builder, c, wide, operands, addends);
  auto rounded =
      CastOp::create(builder, c.op->getLoc(), c.type, call->getResult(0), /*storage=*/true);
  Operation *kernel = cast<FusibleOpInterface>(*rounded).buildKernel(builder);
  rounded.erase();
  return kernel->getResult(0);
}

SmallVector<Value> Contraction::buildTile(OpBuilder &builder, const Tiles &tiles, int64_t index,
                                          ValueRange operands, ArrayRef<Value> sums) const {
  if (tiles.results.front() == TileKind::Sum)
    return {buildTerms(builder, *this, index, tiles.count, operands, sums.front())};
  Operation *tile = op->clone();
  tile->setOperands(operands);
  for (Value result : tile->getResults())
    result.setType(*tileType(typeOf(result), tiles.count));
  builder.insert(tile);
  return llvm::to_vector_of<Value>(tile->getResults());
}

SmallVector<Tiles> ContractOp::getTiles(int64_t count) {
  return Contraction(*this).getTiles(count);
}

SmallVector<Value> ContractOp::buildTile(OpBuilder &builder, const Tiles &tiles, int64_t index,
                                         ValueRange operands, ArrayRef<Value> sums) {
  return Contraction(*this).buildTile(builder, tiles, index, operands, sums);
}

/// A call that computes `sums` over all rows is not tiled. Tiles of the contracted axes have no
/// epilogue except addends.
SmallVector<Tiles> FusedContractOp::getTiles(int64_t count) {
  if (getSummed())
    return {};
  SmallVector<Tiles> tilings = Contraction(*this).getTiles(count);
  if (getActivation())
    llvm::erase_if(tilings,
                   [](const Tiles &tiling) { return tiling.results.front() == TileKind::Sum; });
  return tilings;
}

SmallVector<Value> FusedContractOp::buildTile(OpBuilder &builder, const Tiles &tiles, int64_t index,
                                              ValueRange operands, ArrayRef<Value> sums) {
  return Contraction(*this).buildTile(builder, tiles, index, operands, sums);
}
