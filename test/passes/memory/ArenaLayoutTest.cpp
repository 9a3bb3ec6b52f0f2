//===- ArenaLayoutTest.cpp - Offsets equal those of a plain search ----------------------------===//

#include "passes/memory/ArenaLayout.h"

#include "llvm/ADT/STLExtras.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

using namespace mtc;

namespace {

bool meet(const LiveBuffer &a, const LiveBuffer &b) { return a.begin <= b.end && b.begin <= a.end; }

/// Allocates buffers by descending size at the lowest offset without a conflict.
ArenaLayout layOutPlainly(llvm::ArrayRef<LiveBuffer> buffers) {
  std::vector<size_t> order(buffers.size()), before;
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](size_t a, size_t b) {
    return std::pair(-buffers[a].bytes, a) < std::pair(-buffers[b].bytes, b);
  });
  ArenaLayout layout;
  layout.offsets.assign(buffers.size(), 0);
  for (size_t i : order) {
    auto isFree = [&](int64_t offset) {
      return llvm::none_of(before, [&](size_t other) {
        return meet(buffers[i], buffers[other]) &&
               offset < layout.offsets[other] + buffers[other].bytes &&
               layout.offsets[other] < offset + buffers[i].bytes;
      });
    };
    while (!isFree(layout.offsets[i]))
      layout.offsets[i] += 64;
    layout.size = std::max(layout.size, layout.offsets[i] + buffers[i].bytes);
    before.push_back(i);
  }
  return layout;
}

/// Creates the buffers of a forward pass, many of which are live until the backward pass.
std::vector<LiveBuffer> randomBuffers(unsigned seed) {
  std::mt19937 random(seed);
  auto below = [&](unsigned bound) { return static_cast<int64_t>(random() % bound); };
  const int64_t count = 20 + below(200), end = 3 * count;
  std::vector<LiveBuffer> buffers;
  for (int64_t i = 0; i < count; ++i) {
    int64_t bytes = 64 * (1 + below(below(3) ? 8 : 60));
    buffers.push_back({bytes, i, below(3) ? i + below(5) : end - i - below(5)});
    buffers.push_back({64 * (1 + below(20)), end - i, end - i + below(4)});
  }
  return buffers;
}

TEST(ArenaLayout, IsThatOfThePlainSearchOrSmaller) {
  int equal = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    std::vector<LiveBuffer> buffers = randomBuffers(seed);
    ArenaLayout plain = layOutPlainly(buffers), layout = layOut(buffers);
    ASSERT_LE(layout.size, plain.size);
    if (layout.size == plain.size) {
      ASSERT_EQ(layout.offsets, plain.offsets);
      ++equal;
    }
    for (size_t i = 0; i < buffers.size(); ++i) {
      ASSERT_LE(layout.offsets[i] + buffers[i].bytes, layout.size);
      for (size_t j = 0; j < i; ++j)
        ASSERT_TRUE(!meet(buffers[i], buffers[j]) ||
                    layout.offsets[i] + buffers[i].bytes <= layout.offsets[j] ||
                    layout.offsets[j] + buffers[j].bytes <= layout.offsets[i]);
    }
  }
  EXPECT_GE(equal, 10);
}

TEST(ArenaLayout, IsNearTheBytesThatAreAlive) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::vector<LiveBuffer> buffers = randomBuffers(seed);
    int64_t maximum = 0;
    for (const LiveBuffer &now : buffers) {
      int64_t alive = 0;
      for (const LiveBuffer &other : buffers)
        alive += other.begin <= now.begin && now.begin <= other.end ? other.bytes : 0;
      maximum = std::max(maximum, alive);
    }
    EXPECT_LE(static_cast<double>(layOut(buffers).size), 1.02 * static_cast<double>(maximum))
        << seed;
  }
}

TEST(ArenaLayout, FindsTheSameAnswerForEachBudget) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::vector<LiveBuffer> buffers = randomBuffers(seed);
    const int64_t smallest = layOut(buffers).size;
    ArenaSize size;
    int64_t layouts = 0;
    auto find = [&](int64_t enough) {
      return size.find(enough, [&] {
        ++layouts;
        return llvm::ArrayRef(buffers);
      });
    };
    EXPECT_LE(find(2 * smallest), 2 * smallest) << seed;
    EXPECT_EQ(find(smallest - 1), smallest) << seed;
    EXPECT_EQ(find(0), smallest) << seed;
    EXPECT_EQ(find(smallest), smallest) << seed;
    EXPECT_LE(layouts, 2) << seed; // The smallest size answers all later questions.
  }
}

TEST(ArenaLayout, TakesNothingForNothing) {
  EXPECT_EQ(layOut({}).size, 0);
  LiveBuffer empty{0, 3, 9};
  EXPECT_EQ(layOut(empty).size, 0);
}

} // namespace
