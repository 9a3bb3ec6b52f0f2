// Images contain the elements that their strides specify, for every order of axes and every element
// size.
#include "runtime/abi/tensor_image.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace {

/// Returns a mapping between a row-major variable with these extents and an image with another
/// order of axes.
struct Block {
  std::vector<int64_t> extents, variableStrides, imageStrides;

  Block(const std::vector<int64_t> &shape, const std::vector<size_t> &order) {
    std::vector<int64_t> strides(shape.size(), 1);
    for (size_t axis = shape.size() - 1; axis > 0; --axis)
      strides[axis - 1] = strides[axis] * shape[axis];
    for (size_t axis : order) {
      extents.push_back(shape[axis]);
      variableStrides.push_back(strides[axis]);
    }
    imageStrides.assign(order.size(), 1);
    for (size_t axis = order.size() - 1; axis > 0; --axis)
      imageStrides[axis - 1] = imageStrides[axis] * extents[axis];
  }
  MtcImagePart part() const {
    return {0,
            0,
            static_cast<uint32_t>(extents.size()),
            extents.data(),
            variableStrides.data(),
            imageStrides.data()};
  }
  int64_t count() const {
    return std::accumulate(extents.begin(), extents.end(), int64_t{1}, std::multiplies<>());
  }
  /// Returns the variable's element at the image's position `place`.
  int64_t elementAt(int64_t place) const {
    int64_t element = 0;
    for (size_t axis = 0; axis < extents.size(); ++axis) {
      element += place / imageStrides[axis] * variableStrides[axis];
      place %= imageStrides[axis];
    }
    return element;
  }
};

template <typename Element>
void check(const std::vector<int64_t> &shape, const std::vector<size_t> &order) {
  const Block block(shape, order);
  const auto count = static_cast<size_t>(block.count());
  std::vector<Element> variable(count), image(count, Element{99}), back(count, Element{99});
  std::iota(variable.begin(), variable.end(), Element{});
  const auto size = static_cast<int64_t>(sizeof(Element));
  mtc::abi::copyToImage(block.part(), reinterpret_cast<const char *>(variable.data()),
                        reinterpret_cast<char *>(image.data()), size);
  for (size_t place = 0; place < count; ++place)
    ASSERT_EQ(image[place],
              variable[static_cast<size_t>(block.elementAt(static_cast<int64_t>(place)))])
        << place;
  mtc::abi::copyFromImage(block.part(), reinterpret_cast<const char *>(image.data()),
                          reinterpret_cast<char *>(back.data()), size);
  EXPECT_EQ(back, variable);
}

TEST(TensorImage, HasElementsInTheOrderOfItsAxes) {
  check<uint8_t>({7}, {0});
  check<uint16_t>({3, 5}, {0, 1});
  check<float>({70, 41}, {1, 0});
  check<double>({33, 64}, {1, 0});
  check<float>({1, 9}, {1, 0});
  check<float>({9, 1}, {1, 0});
  check<float>({1, 1}, {1, 0});
  check<uint16_t>({3, 40, 50}, {2, 1, 0});
  check<float>({40, 3, 50}, {1, 2, 0});
  check<float>({2, 3, 4, 5}, {3, 0, 2, 1});
  check<float>({2, 3, 4, 5}, {0, 1, 2, 3});
}

TEST(TensorImage, CopiesContiguousElementsAtOnce) {
  using Axes = std::vector<mtc::abi::CopyAxis>;
  for (const Axes &axes : {Axes{{7, 1, 1}}, Axes{{1, 7, 7}, {7, 1, 1}}, Axes{{7, 1, 1}, {3, 7, 9}},
                           Axes{{7, 1, 1}, {1, 0, 0}}}) {
    const mtc::abi::CopyAxis inner = mtc::abi::orderAxes(axes).back();
    EXPECT_EQ(inner.extent, 7);
    EXPECT_EQ(inner.to, 1);
    EXPECT_EQ(inner.from, 1);
  }
}

TEST(TensorImage, PartsBeginWhereTheyAreSaidTo) {
  const std::vector<float> variable = {0, 1, 2, 3, 4, 5};
  std::vector<float> image(6, -1);
  const int64_t extents[] = {2}, two[] = {2}, one[] = {1};
  const MtcImagePart part = {1, 3, 1, extents, two, one};
  mtc::abi::copyToImage(part, reinterpret_cast<const char *>(variable.data()),
                        reinterpret_cast<char *>(image.data()), 4);
  EXPECT_EQ(image, (std::vector<float>{-1, -1, -1, 1, 3, -1}));
}

} // namespace
