//===- KernelPieces.cpp - Kernels computed piece by piece -------------------------------------===//

#include "ir/Pieces.h"
#include "ir/TensorBuilder.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mtc;

namespace {

/// The least and the greatest value that an expression may have.
struct Bounds {
  int64_t least, greatest;
};

} // namespace

/// Of an expression of the dims of a box; none with symbols, which may have any value.
static std::optional<Bounds> boundsOf(AffineExpr expr, const Box &box) {
  if (auto number = dyn_cast<AffineConstantExpr>(expr))
    return Bounds{number.getValue(), number.getValue()};
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    int64_t offset = box.offsets[dim.getPosition()];
    return Bounds{offset, offset + box.extents[dim.getPosition()] - 1};
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  std::optional<Bounds> a = boundsOf(binary.getLHS(), box), b = boundsOf(binary.getRHS(), box);
  if (!a || !b)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add)
    return Bounds{a->least + b->least, a->greatest + b->greatest};
  const int64_t factor = b->least;
  if (b->greatest != factor)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Mul)
    return factor >= 0 ? Bounds{a->least * factor, a->greatest * factor}
                       : Bounds{a->greatest * factor, a->least * factor};
  if (factor <= 0 || expr.getKind() == AffineExprKind::CeilDiv)
    return std::nullopt;
  const int64_t first = llvm::divideFloorSigned(a->least, factor),
                last = llvm::divideFloorSigned(a->greatest, factor);
  if (expr.getKind() == AffineExprKind::FloorDiv)
    return Bounds{first, last};
  if (first == last)
    return Bounds{a->least - first * factor, a->greatest - first * factor};
  return Bounds{0, factor - 1};
}

/// Whether a map takes all points of a box into another one. Axes of which the other has the whole
/// may be given by symbols.
static bool staysWithin(AffineMap map, const Box &points, const Box &piece,
                        ArrayRef<int64_t> shape) {
  return llvm::all_of(llvm::enumerate(map.getResults()), [&](auto result) {
    const unsigned axis = result.index();
    if (!piece.cuts(axis, shape))
      return true;
    std::optional<Bounds> bounds = boundsOf(result.value(), points);
    return bounds && bounds->least >= piece.offsets[axis] &&
           bounds->greatest < piece.offsets[axis] + piece.extents[axis];
  });
}

static bool isFreeOf(AffineMap map, const Box &points, ArrayRef<int64_t> space) {
  return llvm::none_of(llvm::seq<unsigned>(space.size()), [&](unsigned dim) {
    return points.cuts(dim, space) && map.isFunctionOfDim(dim);
  });
}

/// Whether each piece of the points stays within the same piece of a tensor.
static bool staysInPieces(AffineMap map, ArrayRef<int64_t> space, RankedTensorType type,
                          int64_t count) {
  if (!pieceType(type, count))
    return false;
  return llvm::all_of(llvm::seq(count), [&](int64_t index) {
    return staysWithin(map, *findPiece(space, count, index),
                       *findPiece(type.getShape(), count, index), type.getShape());
  });
}

static SmallVector<KernelLoadOp> loadsOf(BlockArgument operand) {
  return llvm::map_to_vector(operand.getUsers(),
                             [](Operation *user) { return cast<KernelLoadOp>(user); });
}

/// The one way: in pieces of the space, whose outermost dimensions are rows.
SmallVector<Pieces> KernelOp::getPieces(int64_t count) {
  Block &body = getBody().front();
  auto yield = cast<KernelYieldOp>(body.getTerminator());
  std::optional<Box> points = findPiece(getSpace(), count, 0);
  auto isCut = [&](int64_t dim) { return points->cuts(dim, getSpace()); };
  if (!points || getPoints() || yield.scatters() || llvm::any_of(getReduced(), isCut))
    return {};
  Pieces pieces{count, SmallVector<PieceKind>(getInputs().size(), PieceKind::Whole), {}};
  for (BlockArgument operand : body.getArguments())
    if (llvm::all_of(loadsOf(operand), [&](KernelLoadOp load) {
          return !isFreeOf(load.getMap(), *points, getSpace()) &&
                 staysInPieces(load.getMap(), getSpace(), load.getSource().getType(), count);
        }))
      pieces.operands[operand.getArgNumber()] = PieceKind::Piece;
  for (auto [number, output] : llvm::enumerate(getOutputs())) {
    AffineMap stored = cast<AffineMapAttr>(yield.getMaps()[number]).getValue();
    auto type = cast<RankedTensorType>(output.getType());
    if (yield.isColumnSum(number) && isFreeOf(stored, *points, getSpace()) &&
        type.getElementTypeBitWidth() >= 32)
      pieces.results.push_back(PieceKind::Sum);
    else if (staysInPieces(stored, getSpace(), type, count))
      pieces.results.push_back(PieceKind::Piece);
    else
      return {};
  }
  return {pieces};
}

