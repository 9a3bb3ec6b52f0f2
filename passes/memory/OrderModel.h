//===- OrderModel.h - What is alive in an order of a function's operations --------------------===//

#ifndef MTC_PASSES_MEMORY_ORDERMODEL_H
#define MTC_PASSES_MEMORY_ORDERMODEL_H

#include "passes/memory/FunctionMemory.h"

namespace mtc {

/// How good an order is: the most that is alive, and at how many operations it is.
struct OrderScore {
  int64_t peak, times;
  auto operator<=>(const OrderScore &) const = default;
};

/// The operations of a function that need time, with what has to run before what and the buffers
/// that they touch. Other orders are scored by additions, as if the same values shared buffers in
/// them.
class OrderModel {
public:
  /// Indices of nodes in the order in which they run.
  using Order = mlir::SmallVector<unsigned, 0>;

  explicit OrderModel(const FunctionMemory &function);

  /// How many nodes there are. They are numbered in the order in which the function runs them.
  size_t size() const { return nodes.size(); }
  OrderScore score(const Order &order);
  OrderScore scoreAsItIs();
  /// The first place of an order, as scored last, at which the most is alive.
  unsigned getPeakPosition() const { return peakPosition; }

  mlir::Operation *getOperation(unsigned node) const { return nodes[node].op; }
  /// Nodes that must run before, or after, a node: direct ones, each once.
  mlir::ArrayRef<unsigned> before(unsigned node) const { return nodes[node].before; }
  mlir::ArrayRef<unsigned> after(unsigned node) const { return nodes[node].after; }

  /// A buffer and the nodes that touch it.
  struct Touched {
    int64_t bytes = 0;
    bool staysToEnd = false;
    mlir::SmallVector<unsigned, 4> by;
  };
  mlir::ArrayRef<Touched> getBuffers() const { return buffers; }

private:
  struct Node {
    mlir::Operation *op;
    mlir::SmallVector<unsigned, 4> before, after;
  };

  void addTouches(const FunctionMemory &function);
  void addHazards(const FunctionMemory &function);
  void addEdge(const PlannedOperation *first, const PlannedOperation *second);

  std::vector<Node> nodes;
  std::vector<Touched> buffers;
  llvm::DenseMap<const PlannedOperation *, unsigned> numbers;
  unsigned peakPosition = 0;
  mlir::SmallVector<unsigned, 0> places; ///< of the nodes, in the order that is being scored
  mlir::SmallVector<int64_t, 0> live;
};

} // namespace mtc

#endif // MTC_PASSES_MEMORY_ORDERMODEL_H
