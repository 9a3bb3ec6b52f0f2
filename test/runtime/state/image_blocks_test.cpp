// Tests that blocks are clipped to ranges, read and gathered as by a loop over all elements.
#include "runtime/state/image_blocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

using namespace mtc::runtime;

namespace {

/// Returns the elements of a block: the element of the tensor for each element of the variable.
std::map<int64_t, int64_t> elementsOf(const ImageBlock &block) {
  std::map<int64_t, int64_t> elements;
  const int64_t count = block.count();
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, variable = block.variable, image = block.image;
    for (const ImageAxis &axis : block.axes) {
      variable += rest % axis.extent * axis.variable;
      image += rest % axis.extent * axis.image;
      rest /= axis.extent;
    }
    elements[variable] = image;
  }
  return elements;
}

/// Returns a permutation of the axes of a random tensor, with an offset in each.
ImageBlock randomBlock(std::mt19937 &random) {
  std::vector<ImageAxis> axes(1 + random() % 4);
  int64_t variable = 1, image = 1;
  for (ImageAxis &axis : axes) {
    axis = {1 + static_cast<int64_t>(random() % 5), variable, 0};
    variable *= axis.extent + static_cast<int64_t>(random() % 2);
  }
  std::shuffle(axes.begin(), axes.end(), random);
  for (ImageAxis &axis : axes) {
    axis.image = image;
    image *= axis.extent + static_cast<int64_t>(random() % 2);
  }
  std::shuffle(axes.begin(), axes.end(), random);
  return {static_cast<int64_t>(random() % 7), static_cast<int64_t>(random() % 7), axes};
}

TEST(ImageBlocks, AreClippedToRanges) {
  std::mt19937 random;
  for (int trial = 0; trial < 2000; ++trial) {
    const ImageBlock block = randomBlock(random);
    const std::map<int64_t, int64_t> all = elementsOf(block);
    const int64_t begin = static_cast<int64_t>(random() % 60), end = begin + 1 + random() % 60;
    std::map<int64_t, int64_t> expected, found;
    for (const auto &[variable, image] : all)
      if (variable >= begin && variable < end)
        expected[variable] = image;
    int64_t count = 0;
    forEachWithin(block, begin, end, [&](const ImageBlock &some) {
      count += some.count();
      found.merge(elementsOf(some));
    });
    EXPECT_EQ(found, expected);
    EXPECT_EQ(count, static_cast<int64_t>(expected.size()));
  }
}

TEST(ImageBlocks, AreGatheredInTheOrderOfTheTensor) {
  std::mt19937 random;
  for (int trial = 0; trial < 1000; ++trial) {
    const ImageBlock block = randomBlock(random);
    const std::map<int64_t, int64_t> all = elementsOf(block);
    std::vector<int16_t> variable(static_cast<size_t>(all.rbegin()->first + 1), -1);
    std::map<int64_t, int16_t> expected, found;
    for (const auto &[from, to] : all)
      expected[to] = variable[static_cast<size_t>(from)] = static_cast<int16_t>(from);
    std::vector<int16_t> gathered(all.size());
    gatherImage(block, 2, reinterpret_cast<const char *>(variable.data()), 0,
                reinterpret_cast<char *>(gathered.data()));
    forEachImageRun(block, [&](int64_t image, int64_t at, int64_t count) {
      for (int64_t i = 0; i < count; ++i)
        found[image + i] = gathered[static_cast<size_t>(at + i)];
    });
    EXPECT_EQ(found, expected);
  }
}

/// Checks the blocks for the variable in column-major order, and returns their number.
size_t checkColumnMajor(const ImageBlock &block, int64_t rows, int64_t columns) {
  std::map<int64_t, int64_t> expected, found;
  for (const auto &[variable, image] : elementsOf(block))
    expected[variable % columns * rows + variable / columns] = image;
  const std::vector<ImageBlock> blocks = inColumnMajorOrder(block, rows, columns);
  int64_t count = 0;
  for (const ImageBlock &each : blocks) {
    count += each.count();
    found.merge(elementsOf(each));
  }
  EXPECT_EQ(found, expected);
  EXPECT_EQ(count, block.count());
  return blocks.size();
}

TEST(ImageBlocks, ChangeTheOrderOfTheVariable) {
  constexpr int64_t rows = 3, columns = 4;
  // A transposed matrix, some columns of a matrix, a matrix as one axis, and every second column.
  for (const ImageBlock &block :
       {ImageBlock{0, 0, {{columns, 1, rows}, {rows, columns, 1}}},
        ImageBlock{1, 5, {{rows, columns, 2}, {2, 1, 1}}},
        ImageBlock{0, 0, {{rows * columns, 1, 1}}}, ImageBlock{1, 0, {{rows * columns / 2, 2, 1}}}})
    EXPECT_EQ(checkColumnMajor(block, rows, columns), 1u);
  EXPECT_EQ(checkColumnMajor({}, rows, columns), 1u);
  EXPECT_EQ(checkColumnMajor({0, 0, {{0, 1, 1}}}, 0, 0), 0u);
}

TEST(ImageBlocks, AreDividedWhereAnAxisCrossesRows) {
  EXPECT_EQ(checkColumnMajor({1, 0, {{2, 3, 1}}}, 3, 4), 2u);
  // A range of elements: the ends of its first and last row, and the rows between.
  EXPECT_LE(checkColumnMajor({100, 0, {{10'000, 1, 1}}}, 200, 64), 4u);
  std::mt19937 random;
  for (int trial = 0; trial < 5000; ++trial) {
    const ImageBlock block = randomBlock(random);
    const int64_t columns = 1 + static_cast<int64_t>(random() % 12),
                  rows = elementsOf(block).rbegin()->first / columns + 1;
    checkColumnMajor(block, rows, columns);
  }
}

} // namespace
