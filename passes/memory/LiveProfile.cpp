//===- LiveProfile.cpp - Live bytes of a sequence under moves ---------------------------------===//

#include "passes/memory/LiveProfile.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>
#include <tuple>

using namespace mlir;
using namespace mtc;

LiveProfile::LiveProfile(size_t count) : places(count), allocated(count), freed(count) {
  SmallVector<unsigned, 0> order(count);
  std::iota(order.begin(), order.end(), 0U);
  divide(order);
}

void LiveProfile::divide(ArrayRef<unsigned> order) {
  blocks.clear();
  do {
    ArrayRef<unsigned> nodes = order.take_front(kBlockSize);
    order = order.drop_front(nodes.size());
    blocks.emplace_back().nodes.assign(nodes.begin(), nodes.end());
    renumber(blocks.size() - 1, 0);
  } while (!order.empty());
}

void LiveProfile::renumber(unsigned block, size_t from) {
  ArrayRef<unsigned> nodes = blocks[block].nodes;
  for (size_t i = from; i < nodes.size(); ++i)
    places[nodes[i]] = {block, static_cast<unsigned>(i)};
  blocks[block].isStale = true;
}

bool LiveProfile::isBefore(unsigned a, unsigned b) const {
  return std::tie(places[a].block, places[a].index) < std::tie(places[b].block, places[b].index);
}

unsigned LiveProfile::getPrevious(unsigned node) const {
  auto [block, index] = places[node];
  if (index > 0)
    return blocks[block].nodes[index - 1];
  while (block > 0)
    if (const Block &before = blocks[--block]; !before.nodes.empty())
      return before.nodes.back();
  return kBegin;
}

void LiveProfile::moveAfter(unsigned node, unsigned previous) {
  const Place from = places[node];
  auto &left = blocks[from.block].nodes;
  left.erase(left.begin() + from.index);
  renumber(from.block, from.index);
  const auto [block, index] =
      previous == kBegin ? Place{0, 0} : Place{places[previous].block, places[previous].index + 1};
  auto &entered = blocks[block].nodes;
  entered.insert(entered.begin() + index, node);
  renumber(block, index);
  if (entered.size() > 2 * kBlockSize)
    divide(getOrder());
}

void LiveProfile::addAllocated(unsigned node, int64_t bytes) {
  allocated[node] += bytes;
  blocks[places[node].block].isStale = true;
}

void LiveProfile::addFreed(unsigned node, int64_t bytes) {
  freed[node] += bytes;
  blocks[places[node].block].isStale = true;
}

void LiveProfile::summarize(Block &block) const {
  block.change = 0;
  block.times = 0;
  for (unsigned node : block.nodes) {
    const int64_t live = block.change + allocated[node];
    if (block.times == 0 || live > block.maximum) {
      block.maximum = live;
      block.times = 0;
    }
    block.times += live == block.maximum;
    block.change = live - freed[node];
  }
  block.isStale = false;
}

OrderScore LiveProfile::score() {
  OrderScore score{-1, 0};
  int64_t before = 0;
  for (auto [number, block] : llvm::enumerate(blocks)) {
    if (block.isStale)
      summarize(block);
    if (block.nodes.empty())
      continue;
    const int64_t maximum = before + block.maximum;
    if (maximum > score.peak) {
      score = {maximum, 0};
      peakBlock = number;
    }
    if (maximum == score.peak)
      score.times += block.times;
    before += block.change;
  }
  return score;
}

int64_t LiveProfile::findPeakBetween(unsigned first, unsigned last) {
  auto [number, index] = places[first];
  int64_t live = 0, peak = std::numeric_limits<int64_t>::min();
  for (Block &block : MutableArrayRef(blocks).take_front(number)) {
    if (block.isStale)
      summarize(block);
    live += block.change;
  }
  ArrayRef<unsigned> nodes = blocks[number].nodes;
  for (unsigned node : nodes.take_front(index))
    live += allocated[node] - freed[node];
  for (;; nodes = blocks[++number].nodes, index = 0)
    for (unsigned node : nodes.drop_front(index)) {
      peak = std::max(peak, live + allocated[node]);
      live += allocated[node] - freed[node];
      if (node == last)
        return peak;
    }
}

unsigned LiveProfile::findPeak() const {
  const Block &block = blocks[peakBlock];
  int64_t before = 0;
  for (unsigned node : block.nodes) {
    if (before + allocated[node] == block.maximum)
      return node;
    before += allocated[node] - freed[node];
  }
  llvm_unreachable("the peak of a block is reached in it");
}

SmallVector<unsigned, 0> LiveProfile::getOrder() const {
  SmallVector<unsigned, 0> order;
  order.reserve(size());
  for (const Block &block : blocks)
    llvm::append_range(order, block.nodes);
  return order;
}
