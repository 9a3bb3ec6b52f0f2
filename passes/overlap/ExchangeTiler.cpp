//===- ExchangeTiler.cpp - Exchanges and contractions in tiles of rows ------------------------===//

#include "passes/overlap/ExchangeTiler.h"

#include "ir/interfaces/TargetInfo.h"
#include "passes/cost/Network.h"
#include "passes/cost/RankTraffic.h"

#include <numeric>

using namespace mlir;
using namespace mtc;

/// The maximum number of tiles that the cost model chooses: a fifth tile hides little more.
static constexpr int64_t maxCount = 4;
/// Tiles must save this part of the time, because the cost model has no overhead of small calls.
static constexpr double minGain = 0.05;
/// A contraction that is this many contractions away can be computed during an exchange.
static constexpr int64_t maxDistance = 4;

ExchangeTiler::ExchangeTiler(func::FuncOp function, OperationTimes &times, int64_t tiles)
    : function(function), times(times), tiles(tiles) {
  for (auto contraction : function.front().getOps<ContractOp>())
    numbers[contraction] = static_cast<int64_t>(numbers.size());
}

int64_t ExchangeTiler::run() {
  int64_t tiled = 0;
  for (auto collective : llvm::to_vector(function.front().getOps<CollectiveOpInterface>())) {
    Operation *op = collective;
    if (collective.getCollective().getPieces().size() != 1 ||
        nameOfGroup(collective.getCollective(), ProgramOp::find(function)) == "data")
      continue;
    contractions.clear();
    ranks = collective.getCollective().getRanks();
    piece = collective.getCollective().getPieces().front();
    if (ranks * piece != collective.getCollective().getTotals().front())
      continue;
    if (auto exchange = dyn_cast<AllToAllOp>(op))
      tiled += tileScatter(exchange) ? 1 : 0;
    else if (auto exchange = dyn_cast<AllGatherOp>(op))
      tiled += tileGather(exchange) ? 1 : 0;
  }
  return tiled;
}

static int64_t product(ArrayRef<int64_t> extents) {
  return std::accumulate(extents.begin(), extents.end(), int64_t{1}, std::multiplies<>());
}

/// Returns the number of elements of a row of lhs.
static int64_t rowOf(ContractOp contraction) {
  return product(shapeOf(contraction.getLhs()).take_back(contraction.getLhsContract().size()));
}

/// Returns whether the rows of lhs are those of the result: the contracted axes are its last ones.
static bool hasRows(ContractOp contraction) {
  const int64_t rank = typeOf(contraction.getLhs()).getRank();
  const auto contracted = static_cast<int64_t>(contraction.getLhsContract().size());
  return contraction.getLhsBatch().empty() && contracted > 0 && contracted < rank &&
         llvm::equal(contraction.getLhsContract(), llvm::seq(rank - contracted, rank)) &&
         rowOf(contraction) > 0;
}

/// Returns whether tiles of `count` of each rank's piece consist of rows of a contraction.
bool ExchangeTiler::isOfRows(ContractOp contraction, int64_t count) const {
  const int64_t rows = typeOf(contraction.getLhs()).getNumElements() / rowOf(contraction);
  return rows % (ranks * count) == 0;
}

/// Finds the contractions of which a value is a sum. Nothing else uses them.
bool ExchangeTiler::findContractions(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !value.hasOneUse())
    return false;
  if (auto contraction = dyn_cast<ContractOp>(op)) {
    contractions.push_back(contraction);
    return hasRows(contraction);
  }
  return isa<ReshapeOp, CastOp, NegOp, AddOp, SubOp>(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) { return findContractions(operand); });
}

