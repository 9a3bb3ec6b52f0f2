//===- KernelTiles.cpp - Tiling of kernels ----------------------------------------------------===//

#include "ir/builders/TensorBuilder.h"
#include "ir/interfaces/Tiles.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mtc;

namespace {

/// The minimum and maximum of an expression.
struct Bounds {
  int64_t minimum, maximum;
};

} // namespace

/// Returns the bounds of an expression over the dimensions of a box; nullopt for expressions with
/// symbols, which may have any value.
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
    return Bounds{a->minimum + b->minimum, a->maximum + b->maximum};
  const int64_t factor = b->minimum;
  if (b->maximum != factor)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Mul)
    return factor >= 0 ? Bounds{a->minimum * factor, a->maximum * factor}
                       : Bounds{a->maximum * factor, a->minimum * factor};
  if (factor <= 0 || expr.getKind() == AffineExprKind::CeilDiv)
    return std::nullopt;
  const int64_t first = llvm::divideFloorSigned(a->minimum, factor),
                last = llvm::divideFloorSigned(a->maximum, factor);
  if (expr.getKind() == AffineExprKind::FloorDiv)
    return Bounds{first, last};
  if (first == last)
    return Bounds{a->minimum - first * factor, a->maximum - first * factor};
  return Bounds{0, factor - 1};
}

/// Returns whether a map maps all iterations of a box into a tile. Indices of axes that are not
/// tiled may be symbols.
static bool staysWithin(AffineMap map, const Box &iterations, const Box &tile,
                        ArrayRef<int64_t> shape) {
  return llvm::all_of(llvm::enumerate(map.getResults()), [&](auto result) {
    const unsigned axis = result.index();
    if (!tile.cuts(axis, shape))
      return true;
    std::optional<Bounds> bounds = boundsOf(result.value(), iterations);
    return bounds && bounds->minimum >= tile.offsets[axis] &&
           bounds->maximum < tile.offsets[axis] + tile.extents[axis];
  });
}

static bool isFreeOf(AffineMap map, const Box &iterations, ArrayRef<int64_t> space) {
  return llvm::none_of(llvm::seq<unsigned>(space.size()), [&](unsigned dim) {
    return iterations.cuts(dim, space) && map.isFunctionOfDim(dim);
  });
}

/// Returns whether each tile of the iteration space accesses only the corresponding tile of a
/// tensor.
static bool staysInTiles(AffineMap map, ArrayRef<int64_t> space, RankedTensorType type,
                         int64_t count) {
  if (!tileType(type, count))
    return false;
  return llvm::all_of(llvm::seq(count), [&](int64_t index) {
    return staysWithin(map, *findTile(space, count, index),
                       *findTile(type.getShape(), count, index), type.getShape());
  });
}

/// Returns whether each tile of the kernel needs only a tile of an operand.
static bool isReadInTiles(BlockArgument operand, const Box &iterations, ArrayRef<int64_t> space,
                          int64_t count) {
  return llvm::all_of(operand.getUsers(), [&](Operation *user) {
    auto load = dyn_cast<KernelLoadOp>(user); // Sums of rows read all rows in each tile.
    return load && !isFreeOf(load.getMap(), iterations, space) &&
           staysInTiles(load.getMap(), space, load.getSource().getType(), count);
  });
}

/// Kernels have a single tiling, by the outermost dimensions of the iteration space.
SmallVector<Tiles> KernelOp::getTiles(int64_t count) {
  Block &body = getBody().front();
  auto yield = cast<KernelYieldOp>(body.getTerminator());
  std::optional<Box> iterations = findTile(getSpace(), count, 0);
  auto isCut = [&](int64_t dim) { return iterations->cuts(dim, getSpace()); };
  if (!iterations || getIterations() || yield.scatters() || llvm::any_of(getReduced(), isCut))
    return {};
  Tiles tiles{count, SmallVector<TileKind>(getInputs().size(), TileKind::Whole), {}};
  for (BlockArgument operand : body.getArguments())
    if (isReadInTiles(operand, *iterations, getSpace(), count))
      tiles.operands[operand.getArgNumber()] = TileKind::Tile;
  for (auto [number, output] : llvm::enumerate(getOutputs())) {
    AffineMap stored = cast<AffineMapAttr>(yield.getMaps()[number]).getValue();
    auto type = cast<RankedTensorType>(output.getType());
    if (yield.isColumnSum(number) && isFreeOf(stored, *iterations, getSpace()) &&
        type.getElementTypeBitWidth() >= 32)
      tiles.results.push_back(TileKind::Sum);
    else if (staysInTiles(stored, getSpace(), type, count))
      tiles.results.push_back(TileKind::Tile);
    else
      return {};
  }
  return {tiles};
}

