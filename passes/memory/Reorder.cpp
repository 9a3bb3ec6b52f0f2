//===- Reorder.cpp - Reorders operations to reduce peak memory --------------------------------===//
//
// Local search by single moves. Of the buffers that are live at the peak, a producer whose result
// is used after the peak moves to after the peak, or the last users move to before the peak. A move
// includes the operations that depend on it. Moves that improve the model's score are verified by
// planning the function again. As long as the plans have the score of the model, twice as many
// moves are verified together, so that there are far fewer plans than moves.
//
//===------------------------------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/memory/MemoryAnalysis.h"
#include "passes/memory/OrderModel.h"

#include "mlir/IR/Remarks.h"

namespace mtc {
#define GEN_PASS_DEF_REORDER
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

/// Nodes that move together, in schedule order.
using Moved = SmallVector<unsigned, 8>;

/// Identifies a move: the operation it starts from, and whether that operation moves earlier.
using MoveName = std::pair<Operation *, unsigned>;
using RefusedMoves = llvm::DenseSet<MoveName>;

struct Move {
  MoveName name;
  OrderModel::Order order;
};

/// Finds moves that lower the peak of a schedule.
class MoveFinder {
public:
  MoveFinder(OrderModel &model, const RefusedMoves &refused, int64_t &work)
      : model(model), refused(refused), work(work), best(model.scoreAsItIs()),
        peak(model.getPeakPosition()), belongs(model.size()) {}

  /// Returns a better order, or nothing if there is none or the work limit is reached.
  std::optional<Move> find() {
    for (unsigned number : findAlive()) {
      const OrderModel::Touched &buffer = model.getBuffers()[number];
      const unsigned first = *llvm::min_element(buffer.by), last = *llvm::max_element(buffer.by);
      MoveName later = {model.getOperation(first), 0}, earlier = {model.getOperation(last), 1};
      if (!refused.contains(later) && tryLater(first))
        return Move{later, found};
      if (last > peak && !refused.contains(earlier) && tryEarlier(buffer))
        return Move{earlier, found};
      if (work <= 0)
        break;
    }
    return std::nullopt;
  }

private:
  /// Returns the buffers that are live at the peak, by decreasing size.
  SmallVector<unsigned, 0> findAlive() const {
    ArrayRef<OrderModel::Touched> buffers = model.getBuffers();
    SmallVector<unsigned, 0> alive;
    for (auto [number, buffer] : llvm::enumerate(buffers))
      if (!buffer.by.empty() && buffer.bytes * leastPart >= best.peak &&
          *llvm::min_element(buffer.by) <= peak && peak <= *llvm::max_element(buffer.by))
        alive.push_back(number);
    llvm::sort(alive, [&](unsigned a, unsigned b) {
      return std::pair(-buffers[a].bytes, a) < std::pair(-buffers[b].bytes, b);
    });
    return alive;
  }

  /// Whether the schedule improves if `group` runs immediately before the node `at`.
  bool isBetter(const Moved &group, unsigned at) {
    const auto size = static_cast<unsigned>(model.size());
    work -= size;
    OrderModel::Order changed;
    changed.reserve(size);
    for (unsigned node = 0; node < size; ++node) {
      if (node == at)
        llvm::append_range(changed, group);
      if (!belongs.test(node))
        changed.push_back(node);
    }
    if (!(model.score(changed) < best))
      return false;
    found = std::move(changed);
    return true;
  }

  void take(Moved &group, unsigned node) {
    group.push_back(node);
    belongs.set(node);
  }

  /// Tries to run an operation immediately before its first user after the peak.
  bool tryLater(unsigned first) {
    belongs.reset();
    Moved group;
    take(group, first);
    for (unsigned node = first + 1; node <= peak; ++node)
      if (llvm::any_of(model.before(node), [&](unsigned other) { return belongs.test(other); })) {
        take(group, node);
        if (group.size() > mostMoved)
          return false;
      }
    for (unsigned round = 0; round < rounds; ++round) {
      unsigned at = firstBehind(group);
      if (at == model.size() || belongs.test(model.size() - 1))
        return false;
      if (isBetter(group, at))
        return true;
      if (!takeProducers(group))
        return false;
    }
    return false;
  }

  /// Returns the first node after the peak that depends on the group.
  unsigned firstBehind(const Moved &group) const {
    auto at = static_cast<unsigned>(model.size());
    for (unsigned node : group)
      for (unsigned other : model.after(node))
        if (!belongs.test(other))
          at = std::min(at, other);
    return at;
  }

  /// Adds the producers that only the group uses. Returns false if there are none, or too many.
  bool takeProducers(Moved &group) {
    size_t before = group.size();
    for (size_t i = 0; i < before; ++i)
      for (unsigned other : model.before(group[i]))
        if (!belongs.test(other) &&
            llvm::all_of(model.after(other), [&](unsigned reader) { return belongs.test(reader); }))
          take(group, other);
    llvm::sort(group);
    return group.size() > before && group.size() <= mostMoved;
  }