/// Returns the time of contractions with the operands of the exchanged ones that can be computed
/// during the exchange: gradients of weights.
double ExchangeTiler::findHiddenSeconds() const {
  double seconds = 0;
  llvm::DenseSet<Operation *> counted(contractions.begin(), contractions.end());
  for (ContractOp contraction : contractions) {
    SmallVector<Value> same = {contraction.getLhs()};
    while (auto view = same.back().getDefiningOp<ReshapeOp>())
      same.push_back(view.getInput());
    for (Value value : same)
      for (Operation *user : value.getUsers())
        if (auto other = numbers.find(user);
            other != numbers.end() &&
            std::abs(other->second - numbers.lookup(contraction)) <= maxDistance &&
            counted.insert(user).second)
          seconds += times.of(user);
  }
  return seconds;
}

/// Returns the number of tiles with the shortest estimated time; 1 for none. `copied` are the
/// seconds of copies that tiles need, `hidden` those of the exchange that other operations hide.
int64_t ExchangeTiler::chooseCount(CollectiveAttr exchange, double copied, double hidden) {
  auto divides = [&](int64_t count) {
    // Tiles of gathered pieces are views, which start at multiples of the arena's alignment.
    const int64_t bytes = byteSize(RankedTensorType::get({piece / count}, exchange.getElement()));
    return piece % count == 0 && paddedBytes(bytes) == bytes &&
           llvm::all_of(contractions, [&](ContractOp each) { return isOfRows(each, count); });
  };
  if (tiles)
    return divides(tiles) ? tiles : 1;
  const StringRef network = ProgramOp::find(function).getRanksAttr().getNetwork();
  if (!Network::parse(network)->isAsynchronous)
    return 1;
  double computing = 0;
  for (ContractOp each : contractions)
    computing += times.of(each);
  auto secondsOf = [&](int64_t count) {
    auto tile = CollectiveAttr::get(exchange.getContext(), exchange.getKind(), exchange.getRanks(),
                                    exchange.getStride(), {piece / count},
                                    {exchange.getTotals().front() / count}, exchange.getElement());
    const double sending = estimateTransfer(tile, network),
                 own = computing / static_cast<double>(count);
    return own + static_cast<double>(count - 1) * std::max(own, sending) +
           std::max(0.0, sending - hidden) + (count > 1 ? copied : 0);
  };
  int64_t best = 1;
  double seconds = (1 - minGain) * secondsOf(1);
  for (int64_t count = 2; count <= maxCount; ++count)
    if (divides(count) && secondsOf(count) < seconds) {
      best = count;
      seconds = secondsOf(count);
    }
  return best;
}

/// Builds a contraction of some rows of lhs.
Value ExchangeTiler::buildContraction(TensorBuilder &b, ContractOp contraction, Value rows) {
  ArrayRef<int64_t> contracted =
      shapeOf(contraction.getLhs()).take_back(contraction.getLhsContract().size());
  SmallVector<int64_t> shape = {typeOf(rows).getNumElements() / product(contracted)};
  llvm::append_range(shape, contracted);
  Value tile =
      b.contract(b.reshape(rows, shape), contraction.getRhs(), {}, {},
                 llvm::to_vector(llvm::seq<int64_t>(1, static_cast<int64_t>(shape.size()))),
                 contraction.getRhsContract(), contraction.getType().getElementType());
  tile.setLoc(contraction.getLoc());
  tile.getDefiningOp()->setDiscardableAttrs(contraction->getDiscardableAttrDictionary());
  return tile;
}

/// Builds a tile of an exchanged value, flat.
Value ExchangeTiler::buildTile(TensorBuilder &b, Value value, int64_t tile) {
  Operation *op = value.getDefiningOp();
  const int64_t elements = ranks * piece / count;
  if (auto contraction = dyn_cast<ContractOp>(op)) {
    const int64_t own = typeOf(contraction.getLhs()).getNumElements() / (ranks * count);
    Value rows = b.reshape(contraction.getLhs(), {ranks, count, own});
    rows = b.slice(rows, {0, tile, 0}, {ranks, 1, own}, {1, 1, 1});
    return b.reshape(buildContraction(b, contraction, rows), {elements});
  }
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(buildTile(b, operand, tile));
  if (isa<ReshapeOp>(op))
    return operands.front();
  Operation *built = b.clone(*op);
  built->setOperands(operands);
  built->getResult(0).setType(RankedTensorType::get({elements}, typeOf(value).getElementType()));
  return built->getResult(0);
}

