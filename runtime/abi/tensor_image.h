/* Copies between variables and their images: tensors of other files that hold the same elements
 * under other names, shapes and element orders. The compiler uses them to write the initial weights
 * file, the program for all files after that. */
#ifndef MTC_RUNTIME_ABI_TENSOR_IMAGE_H
#define MTC_RUNTIME_ABI_TENSOR_IMAGE_H

#include "runtime/abi/variable.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace mtc::abi {

/// An axis of a copy; strides are in elements.
struct CopyAxis {
  int64_t extent, to, from;
};

/// Copies indices [begin, end) of one axis.
template <int64_t size>
void copyLine(char *to, const char *from, const CopyAxis &axis, int64_t begin, int64_t end) {
  if (axis.to == 1 && axis.from == 1) {
    std::memcpy(to + begin * size, from + begin * size,
                static_cast<std::size_t>((end - begin) * size));
    return;
  }
  for (int64_t i = begin; i < end; ++i)
    std::memcpy(to + i * axis.to * size, from + i * axis.from * size, size);
}

/// Copies two axes in square tiles, so that cache lines of either tensor are not fetched again for
/// each of their elements.
template <int64_t size>
void copyPlane(char *to, const char *from, const CopyAxis &outer, const CopyAxis &inner) {
  constexpr int64_t tile = 32;
  const bool isInOrder = inner.to == 1 && inner.from == 1;
  const int64_t rows = isInOrder ? outer.extent : tile, columns = isInOrder ? inner.extent : tile;
  for (int64_t row = 0; row < outer.extent; row += rows)
    for (int64_t column = 0; column < inner.extent; column += columns)
      for (int64_t i = row; i < std::min(row + rows, outer.extent); ++i)
        copyLine<size>(to + i * outer.to * size, from + i * outer.from * size, inner, column,
                       std::min(column + columns, inner.extent));
}

/// Copies the axes from index `axis` on.
template <int64_t size>
void copyAxes(char *to, const char *from, const std::vector<CopyAxis> &axes, std::size_t axis) {
  if (axis + 2 == axes.size())
    return copyPlane<size>(to, from, axes[axis], axes[axis + 1]);
  for (int64_t i = 0; i < axes[axis].extent; ++i)
    copyAxes<size>(to + i * axes[axis].to * size, from + i * axes[axis].from * size, axes,
                   axis + 1);
}

/// Returns the axes in the order of the copy's loops, without axes of one element. The contiguous
/// axes of the destination and of the source are the two innermost ones.
inline std::vector<CopyAxis> orderAxes(std::vector<CopyAxis> axes) {
  std::erase_if(axes, [](const CopyAxis &axis) { return axis.extent == 1; });
  std::sort(axes.begin(), axes.end(),
            [](const CopyAxis &a, const CopyAxis &b) { return a.to > b.to; });
  if (axes.size() > 1) {
    auto last = axes.end() - 1;
    auto nearest = std::min_element(
        axes.begin(), last, [](const CopyAxis &a, const CopyAxis &b) { return a.from < b.from; });
    std::rotate(nearest, nearest + 1, last);
  }
  // A single axis is the innermost one, so that contiguous elements are copied at once.
  while (axes.size() < 2)
    axes.insert(axes.begin(), {1, 0, 0});
  return axes;
}

/// Copies elements of `size` bytes along `unordered` axes.
inline void copyElements(char *to, const char *from, int64_t size,
                         std::vector<CopyAxis> unordered) {
  const std::vector<CopyAxis> axes = orderAxes(std::move(unordered));
  switch (size) {
  case 1:
    return copyAxes<1>(to, from, axes, 0);
  case 2:
    return copyAxes<2>(to, from, axes, 0);
  case 4:
    return copyAxes<4>(to, from, axes, 0);
  default:
    return copyAxes<8>(to, from, axes, 0);
  }
}

/// Copies the elements of a part from the variable to the image; elements have `size` bytes.
inline void copyToImage(const MtcImagePart &part, const char *variable, char *image, int64_t size) {
  std::vector<CopyAxis> axes;
  axes.reserve(part.rank);
  for (uint32_t i = 0; i < part.rank; ++i)
    axes.push_back({part.extents[i], part.image_strides[i], part.variable_strides[i]});
  copyElements(image + part.image * size, variable + part.variable * size, size, std::move(axes));
}

/// Copies the elements of a part from the image to the variable; elements have `size` bytes.
inline void copyFromImage(const MtcImagePart &part, const char *image, char *variable,
                          int64_t size) {
  std::vector<CopyAxis> axes;
  axes.reserve(part.rank);
  for (uint32_t i = 0; i < part.rank; ++i)
    axes.push_back({part.extents[i], part.variable_strides[i], part.image_strides[i]});
  copyElements(variable + part.variable * size, image + part.image * size, size, std::move(axes));
}

} // namespace mtc::abi

#endif // MTC_RUNTIME_ABI_TENSOR_IMAGE_H