  /// Tries to run the users of a buffer before the peak.
  bool tryEarlier(const OrderModel::Touched &buffer) {
    belongs.reset();
    Moved group;
    for (unsigned node : buffer.by)
      if (node > peak)
        take(group, node);
    // Producers that these users need move, too.
    for (size_t i = 0; i < group.size(); ++i)
      for (unsigned other : model.before(group[i])) {
        if (other == peak || group.size() > mostMoved)
          return false;
        if (other > peak && !belongs.test(other))
          take(group, other);
      }
    for (unsigned round = 0; round < rounds; ++round) {
      llvm::sort(group);
      if (belongs.test(model.size() - 1))
        return false;
      if (isBetter(group, peak) || isBetter(group, earliest(group)))
        return true;
      if (!takeReaders(group))
        return false;
    }
    return false;
  }

  /// Returns the position after the last node on which the group depends.
  unsigned earliest(const Moved &group) const {
    unsigned at = 0;
    for (unsigned node : group)
      for (unsigned other : model.before(node))
        if (!belongs.test(other))
          at = std::max(at, other + 1);
    return at;
  }

  /// Adds the users that depend only on the group and on nodes before the peak. Returns false if
  /// there are none, or too many.
  bool takeReaders(Moved &group) {
    size_t before = group.size();
    for (size_t i = 0; i < before; ++i)
      for (unsigned other : model.after(group[i]))
        if (!belongs.test(other) && llvm::all_of(model.before(other), [&](unsigned needed) {
              return needed < peak || belongs.test(needed);
            }))
          take(group, other);
    return group.size() > before && group.size() <= mostMoved;
  }

  /// Buffers smaller than 1/leastPart of the peak are not worth a move.
  static constexpr int64_t leastPart = 4096;
  static constexpr size_t mostMoved = 12;
  static constexpr unsigned rounds = 4;

  OrderModel &model;
  const RefusedMoves &refused;
  int64_t &work;
  const OrderScore best;
  const unsigned peak;
  llvm::BitVector belongs; ///< Nodes of the current group.
  OrderModel::Order found;
};

SmallVector<Operation *, 0> textOf(Block &block) {
  return llvm::map_to_vector<0>(block, [](Operation &op) { return &op; });
}

void setText(Block &block, ArrayRef<Operation *> text, MemoryAnalysis &analysis) {
  for (Operation *op : text) {
    op->moveBefore(&block, block.end());
    analysis.notifyOperationInserted(op, {});
  }
}

/// Returns the operations of a block in the order of the model. Views and reads are placed
/// immediately before their first user.
SmallVector<Operation *, 0> reordered(ArrayRef<Operation *> text, const OrderModel &model) {
  SmallVector<Operation *, 0> result;
  llvm::DenseSet<Operation *> nodes, written;
  for (unsigned node = 0; node < model.size(); ++node)
    nodes.insert(model.getOperation(node));
  auto write = [&](auto &self, Operation *op) -> void {
    if (!written.insert(op).second)
      return;
    for (Value operand : op->getOperands())
      if (Operation *needed = operand.getDefiningOp(); needed && !nodes.contains(needed))
        self(self, needed);
    result.push_back(op);
  };
  for (unsigned node = 0; node + 1 < model.size(); ++node)
    write(write, model.getOperation(node));
  for (Operation *op : text) // Operations without users, and the terminator.
    write(write, op);
  return result;
}

class ReorderPass : public mtc::impl::ReorderBase<ReorderPass> {
  void runOnOperation() override {
    MemoryAnalysis analysis(getOperation());
    if (failed(analysis.update()))
      return signalPassFailure();
    for (const FunctionMemory &function : analysis.getFunctions())
      if (failed(reorder(function, analysis)))
        return signalPassFailure();
  }

  LogicalResult reorder(const FunctionMemory &function, MemoryAnalysis &analysis) {
    Block &block = function.getFunction().front();
    auto planned = std::make_unique<OrderModel>(function);
    OrderScore score = planned->scoreAsItIs();
    const int64_t before = score.peak;
    int64_t work = mostWork, taken = 0, verified = 0;
    RefusedMoves refused;
    for (size_t together = 1; work > 0;) {
      OrderModel model = *planned;
      SmallVector<MoveName> names;
      while (names.size() < together && work > 0) {
        std::optional<Move> move = MoveFinder(model, refused, work).find();
        if (!move)
          break;
        names.push_back(move->name);
        model.reorder(move->order);
      }
      if (names.empty())
        break;
      SmallVector<Operation *, 0> kept = textOf(block);
      setText(block, reordered(kept, model), analysis);
      ++verified;
      if (failed(analysis.update()))
        return failure();
      auto changed = std::make_unique<OrderModel>(function);
      const OrderScore reached = changed->scoreAsItIs();
      if (reached < score) {
        taken += static_cast<int64_t>(names.size());
        together = reached == model.scoreAsItIs() ? 2 * names.size()
                                                  : std::max<size_t>(names.size() / 2, 1);
        planned = std::move(changed);
        score = reached;
        continue;
      }
      if (names.size() == 1)
        refused.insert(names.front());
      together = std::max<size_t>(names.size() / 2, 1);
      setText(block, kept, analysis);
      if (failed(analysis.update()))
        return failure();
      planned = std::make_unique<OrderModel>(function);
    }
    moves += taken;
    plans += verified;
    if (taken)
      remark::passed(function.getFunction().getLoc(),
                     remark::RemarkOpts::name("reordered").category("mtc-reorder"))
          << remark::add("{0} has a peak of {1} bytes instead of {2}, by {3} moves in {4} plans",
                         function.getFunction().getSymName(), score.peak, before, taken, verified);
    return success();
  }

  /// Limit on the number of visited operations.
  static constexpr int64_t mostWork = 100'000'000;
};

} // namespace
