//===- OrderModel.h - Peak memory model of schedules of a function ----------------------------===//

#ifndef MTC_PASSES_MEMORY_ORDERMODEL_H
#define MTC_PASSES_MEMORY_ORDERMODEL_H

#include "passes/memory/FunctionMemory.h"
#include "passes/memory/LiveProfile.h"

namespace mtc {

/// Dependence graph of the operations of a function that execute at run time or hold memory, with
/// the buffers they access, and a schedule. Scores moves cheaply, under the assumption that the
/// assignment of values to buffers does not change.
class OrderModel {
public:
  /// The schedule is that of the function.
  explicit OrderModel(const FunctionMemory &function);

  /// Returns the number of nodes. The last one is the terminator.
  unsigned size() const { return static_cast<unsigned>(nodes.size()); }
  mlir::Operation *getOperation(unsigned node) const { return nodes[node].op; }
  /// Direct predecessors and successors of a node in the dependence graph, without duplicates. Of
  /// two nodes that depend on each other, the one that runs first precedes the other one.
  mlir::ArrayRef<unsigned> before(unsigned node) const { return nodes[node].before; }
  mlir::ArrayRef<unsigned> after(unsigned node) const { return nodes[node].after; }

  /// A buffer and the nodes that access it.
  struct Touched {
    int64_t bytes = 0;
    bool staysToEnd = false;
    mlir::SmallVector<unsigned, 4> by; ///< In schedule order, except for an undecided move.
    unsigned first = 0, last = 0;      ///< The first and the last one.
  };
  /// The accessed buffers, by decreasing size.
  mlir::ArrayRef<Touched> getBuffers() const { return buffers; }

  bool isBefore(unsigned a, unsigned b) const { return profile.isBefore(a, b); }
  unsigned getPrevious(unsigned node) const { return profile.getPrevious(node); }
  OrderScore score() { return profile.score(); }
  /// Returns the first node of the most recently scored schedule at which the peak is reached.
  unsigned findPeak() const { return profile.findPeak(); }
  /// Returns the peak of the nodes from `first` to `last`.
  int64_t findPeakBetween(unsigned first, unsigned last) {
    return profile.findPeakBetween(first, last);
  }
  /// Returns the nodes in schedule order.
  mlir::SmallVector<unsigned, 0> getOrder() const { return profile.getOrder(); }

  /// Moves nodes, given in schedule order, to directly after another node or `LiveProfile::kBegin`,
  /// and returns the score. `keepMove` or `undoMove` must follow.
  OrderScore move(mlir::ArrayRef<unsigned> group, unsigned previous);
  void keepMove();
  void undoMove();

private:
  struct Node {
    mlir::Operation *op;
    mlir::SmallVector<unsigned, 4> before, after;
    mlir::SmallVector<unsigned, 2> buffers = {};
  };
  /// Position of a moved node before the move.
  struct Moved {
    unsigned node, previous;
  };
  /// Ends of a buffer's live range before the move.
  struct Ends {
    unsigned buffer, first, last;
  };

  void addTouches(const FunctionMemory &function);
  void addHazards(const FunctionMemory &function);
  void addEdge(const PlannedOperation *first, const PlannedOperation *second);
  void sortBuffers();
  void setEnds(unsigned buffer, unsigned first, unsigned last);
  void addLiveRange(const Touched &buffer, int64_t bytes);

  std::vector<Node> nodes;
  std::vector<Touched> buffers;
  llvm::DenseMap<const PlannedOperation *, unsigned> numbers; ///< only while the graph is built
  LiveProfile profile{0};
  mlir::SmallVector<Moved> moved; ///< by the undecided move, in the order of the changes
  mlir::SmallVector<Ends> ends;
};

} // namespace mtc

#endif // MTC_PASSES_MEMORY_ORDERMODEL_H
