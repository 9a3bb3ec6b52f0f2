//===- TileRegion.cpp - Operations that are tiled together ------------------------------------===//

#include "passes/tiling/TileRegion.h"

#include "ir/interfaces/Tiles.h"
#include "ir/steps/VariableAccess.h"
#include "passes/kernels/KernelEditing.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mtc;

/// Limit on the number of operations of a region.
static constexpr size_t maxOperations = 24;

/// Returns whether the views between a value and its root preserve the order of elements.
static bool isInOrder(Value value) {
  for (Operation *op = value.getDefiningOp(); op && op->hasTrait<mtc::View>();
       op = op->getOperand(0).getDefiningOp())
    if (isa<StridedMovementOpInterface>(op))
      return false;
  return true;
}

/// Returns whether tiling the operation this way is compatible with the tiling of the region's
/// operations.
bool TileRegion::agrees(Operation *op, const Tiles &tiling) const {
  for (OpOperand &operand : op->getOpOperands()) {
    Value root = rootOf(operand.get());
    auto found = tilings.find(root.getDefiningOp());
    if (found == tilings.end())
      continue;
    const TileKind given = found->second.results[cast<OpResult>(root).getResultNumber()];
    if (given != TileKind::Tile || tiling.operands[operand.getOperandNumber()] != TileKind::Tile ||
        !isInOrder(operand.get()))
      return false;
  }
  for (auto [result, given] : llvm::zip_equal(op->getResults(), tiling.results))
    for (OpOperand *use : findUses(result)) {
      auto found = tilings.find(use->getOwner());
      if (found != tilings.end() &&
          (given != TileKind::Tile || !isInOrder(use->get()) ||
           found->second.operands[use->getOperandNumber()] != TileKind::Tile))
        return false;
    }
  return true;
}

bool TileRegion::add(Operation *op) {
  if (!op || tilings.size() == maxOperations)
    return false;
  if (contains(op))
    return true;
  auto piecewise = dyn_cast<TileableOpInterface>(op);
  if (!piecewise || (split && !tilings.empty() &&
                     split->isForward(op) != split->isForward(tilings.begin()->first)))
    return false;
  for (const Tiles &tiling : piecewise.getTiles(count))
    if (agrees(op, tiling)) {
      tilings[op] = tiling;
      return true;
    }
  return false;
}

/// Adds the producer and the users of a value.
bool TileRegion::addAround(Value value) {
  if (!add(value.getDefiningOp()) ||
      tilings[value.getDefiningOp()].results[cast<OpResult>(value).getResultNumber()] !=
          TileKind::Tile)
    return false;
  return llvm::all_of(findUses(value), [&](OpOperand *use) { return add(use->getOwner()); });
}

/// Finds the operations on which the region depends. Those that in turn depend on the region's
/// results are added to the region. Returns false if one of these cannot be tiled.
bool TileRegion::close() {
  while (true) {
    operations = llvm::to_vector(llvm::make_first_range(tilings));
    llvm::sort(operations, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    llvm::SetVector<Operation *> found;
    auto collect = [&](Operation *user) {
      for (Value operand : user->getOperands())
        if (Operation *source = operand.getDefiningOp();
            source && !contains(source) && operations.front()->isBeforeInBlock(source))
          found.insert(source);
    };
    llvm::for_each(operations, collect);
    for (size_t i = 0; i < found.size(); ++i)
      collect(found[i]);
    needed = llvm::to_vector(found);
    llvm::sort(needed, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });

    llvm::DenseSet<Operation *> after;
    SmallVector<Operation *> between;
    for (Operation *op : needed)
      if (llvm::any_of(op->getOperands(), [&](Value operand) {
            Operation *source = operand.getDefiningOp();
            return source && (contains(source) || after.contains(source));
          })) {
        after.insert(op);
        if (!op->hasTrait<mtc::View>())
          between.push_back(op);
      }
    if (between.empty())
      break;
    if (!llvm::all_of(between, [&](Operation *op) { return add(op); }))
      return false;
  }
  // Views of the region's own results are emitted for each tile.
  llvm::erase_if(needed, [&](Operation *op) {
    return op->hasTrait<mtc::View>() && contains(rootOf(op->getResult(0)).getDefiningOp());
  });
  return true;
}

