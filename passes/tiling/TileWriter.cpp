//===- TileWriter.cpp - Rewrites a region into tiles ------------------------------------------===//

#include "passes/tiling/TileWriter.h"

#include "ir/attributes/DiscardableAttributes.h"
#include "ir/interfaces/Tiles.h"
#include "passes/kernels/KernelEditing.h"

using namespace mlir;
using namespace mtc;

namespace {

/// Emits the operations of a region, tile by tile.
class RegionBuilder {
public:
  RegionBuilder(const TileRegion &region, OpBuilder &builder) : region(region), builder(builder) {}

  void build() {
    for (int64_t index = 0; index < region.getCount(); ++index)
      for (Operation *op : region.getOperations())
        build(op, index);
  }

  /// Returns the replacement of a result for users outside of the region.
  Value assemble(Value result) {
    ArrayRef<Value> parts = tiles[result];
    if (kindOf(result) == TileKind::Sum)
      return parts.back();
    return AssembleOp::create(builder, result.getLoc(), result.getType(), parts);
  }

private:
  TileKind kindOf(Value result) const {
    return region.getTiles(result.getDefiningOp())
        .results[cast<OpResult>(result).getResultNumber()];
  }

  void build(Operation *op, int64_t index) {
    const Tiles &tiling = region.getTiles(op);
    SmallVector<Value> operands, sums;
    for (auto [operand, kind] : llvm::zip_equal(op->getOperands(), tiling.operands))
      operands.push_back(kind == TileKind::Tile ? tileOf(operand, index) : operand);
    for (Value result : op->getResults())
      sums.push_back(kindOf(result) == TileKind::Sum && index > 0 ? tiles[result].back() : Value());
    SmallVector<Value> results =
        cast<TileableOpInterface>(op).buildTile(builder, tiling, index, operands, sums);
    for (auto [whole, tile] : llvm::zip_equal(op->getResults(), results))
      tiles[whole].push_back(tile);
  }

  Value tileOf(Value value, int64_t index) {
    const RankedTensorType whole = cast<RankedTensorType>(value.getType());
    const RankedTensorType type = *tileType(whole, region.getCount());
    if (auto known = tiles.find(rootOf(value)); known != tiles.end()) {
      Value tile = known->second[index];
      return tile.getType() == type
                 ? tile
                 : ReshapeOp::create(builder, value.getLoc(), type, tile).getResult();
    }
    if (auto view = value.getDefiningOp<StridedViewOp>()) {
      auto offset = static_cast<int64_t>(view.getOffset());
      const Box box = *findTile(whole.getShape(), region.getCount(), index);
      for (auto [begin, stride] : llvm::zip_equal(box.offsets, view.getStrides()))
        offset += begin * stride;
      return StridedViewOp::create(builder, view.getLoc(), type, view.getSource(), offset,
                                   view.getStrides());
    }
    return TileOp::create(builder, value.getLoc(), type, value, index * type.getNumElements());
  }

  const TileRegion &region;
  OpBuilder &builder;
  llvm::DenseMap<Value, SmallVector<Value>> tiles;
};

} // namespace

void TileWriter::remove(Operation *op) {
  Operation *next = op->getNextNode();
  listener.notifyOperationErased(op);
  op->remove();
  removed.push_back(op);
  SmallVector<Value> operands(op->getOperands());
  for (OpOperand &operand : op->getOpOperands()) // Removed operations must not count as users.
    operand.drop();
  undoing.push_back([this, op, next, operands] {
    next->getBlock()->getOperations().insert(next->getIterator(), op);
    for (auto [number, operand] : llvm::enumerate(operands))
      op->setOperand(number, operand);
    listener.notifyOperationInserted(op, {});
  });
}

void TileWriter::moveBefore(Operation *op, Operation *place) {
  Operation *next = op->getNextNode();
  op->moveBefore(place);
  listener.notifyOperationInserted(op, {});
  undoing.push_back([this, op, next] {
    op->moveBefore(next);
    listener.notifyOperationInserted(op, {});
  });
}

void TileWriter::replace(Value value, Value by, const TileRegion &region) {
  for (OpOperand &use : llvm::make_early_inc_range(value.getUses())) {
    Operation *owner = use.getOwner();
    if (region.contains(owner))
      continue;
    const unsigned number = use.getOperandNumber();
    use.set(by);
    listener.notifyOperationModified(owner);
    undoing.push_back([this, owner, number, value] {
      owner->setOperand(number, value);
      listener.notifyOperationModified(owner);
    });
  }
}

/// Collects the views of a value that only the region uses, in post-order.
static void findInnerViews(Value value, const TileRegion &region,
                           SmallVectorImpl<Operation *> &views) {
  for (Operation *user : value.getUsers())
    if (user->hasTrait<mtc::View>() && !region.isReadOutside(user->getResult(0))) {
      findInnerViews(user->getResult(0), region, views);
      views.push_back(user);
    }
}

SmallVector<Operation *, 0> TileWriter::write(const TileRegion &region) {
  Operation *place = region.getOperations().front();
  for (Operation *op : region.getNeeded())
    moveBefore(op, place);
  Operation *before = place->getPrevNode();
  OpBuilder builder(place);
  RegionBuilder tiles(region, builder);
  tiles.build();
  SmallVector<std::pair<Value, Value>> replaced;
  SmallVector<Operation *> views;
  for (Operation *op : region.getOperations())
    for (Value result : op->getResults()) {
      findInnerViews(result, region, views);
      if (region.isReadOutside(result))
        replaced.push_back({result, tiles.assemble(result)});
    }
  SmallVector<Operation *, 0> added;
  Operation *first = before ? before->getNextNode() : &place->getBlock()->front();
  for (Operation *op = first; op != place; op = op->getNextNode())
    added.push_back(op);
  for (Operation *op : added) {
    if (isa<TileableOpInterface>(op))
      op->setDiscardableAttr(inTilesAttribute, builder.getUnitAttr());
    listener.notifyOperationInserted(op, {});
  }
  undoing.push_back([this, added] {
    for (Operation *op : llvm::reverse(added)) {
      listener.notifyOperationErased(op);
      op->erase();
    }
  });
  for (auto [value, by] : replaced)
    replace(value, by, region);
  for (Operation *view : views)
    remove(view);
  for (Operation *op : llvm::reverse(region.getOperations()))
    remove(op);
  return added;
}

void TileWriter::undo() {
  removed.clear();
  for (const std::function<void()> &take : llvm::reverse(undoing))
    take();
  undoing.clear();
}

void TileWriter::keep() {
  for (Operation *op : removed)
    op->erase();
  removed.clear();
  undoing.clear();
}
