//===- LiveProfileTest.cpp - Tests of the live bytes of a sequence under moves ----------------===//

#include "passes/memory/LiveProfile.h"

#include "llvm/ADT/STLExtras.h"

#include <gtest/gtest.h>

#include <random>

using namespace mtc;

namespace {

/// A reference implementation that visits all nodes for each query.
struct PlainProfile {
  std::vector<unsigned> order;
  std::vector<int64_t> allocated, freed;

  std::pair<OrderScore, unsigned> score() const {
    OrderScore score{-1, 0};
    unsigned peak = 0;
    int64_t live = 0;
    for (unsigned node : order) {
      live += allocated[node];
      if (live > score.peak) {
        score = {live, 0};
        peak = node;
      }
      score.times += live == score.peak;
      live -= freed[node];
    }
    return {score, peak};
  }

  int64_t peakBetween(unsigned first, unsigned last) const {
    int64_t live = 0, peak = std::numeric_limits<int64_t>::min();
    bool isWithin = false;
    for (unsigned node : order) {
      isWithin |= node == first;
      live += allocated[node];
      peak = isWithin ? std::max(peak, live) : peak;
      if (node == last)
        return peak;
      live -= freed[node];
    }
    return peak;
  }
};

} // namespace

TEST(LiveProfile, AgreesWithSumsOverAllNodesAfterRandomMoves) {
  constexpr unsigned count = 1000;
  std::mt19937 random(0);
  auto draw = [&](unsigned limit) { return static_cast<unsigned>(random() % limit); };
  LiveProfile profile(count);
  PlainProfile plain{{}, std::vector<int64_t>(count), std::vector<int64_t>(count)};
  for (unsigned node = 0; node < count; ++node)
    plain.order.push_back(node);
  for (int change = 0; change < 4000; ++change) {
    const unsigned node = draw(count);
    const int64_t bytes = draw(8);
    plain.allocated[node] += bytes;
    profile.addAllocated(node, bytes);
    const unsigned freeing = draw(count);
    plain.freed[freeing] += bytes;
    profile.addFreed(freeing, bytes);
    // Most nodes are moved to one part of the sequence, whose blocks grow until they are divided.
    const unsigned moved = draw(count);
    const unsigned previous = plain.order[draw(change % 4 ? 20 : count)];
    if (moved != previous) {
      llvm::erase(plain.order, moved);
      if (change % 16 == 0) {
        plain.order.insert(plain.order.begin(), moved);
        profile.moveAfter(moved, LiveProfile::kBegin);
      } else {
        plain.order.insert(std::next(llvm::find(plain.order, previous)), moved);
        profile.moveAfter(moved, previous);
      }
    }
    const auto [score, peak] = plain.score();
    ASSERT_EQ(profile.score(), score) << change;
    ASSERT_EQ(profile.findPeak(), peak) << change;
    const auto at = llvm::find(plain.order, node);
    ASSERT_EQ(profile.getPrevious(node),
              at == plain.order.begin() ? LiveProfile::kBegin : *std::prev(at));
    const bool isFirst = at <= llvm::find(plain.order, freeing);
    const unsigned first = isFirst ? node : freeing, last = isFirst ? freeing : node;
    ASSERT_EQ(profile.findPeakBetween(first, last), plain.peakBetween(first, last));
    ASSERT_EQ(profile.isBefore(node, freeing), at < llvm::find(plain.order, freeing));
  }
  EXPECT_EQ(llvm::ArrayRef(profile.getOrder()), llvm::ArrayRef(plain.order));
}
