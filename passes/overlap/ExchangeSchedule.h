//===- ExchangeSchedule.h - Schedule of exchanges and computation -----------------------------===//

#ifndef MTC_PASSES_OVERLAP_EXCHANGESCHEDULE_H
#define MTC_PASSES_OVERLAP_EXCHANGESCHEDULE_H

#include "passes/cost/OperationTimes.h"
#include "passes/memory/OrderModel.h"

namespace mtc {

/// Returns whether an operation sends values to other ranks.
bool isExchange(mlir::Operation *op, OperationTimes &times);

/// Simulates a function in which exchanges between ranks run one after another while other
/// operations compute, and moves operations so that fewer of them wait for exchanges.
class ExchangeSchedule {
public:
  /// The live bytes at which an operation moves stay below `limit`. Without one, nothing moves.
  ExchangeSchedule(const FunctionMemory &function, OperationTimes &times,
                   std::optional<int64_t> limit);

  /// Returns the seconds of the function, with the moves.
  double run();
  const OrderModel &getModel() const { return model; }
  int64_t getMoves() const { return moves; }

private:
  struct Node {
    double seconds = 0;
    bool isExchange = false, isHold = false, isFixed = false;
    bool isDelayed = false; ///< `delay` has moved the operation.
    mlir::SmallVector<unsigned, 4> before = {}, after = {};
    double ended = 0;                ///< when the exchange has ended
    double now = 0, networkFree = 0; ///< the clocks before the operation
  };

  void addDependences(const FunctionMemory &function);
  void holdSentValues();
  double readyTime(unsigned node) const;
  size_t placeBefore(size_t at) const;
  bool precede(mlir::ArrayRef<unsigned> others, size_t place) const;
  bool move(size_t from, size_t place);
  bool startEarly(size_t &at);
  bool fillWithEarlier(size_t &at, double ready);
  bool fillWithLater(size_t &at, double ready);

  OrderModel model;
  const std::optional<int64_t> limit;
  int64_t moves = 0;
  std::vector<Node> nodes;
  mlir::SmallVector<unsigned, 0> order; ///< nodes by position
  mlir::SmallVector<size_t, 0> position;
  double now = 0;         ///< when the next operation can compute
  double networkFree = 0; ///< when the last exchange has ended
};

} // namespace mtc

#endif // MTC_PASSES_OVERLAP_EXCHANGESCHEDULE_H
