//===- MinCut.cpp - Minimum cut of a flow graph -----------------------------------------------===//

#include "passes/recompute/MinCut.h"

#include <algorithm>

using namespace mtc;

void FlowGraph::addEdge(unsigned from, unsigned to, int64_t capacity) {
  outgoing[from].push_back(edges.size());
  edges.push_back({to, capacity});
  outgoing[to].push_back(edges.size());
  edges.push_back({from, 0});
}

/// Breadth-first search from the source over edges with residual capacity.
bool FlowGraph::findLevels() {
  levels.assign(outgoing.size(), -1);
  levels[kSource] = 0;
  std::vector<unsigned> queue{kSource};
  for (size_t i = 0; i < queue.size(); ++i)
    for (unsigned edge : outgoing[queue[i]])
      if (unsigned to = edges[edge].to; edges[edge].rest > 0 && levels[to] < 0) {
        levels[to] = levels[queue[i]] + 1;
        queue.push_back(to);
      }
  return levels[kSink] >= 0;
}

/// Augments the flow along one path. Depth-first search with an explicit stack, since paths are as
/// long as models are deep.
int64_t FlowGraph::push() {
  llvm::SmallVector<unsigned> path;
  unsigned node = kSource;
  while (node != kSink) {
    bool advanced = false;
    for (unsigned &i = next[node]; i < outgoing[node].size(); ++i) {
      const Edge &edge = edges[outgoing[node][i]];
      if (edge.rest > 0 && levels[edge.to] == levels[node] + 1) {
        path.push_back(outgoing[node][i]);
        node = edge.to;
        advanced = true;
        break;
      }
    }
    if (advanced)
      continue;
    if (path.empty())
      return 0;
    node = edges[path.pop_back_val() ^ 1].to;
    ++next[node];
  }
  int64_t flow = kUnbounded;
  for (unsigned edge : path)
    flow = std::min(flow, edges[edge].rest);
  for (unsigned edge : path) {
    edges[edge].rest -= flow;
    edges[edge ^ 1].rest += flow;
  }
  return flow;
}

llvm::BitVector FlowGraph::findSinkSide() {
  while (findLevels()) {
    next.assign(outgoing.size(), 0);
    while (push() > 0) {
    }
  }
  llvm::BitVector side(outgoing.size());
  side.set(kSink);
  std::vector<unsigned> queue{kSink};
  for (size_t i = 0; i < queue.size(); ++i)
    for (unsigned edge : outgoing[queue[i]])
      if (unsigned from = edges[edge].to; edges[edge ^ 1].rest > 0 && !side.test(from)) {
        side.set(from);
        queue.push_back(from);
      }
  return side;
}