namespace {

/// Adapts maps over a kernel's space to the space of one of its tiles.
class MapMover {
public:
  MapMover(const Box &iterations, MLIRContext *context) {
    for (auto [dim, offset] : llvm::enumerate(iterations.offsets))
      moved.push_back(getAffineDimExpr(dim, context) + offset);
  }

  AffineMap move(AffineMap map) const {
    AffineMap result =
        map.replaceDimsAndSymbols(moved, symbolsOf(map), map.getNumDims(), map.getNumSymbols());
    return simplifyAffineMap(result);
  }

  /// Converts indices of a tensor to indices of its tile.
  AffineMap move(AffineMap map, const Box &tile) const {
    SmallVector<AffineExpr> index;
    for (auto [expr, offset] : llvm::zip_equal(map.getResults(), tile.offsets))
      index.push_back(expr - offset);
    return move(AffineMap::get(map.getNumDims(), map.getNumSymbols(), index, map.getContext()));
  }

private:
  static SmallVector<AffineExpr> symbolsOf(AffineMap map) {
    return llvm::map_to_vector(llvm::seq(map.getNumSymbols()), [&](unsigned i) {
      return getAffineSymbolExpr(i, map.getContext());
    });
  }

  SmallVector<AffineExpr> moved; ///< the replacement of each dimension
};

} // namespace

static Value buildSum(OpBuilder &builder, Location loc, Value a, Value b) {
  auto sum = AddOp::create(builder, loc, a, b);
  Value result = cast<FusibleOpInterface>(*sum).buildKernel(builder)->getResult(0);
  sum.erase();
  return result;
}

SmallVector<Value> KernelOp::buildTile(OpBuilder &builder, const Tiles &tiles, int64_t index,
                                       ValueRange operands, ArrayRef<Value> sums) {
  const Box iterations = *findTile(getSpace(), tiles.count, index);
  SmallVector<Type> types;
  for (auto [output, kind] : llvm::zip_equal(getOutputs(), tiles.results)) {
    auto type = cast<RankedTensorType>(output.getType());
    types.push_back(kind == TileKind::Tile ? *tileType(type, tiles.count) : type);
  }
  auto tile = KernelOp::create(builder, getLoc(), types, iterations.extents, getReduced(),
                               std::nullopt, operands);
  tile->setDiscardableAttrs((*this)->getDiscardableAttrDictionary());
  tile.getBody().getBlocks().clear();
  IRMapping mapping;
  getBody().cloneInto(&tile.getBody(), mapping);

  Block &body = tile.getBody().front();
  const MapMover mover(iterations, getContext());
  for (auto [argument, operand, kind] :
       llvm::zip_equal(body.getArguments(), operands, tiles.operands)) {
    const Box whole{SmallVector<int64_t>(typeOf(argument).getRank(), 0), {}};
    const Box from =
        kind == TileKind::Tile ? *findTile(typeOf(argument).getShape(), tiles.count, index) : whole;
    for (Operation *user : argument.getUsers())
      if (auto load = dyn_cast<KernelLoadOp>(user))
        load.setMap(mover.move(load.getMap(), from));
      else
        cast<KernelAddRowsOp>(user).setMap(mover.move(cast<KernelAddRowsOp>(user).getMap()));
    argument.setType(operand.getType());
  }
  for (auto at : body.getOps<KernelIndexOp>())
    at.setMap(mover.move(at.getMap()));
  auto yield = cast<KernelYieldOp>(body.getTerminator());
  SmallVector<AffineMap> maps;
  for (auto [map, output, kind] : llvm::zip_equal(yield.getMaps().getAsValueRange<AffineMapAttr>(),
                                                  getOutputs(), tiles.results))
    maps.push_back(kind == TileKind::Tile
                       ? mover.move(map, *findTile(typeOf(output).getShape(), tiles.count, index))
                       : mover.move(map));
  yield.setMapsAttr(builder.getAffineMapArrayAttr(maps));

  SmallVector<Value> results(tile->getResults());
  for (auto [result, sum] : llvm::zip_equal(results, sums))
    if (sum)
      result = buildSum(builder, getLoc(), sum, result);
  return results;
}