/// Adds producers and users of other large values that are tiled in any case.
void TileRegion::grow(int64_t bytes) {
  auto isLarge = [&](Value value) {
    return 2 * byteSize(cast<RankedTensorType>(value.getType())) >= bytes;
  };
  bool hasGrown = true;
  while (hasGrown) {
    hasGrown = false;
    llvm::SetVector<Value> large;
    for (Operation *op : operations) {
      const Tiles &tiling = tilings[op];
      for (OpOperand &operand : op->getOpOperands())
        if (tiling.operands[operand.getOperandNumber()] == TileKind::Tile &&
            isLarge(rootOf(operand.get())))
          large.insert(rootOf(operand.get()));
      for (auto [result, kind] : llvm::zip_equal(op->getResults(), tiling.results))
        if (kind == TileKind::Tile && isLarge(result))
          large.insert(result);
    }
    for (Value value : large) {
      if (contains(value.getDefiningOp()) && !isReadOutside(value))
        continue;
      TileRegion larger = *this;
      if (!value.getDefiningOp() || !larger.addAround(value) || !larger.close())
        continue;
      *this = std::move(larger);
      hasGrown = true;
    }
  }
}

bool TileRegion::isReadOutside(Value result) const {
  return llvm::any_of(findUses(result), [&](OpOperand *use) { return !contains(use->getOwner()); });
}

/// Returns whether the region can run at the position of its first operation: no variable that it
/// reads is written between its operations.
bool TileRegion::mayRunEarly() const {
  llvm::DenseSet<Attribute> read;
  auto collect = [&](Operation *op) {
    read.insert_range(readVariables(op));
    for (Value operand : op->getOperands())
      if (Operation *source = rootOf(operand).getDefiningOp())
        read.insert_range(readVariables(source));
  };
  llvm::for_each(operations, collect);
  llvm::for_each(needed, collect);
  for (Operation *op = operations.front(); op != operations.back(); op = op->getNextNode())
    if (llvm::any_of(writtenVariables(op),
                     [&](Attribute variable) { return read.contains(variable); }))
      return false;
  return true;
}

/// Returns whether tiles of outside operands and of assembled results start at multiples of the
/// arena's alignment.
bool TileRegion::isAligned() const {
  auto fits = [&](Value value) {
    const int64_t bytes = byteSize(cast<RankedTensorType>(value.getType())) / count;
    return paddedBytes(bytes) == bytes;
  };
  return llvm::all_of(operations, [&](Operation *op) {
    const Tiles &tiling = tilings.at(op);
    return llvm::all_of(op->getOpOperands(),
                        [&](OpOperand &operand) {
                          return tiling.operands[operand.getOperandNumber()] != TileKind::Tile ||
                                 contains(rootOf(operand.get()).getDefiningOp()) ||
                                 fits(operand.get());
                        }) &&
           llvm::all_of(llvm::zip_equal(op->getResults(), tiling.results), [&](auto result) {
             auto [value, kind] = result;
             return kind != TileKind::Tile || !isReadOutside(value) || fits(value);
           });
  });
}

std::optional<TileRegion> TileRegion::find(Value value, int64_t count,
                                           const MicroStepSplit *split) {
  TileRegion region(count, split);
  if (!value.getDefiningOp() || !region.addAround(value) || !region.close())
    return std::nullopt;
  region.grow(byteSize(cast<RankedTensorType>(value.getType())));
  if (!region.mayRunEarly() || !region.isAligned())
    return std::nullopt;
  region.split = nullptr; // Only needed to find the region.
  return region;
}
