//===- MinCut.h - Minimum cut of a flow graph -------------------------------------------------===//

#ifndef MTC_PASSES_RECOMPUTE_MINCUT_H
#define MTC_PASSES_RECOMPUTE_MINCUT_H

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <limits>
#include <vector>

namespace mtc {

/// A directed graph with edge capacities. Computes the maximum flow by blocking flows (Dinic, 1970)
/// in O(V^2 E), and much faster on graphs of typical programs.
class FlowGraph {
public:
  static constexpr int64_t kUnbounded = std::numeric_limits<int64_t>::max() / 4;
  static constexpr unsigned kSource = 0, kSink = 1;

  unsigned addNode() {
    outgoing.emplace_back();
    return outgoing.size() - 1;
  }
  void addEdge(unsigned from, unsigned to, int64_t capacity);

  /// Returns the nodes on the sink's side of the minimum cut that is closest to the sink.
  llvm::BitVector findSinkSide();

private:
  struct Edge {
    unsigned to;
    /// Residual capacity. The reverse edge has the index with the lowest bit flipped.
    int64_t rest;
  };

  bool findLevels();
  int64_t push();

  std::vector<Edge> edges;
  std::vector<llvm::SmallVector<unsigned, 4>> outgoing{2};
  std::vector<int> levels;
  std::vector<unsigned> next;
};

} // namespace mtc

#endif // MTC_PASSES_RECOMPUTE_MINCUT_H