/// Erases a value and what only it uses.
static void eraseUnused(Value value, OperationTimes &times) {
  llvm::SetVector<Operation *> open;
  open.insert(value.getDefiningOp());
  while (!open.empty()) {
    Operation *op = open.pop_back_val();
    if (!isOpTriviallyDead(op))
      continue;
    for (Value operand : op->getOperands())
      if (Operation *source = operand.getDefiningOp())
        open.insert(source);
    times.notifyOperationErased(op);
    op->erase();
  }
}

namespace {

/// The reduction of received rows to one value.
struct RowReduction {
  SmallVector<Operation *> operations; ///< in an order that respects dependences
  Value result;
};

} // namespace

static bool isNarrowing(Operation *op) {
  return isa<CastOp>(op) && typeOf(op->getResult(0)).getElementTypeBitWidth() <
                                typeOf(op->getOperand(0)).getElementTypeBitWidth();
}

/// Returns the reduction, with a narrowing cast of the result. Returns nothing if the rows have
/// other users.
static std::optional<RowReduction> findReduction(AllToAllOp exchange) {
  RowReduction reduction;
  llvm::SmallSetVector<Value, 16> open;
  for (Operation *user : exchange.getRows().getUsers()) {
    auto row = dyn_cast<SliceOp>(user);
    if (!row || row.getType().getNumElements() != shapeOf(exchange.getRows())[1] ||
        row.getType().getDimSize(0) != 1)
      return std::nullopt;
    reduction.operations.push_back(row);
    open.insert(row);
  }
  for (bool hasChanged = true; std::exchange(hasChanged, false);)
    for (Value value : llvm::to_vector(open)) {
      if (!open.contains(value) || !value.hasOneUse())
        continue;
      Operation *user = *value.getUsers().begin();
      const bool isOfRows =
          isa<ReshapeOp>(user) || (open.size() == 1 && isNarrowing(user)) ||
          (isa<AddOp, MulOp, MaxOp, MinOp, AndOp, OrOp>(user) &&
           llvm::all_of(user->getOperands(), [&](Value each) { return open.contains(each); }));
      if (!isOfRows)
        continue;
      for (Value operand : user->getOperands())
        open.remove(operand);
      open.insert(user->getResult(0));
      reduction.operations.push_back(user);
      hasChanged = true;
    }
  if (open.size() != 1)
    return std::nullopt;
  reduction.result = open.front();
  return reduction;
}

/// Builds the reduction of the rows of a tile, flat.
static Value buildReduction(TensorBuilder &b, const RowReduction &reduction, Value rows) {
  const int64_t elements = shapeOf(rows)[1];
  llvm::DenseMap<Value, Value> built;
  for (Operation *op : reduction.operations) {
    Value &result = built[op->getResult(0)];
    if (auto row = dyn_cast<SliceOp>(op)) {
      result =
          b.reshape(b.slice(rows, {row.getOffsets()[0], 0}, {1, elements}, {1, 1}), {elements});
    } else if (isa<ReshapeOp>(op)) {
      result = built.at(op->getOperand(0));
    } else {
      Operation *clone = b.clone(*op);
      for (OpOperand &operand : clone->getOpOperands())
        operand.set(built.at(operand.get()));
      clone->getResult(0).setType(
          RankedTensorType::get({elements}, typeOf(op->getResult(0)).getElementType()));
      result = clone->getResult(0);
    }
  }
  return built.at(reduction.result);
}

