//===- OrderModel.h - Peak memory model of schedules of a function ----------------------------===//

#ifndef MTC_PASSES_MEMORY_ORDERMODEL_H
#define MTC_PASSES_MEMORY_ORDERMODEL_H

#include "passes/memory/FunctionMemory.h"

namespace mtc {

/// Score of a schedule: its peak in bytes and the number of operations at which the peak is
/// reached. Lower is better.
struct OrderScore {
  int64_t peak, times;
  auto operator<=>(const OrderScore &) const = default;
};

/// Dependence graph of the operations of a function that execute at run time, with the buffers they
/// access. Scores other schedules cheaply, under the assumption that the assignment of values
/// to buffers does not change.
class OrderModel {
public:
  /// Node indices in execution order.
  using Order = mlir::SmallVector<unsigned, 0>;

  explicit OrderModel(const FunctionMemory &function);

  /// Returns the number of nodes. Nodes are numbered in the current schedule's order.
  size_t size() const { return nodes.size(); }
  OrderScore score(const Order &order);
  OrderScore scoreAsItIs();
  /// Makes `order` the schedule: node i becomes that of number order[i].
  void reorder(const Order &order);
  /// Returns the first position of the most recently scored order at which the peak is reached.
  unsigned getPeakPosition() const { return peakPosition; }

  mlir::Operation *getOperation(unsigned node) const { return nodes[node].op; }
  /// Direct predecessors and successors of a node in the dependence graph, without duplicates.
  mlir::ArrayRef<unsigned> before(unsigned node) const { return nodes[node].before; }
  mlir::ArrayRef<unsigned> after(unsigned node) const { return nodes[node].after; }

  /// A buffer and the nodes that access it.
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
  llvm::DenseMap<const PlannedOperation *, unsigned> numbers; ///< only while the graph is built
  unsigned peakPosition = 0;
  mlir::SmallVector<unsigned, 0> places; ///< position of each node in the order being scored
  mlir::SmallVector<int64_t, 0> live;
};

} // namespace mtc

#endif // MTC_PASSES_MEMORY_ORDERMODEL_H
