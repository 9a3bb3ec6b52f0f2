//===- NetworkTest.cpp - Collectives of groups of ranks ---------------------------------------===//

#include "passes/cost/Network.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace mtc;

namespace {

class Groups : public testing::Test {
protected:
  Groups() { context.loadDialect<MtcDialect>(); }

  CollectiveAttr gather(int64_t ranks, int64_t stride, int64_t piece, int64_t total) {
    return CollectiveAttr::get(&context, CollectiveKind::AllGather, ranks, stride, {piece}, {total},
                               Float32Type::get(&context));
  }

  MLIRContext context;
};

TEST_F(Groups, EachRankSendsByItsNumberInTheGroup) {
  // The pieces have 16, 4 and 0 elements. With the stride 2, the groups are 0 2 4 and 1 3 5.
  CollectiveAttr collective = gather(3, 2, 16, 20);
  const int64_t expected[] = {128, 128, 32, 32, 0, 0, 128};
  for (auto [rank, bytes] : llvm::enumerate(expected))
    EXPECT_EQ(collective.getSentBytes(static_cast<int64_t>(rank)), bytes) << rank;
  EXPECT_EQ(collective.getMaximumSentBytes(), 128);
}

TEST_F(Groups, UseTheNetworkBetweenTheirNodes) {
  const char *network = "10us,1GB/s; nodes of 8: 1us,10GB/s";
  auto seconds = [&](int64_t ranks, int64_t stride) {
    return estimateTransfer(gather(ranks, stride, 1000, ranks * 1000), network);
  };
  auto inside = [](int64_t messages) { return double(messages) * (1e-6 + 4000 / 10e9); };
  auto between = [](int64_t messages) { return double(messages) * (10e-6 + 4000 / 1e9); };
  EXPECT_NEAR(seconds(8, 1), inside(7), 1e-12);
  EXPECT_NEAR(seconds(4, 2), inside(3), 1e-12);
  EXPECT_NEAR(seconds(8, 2), between(4), 1e-12); // 4 ranks of a node, and 4 of another one
  EXPECT_NEAR(seconds(4, 8), between(3), 1e-12);
  EXPECT_EQ(seconds(1, 8), 0);
}

} // namespace