/// reduce(all_to_all(contract(x))) => concatenate(reduce(all_to_all(contract(tile of x))), …)
bool ExchangeTiler::tileScatter(AllToAllOp exchange) {
  const std::optional<RowReduction> reduction = findReduction(exchange);
  if (!reduction || !findContractions(exchange.getValues().front()))
    return false;
  const TargetInfo target = TargetInfo::of(function);
  double copied = 0;
  for (ContractOp each : contractions)
    copied += target.getCopySeconds(byteSize(typeOf(each.getLhs())));
  count = chooseCount(exchange.getCollective(), copied, tiles ? 0 : findHiddenSeconds());
  if (count == 1)
    return false;
  TensorBuilder b(exchange.getLoc(), exchange.getContext());
  b.setInsertionPoint(exchange);
  const Value value = exchange.getValues().front();
  SmallVector<Value> rows;
  for (int64_t tile = 0; tile < count; ++tile) {
    auto part = b.create<AllToAllOp>(ValueRange(buildTile(b, value, tile)),
                                     ArrayRef<int64_t>{piece / count},
                                     RankGroup{ranks, static_cast<int64_t>(exchange.getStride())});
    part->setDiscardableAttrs(exchange->getDiscardableAttrDictionary());
    rows.push_back(part.getRows());
  }
  SmallVector<Value> sums;
  for (Value each : rows)
    sums.push_back(buildReduction(b, *reduction, each));
  Value result = reduction->result;
  result.replaceAllUsesWith(b.reshape(b.concatenate(sums, 0), shapeOf(result)));
  eraseUnused(result, times);
  exchange.erase();
  eraseUnused(value, times);
  return true;
}

/// Collects the contractions that use a value as lhs; false if something else uses it.
static bool findUsers(Value value, SmallVectorImpl<ContractOp> &contractions) {
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<ReshapeOp>(user))
      return findUsers(user->getResult(0), contractions);
    auto contraction = dyn_cast<ContractOp>(user);
    if (!contraction || use.getOperandNumber() != 0 || !hasRows(contraction))
      return false;
    contractions.push_back(contraction);
    return true;
  });
}

/// contract(all_gather(x)) => concatenate(contract(all_gather(tile of x)), …)
bool ExchangeTiler::tileGather(AllGatherOp exchange) {
  const Value value = exchange.getValues().front();
  if (!findUsers(value, contractions) || contractions.empty())
    return false;
  const TargetInfo target = TargetInfo::of(function);
  double copied = 0;
  for (ContractOp each : contractions)
    copied += target.getCopySeconds(byteSize(each.getType()));
  count = chooseCount(exchange.getCollective(), copied, /*hidden=*/0);
  if (count == 1)
    return false;
  llvm::sort(contractions,
             [](ContractOp a, ContractOp c) { return a->isBeforeInBlock(c.getOperation()); });
  TensorBuilder b(exchange.getLoc(), exchange.getContext());
  b.setInsertionPoint(exchange);
  Type element = typeOf(value).getElementType();
  auto part = RankedTensorType::get({piece / count}, element),
       whole = RankedTensorType::get({ranks, piece / count}, element);
  SmallVector<Value> gathered;
  for (int64_t tile = 0; tile < count; ++tile) {
    Value own = b.create<TileOp>(part, exchange.getPieces().front(), tile * (piece / count));
    auto all = b.create<AllGatherOp>(TypeRange(whole), own,
                                     RankGroup{ranks, static_cast<int64_t>(exchange.getStride())});
    all->setDiscardableAttrs(exchange->getDiscardableAttrDictionary());
    gathered.push_back(all.getResult(0));
  }
  for (ContractOp contraction : contractions) {
    b.setInsertionPoint(contraction);
    SmallVector<Value> parts;
    for (Value rows : gathered) {
      Value result = buildContraction(b, contraction, rows);
      parts.push_back(b.reshape(result, {ranks, typeOf(result).getNumElements() / ranks}));
    }
    const Value lhs = contraction.getLhs();
    contraction.replaceAllUsesWith(
        b.reshape(b.concatenate(parts, 1), contraction.getType().getShape()));
    times.notifyOperationErased(contraction);
    contraction.erase();
    eraseUnused(lhs, times);
  }
  if (exchange->use_empty())
    exchange.erase();
  return true;
}