namespace {

/// Moves maps from a kernel's space to that of one of its pieces.
class MapMover {
public:
  MapMover(const Box &points, MLIRContext *context) {
    for (auto [dim, offset] : llvm::enumerate(points.offsets))
      moved.push_back(getAffineDimExpr(dim, context) + offset);
  }

  AffineMap move(AffineMap map) const {
    AffineMap result =
        map.replaceDimsAndSymbols(moved, symbolsOf(map), map.getNumDims(), map.getNumSymbols());
    return simplifyAffineMap(result);
  }

  /// Indices of a tensor become those of its piece.
  AffineMap move(AffineMap map, const Box &piece) const {
    SmallVector<AffineExpr> index;
    for (auto [expr, offset] : llvm::zip_equal(map.getResults(), piece.offsets))
      index.push_back(expr - offset);
    return move(AffineMap::get(map.getNumDims(), map.getNumSymbols(), index, map.getContext()));
  }

private:
  static SmallVector<AffineExpr> symbolsOf(AffineMap map) {
    return llvm::map_to_vector(llvm::seq(map.getNumSymbols()), [&](unsigned i) {
      return getAffineSymbolExpr(i, map.getContext());
    });
  }

  SmallVector<AffineExpr> moved; ///< what becomes of each dim
};

} // namespace

static Value buildSum(OpBuilder &builder, Location loc, Value a, Value b) {
  auto sum = AddOp::create(builder, loc, a, b);
  Value result = cast<FusibleOpInterface>(*sum).buildKernel(builder)->getResult(0);
  sum.erase();
  return result;
}

SmallVector<Value> KernelOp::buildPiece(OpBuilder &builder, const Pieces &pieces, int64_t index,
                                        ValueRange operands, ArrayRef<Value> sums) {
  const Box points = *findPiece(getSpace(), pieces.count, index);
  SmallVector<Type> types;
  for (auto [output, kind] : llvm::zip_equal(getOutputs(), pieces.results)) {
    auto type = cast<RankedTensorType>(output.getType());
    types.push_back(kind == PieceKind::Piece ? *pieceType(type, pieces.count) : type);
  }
  auto piece = KernelOp::create(builder, getLoc(), types, points.extents, getReduced(),
                                std::nullopt, operands);
  piece->setDiscardableAttrs((*this)->getDiscardableAttrDictionary());
  piece.getBody().getBlocks().clear();
  IRMapping mapping;
  getBody().cloneInto(&piece.getBody(), mapping);

  Block &body = piece.getBody().front();
  const MapMover mover(points, getContext());
  for (auto [argument, operand, kind] :
       llvm::zip_equal(body.getArguments(), operands, pieces.operands)) {
    const Box whole{SmallVector<int64_t>(typeOf(argument).getRank(), 0), {}};
    const Box from = kind == PieceKind::Piece
                         ? *findPiece(typeOf(argument).getShape(), pieces.count, index)
                         : whole;
    for (KernelLoadOp load : loadsOf(argument))
      load.setMap(mover.move(load.getMap(), from));
    argument.setType(operand.getType());
  }
  for (auto at : body.getOps<KernelIndexOp>())
    at.setMap(mover.move(at.getMap()));
  auto yield = cast<KernelYieldOp>(body.getTerminator());
  SmallVector<AffineMap> maps;
  for (auto [map, output, kind] : llvm::zip_equal(yield.getMaps().getAsValueRange<AffineMapAttr>(),
                                                  getOutputs(), pieces.results))
    maps.push_back(kind == PieceKind::Piece
                       ? mover.move(map, *findPiece(typeOf(output).getShape(), pieces.count, index))
                       : mover.move(map));
  yield.setMapsAttr(builder.getAffineMapArrayAttr(maps));

  SmallVector<Value> results(piece->getResults());
  for (auto [result, sum] : llvm::zip_equal(results, sums))
    if (sum)
      result = buildSum(builder, getLoc(), sum, result);
  return results;
}
