//===- Reorder.cpp - Reorders operations to reduce peak memory --------------------------------===//
//
// Local search by single moves. For a buffer that is live at the peak, either the producer is moved
// after the peak, if the result is only used there, or the last users are moved before the peak. A
// move includes the operations that depend on it. Moves that improve the model's score are verified
// by planning the function again. As long as the plans confirm the scores of the model, the number
// of moves that are verified together is doubled, so that there are far fewer plans than moves.
//
//===------------------------------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/memory/MemoryAnalysis.h"
#include "passes/memory/OrderText.h"

#include "mlir/IR/Remarks.h"

namespace mtc {
#define GEN_PASS_DEF_REORDER
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

/// Identifies a move: the operation it starts from, and whether that operation moves earlier.
using MoveName = std::pair<Operation *, unsigned>;
using RefusedMoves = llvm::DenseSet<MoveName>;

/// Finds moves that lower the peak of a schedule.
class MoveFinder {
public:
  MoveFinder(OrderModel &model, const RefusedMoves &refused, int64_t &work)
      : model(model), refused(refused), work(work), belongs(model.size()) {}

  /// Moves operations such that the schedule improves. Returns nothing if there is no such move or
  /// the work limit is reached.
  std::optional<MoveName> move() {
    best = model.score();
    peak = model.findPeak();
    for (const OrderModel::Touched &buffer : model.getBuffers()) {
      if (buffer.bytes * minPart < best.peak || --work <= 0)
        break;
      const unsigned first = buffer.first, last = buffer.last;
      if (model.isBefore(peak, first) || model.isBefore(last, peak))
        continue; // The buffer is not live at the peak.
      const MoveName later = {model.getOperation(first), 0},
                     earlier = {model.getOperation(last), 1};
      if (!refused.contains(later) && tryLater(first))
        return later;
      if (model.isBefore(peak, last) && !refused.contains(earlier) && tryEarlier(buffer))
        return earlier;
    }
    return std::nullopt;
  }

private:
  /// Moves the group to directly after a node if the schedule improves.
  bool moveIfBetter(unsigned previous) {
    work -= workOfScore;
    const bool isBetter = model.move(group, previous) < best;
    isBetter ? model.keepMove() : model.undoMove();
    return isBetter;
  }

  /// Returns the last node before `node` that is not in the group.
  unsigned getPreviousOther(unsigned node) const {
    do
      node = model.getPrevious(node);
    while (node != LiveProfile::kBegin && belongs.test(node));
    return node;
  }

  void clear() {
    for (unsigned node : group)
      belongs.reset(node);
    group.clear();
  }

  void take(unsigned node) {
    group.push_back(node);
    belongs.set(node);
  }

  bool isTooLarge() const { return group.size() > maxMoved; }

  void sort() {
    llvm::sort(group, [&](unsigned a, unsigned b) { return model.isBefore(a, b); });
  }

  /// Tries to run an operation immediately before its first user after the peak.
  bool tryLater(unsigned first) {
    clear();
    take(first);
    for (size_t i = 0; i < group.size(); ++i)
      for (unsigned other : model.after(group[i]))
        if (!belongs.test(other) && !model.isBefore(peak, other)) {
          take(other);
          if (isTooLarge())
            return false;
        }
    sort();
    for (unsigned round = 0; round < rounds; ++round) {
      std::optional<unsigned> at = firstAfter();
      if (!at || belongs.test(model.size() - 1))
        return false;
      if (moveIfBetter(getPreviousOther(*at)))
        return true;
      if (!takeProducers())
        return false;
    }
    return false;
  }

  /// Returns the first node after the peak that depends on the group.
  std::optional<unsigned> firstAfter() const {
    std::optional<unsigned> at;
    for (unsigned node : group)
      for (unsigned other : model.after(node))
        if (!belongs.test(other) && (!at || model.isBefore(other, *at)))
          at = other;
    return at;
  }

  /// Adds the producers that only the group uses. Returns false if there are none, or too many.
  bool takeProducers() {
    size_t before = group.size();
    for (size_t i = 0; i < before; ++i)
      for (unsigned other : model.before(group[i]))
        if (!belongs.test(other) &&
            llvm::all_of(model.after(other), [&](unsigned user) { return belongs.test(user); }))
          take(other);
    sort();
    return group.size() > before && !isTooLarge();
  }

  /// Tries to run the users of a buffer before the peak.
  bool tryEarlier(const OrderModel::Touched &buffer) {
    clear();
    for (unsigned node : buffer.by)
      if (model.isBefore(peak, node))
        take(node);
    // Producers that these users need move, too.
    for (size_t i = 0; i < group.size(); ++i)
      for (unsigned other : model.before(group[i])) {
        if (other == peak || isTooLarge())
          return false;
        if (model.isBefore(peak, other) && !belongs.test(other))
          take(other);
      }
    for (unsigned round = 0; round < rounds; ++round) {
      sort();
      if (belongs.test(model.size() - 1))
        return false;
      if (moveIfBetter(model.getPrevious(peak)) || moveIfBetter(earliest()))
        return true;
      if (!takeUsers())
        return false;
    }
    return false;
  }

  /// Returns the last node on which the group depends, or the beginning.
  unsigned earliest() const {
    unsigned previous = LiveProfile::kBegin;
    for (unsigned node : group)
      for (unsigned other : model.before(node))
        if (!belongs.test(other) &&
            (previous == LiveProfile::kBegin || model.isBefore(previous, other)))
          previous = other;
    return previous;
  }

  /// Adds the users that depend only on the group and on nodes before the peak. Returns false if
  /// there are none, or too many.
  bool takeUsers() {
    size_t before = group.size();
    for (size_t i = 0; i < before; ++i)
      for (unsigned other : model.after(group[i]))
        if (!belongs.test(other) && llvm::all_of(model.before(other), [&](unsigned needed) {
              return model.isBefore(needed, peak) || belongs.test(needed);
            }))
          take(other);
    return group.size() > before && !isTooLarge();
  }

  /// Moves do not pay off for buffers smaller than 1/minPart of the peak.
  static constexpr int64_t minPart = 4096;
  static constexpr size_t maxMoved = 12;
  static constexpr unsigned rounds = 4;
  static constexpr int64_t workOfScore = 512;

  OrderModel &model;
  const RefusedMoves &refused;
  int64_t &work;
  OrderScore best = {};
  unsigned peak = 0;
  SmallVector<unsigned> group; ///< Nodes that move together.
  llvm::BitVector belongs;     ///< Nodes of the group.
};

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
    OrderScore score = planned->score();
    const int64_t before = score.peak;
    int64_t work = maxWork, taken = 0, verified = 0;
    RefusedMoves refused;
    for (size_t together = 1; work > 0;) {
      OrderModel model = *planned;
      MoveFinder finder(model, refused, work);
      SmallVector<MoveName> names;
      while (names.size() < together && work > 0) {
        std::optional<MoveName> name = finder.move();
        if (!name)
          break;
        names.push_back(*name);
      }
      if (names.empty())
        break;
      SmallVector<Operation *, 0> kept = textOf(block);
      setText(block, reordered(kept, model), analysis);
      ++verified;
      if (failed(analysis.update()))
        return failure();
      auto changed = std::make_unique<OrderModel>(function);
      const OrderScore reached = changed->score();
      if (reached < score) {
        taken += static_cast<int64_t>(names.size());
        together =
            reached == model.score() ? 2 * names.size() : std::max<size_t>(names.size() / 2, 1);
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

  /// Limit on the number of visited operations and buffers.
  static constexpr int64_t maxWork = 100'000'000;
};

} // namespace
