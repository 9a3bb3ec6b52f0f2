// Blocks are clipped to ranges without enumerating their elements.
#include "runtime/state/image_blocks.h"

#include "runtime/abi/tensor_image.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace mtc::runtime {

int64_t ImageBlock::count() const {
  int64_t product = 1;
  for (const ImageAxis &axis : axes)
    product *= axis.extent;
  return product;
}

int64_t ImageBlock::imageSpan() const {
  int64_t span = 0;
  for (const ImageAxis &axis : axes)
    span += (axis.extent - 1) * axis.image;
  return span;
}

static int64_t variableSpan(const ImageBlock &block) {
  int64_t span = 0;
  for (const ImageAxis &axis : block.axes)
    span += (axis.extent - 1) * axis.variable;
  return span;
}

/// Returns the axes from the one with the largest stride in the tensor to that with the smallest.
static std::vector<ImageAxis> inImageOrder(const ImageBlock &block) {
  std::vector<ImageAxis> axes = block.axes;
  std::erase_if(axes, [](const ImageAxis &axis) { return axis.extent == 1; });
  std::sort(axes.begin(), axes.end(),
            [](const ImageAxis &a, const ImageAxis &b) { return a.image > b.image; });
  return axes;
}

int64_t ImageBlock::imageRun() const {
  int64_t run = 1;
  const std::vector<ImageAxis> ordered = inImageOrder(*this);
  for (auto axis = ordered.rbegin(); axis != ordered.rend() && axis->image == run; ++axis)
    run *= axis->extent;
  return run;
}

ImageBlock ImageBlock::swapped() const {
  ImageBlock other{image, variable, axes};
  for (ImageAxis &axis : other.axes)
    std::swap(axis.variable, axis.image);
  return other;
}

ImageBlock blockOf(const MtcImagePart &part) {
  ImageBlock block{part.variable, part.image, {}};
  for (uint32_t i = 0; i < part.rank; ++i)
    block.axes.push_back({part.extents[i], part.variable_strides[i], part.image_strides[i]});
  return block;
}

std::vector<ImageBlock> blocksOf(const MtcTensorImage *image, int64_t count) {
  if (!image || image->part_count == 0)
    return {{0, 0, {{count, 1, 1}}}};
  std::vector<ImageBlock> blocks;
  blocks.reserve(image->part_count);
  for (uint32_t i = 0; i < image->part_count; ++i)
    blocks.push_back(blockOf(image->parts[i]));
  return blocks;
}

/// Returns the block with other indices of an axis: `count` from `from` on.
static ImageBlock withIndices(const ImageBlock &block, size_t axis, int64_t from, int64_t count) {
  ImageBlock some = block;
  some.variable += from * block.axes[axis].variable;
  some.image += from * block.axes[axis].image;
  some.axes[axis].extent = count;
  return some;
}

/// Divides a block along an axis that crosses rows. `last` is the maximum column if the columns of
/// all elements are continued beyond the first row.
static std::pair<ImageBlock, ImageBlock> divided(const ImageBlock &block, size_t axis,
                                                 int64_t columns, int64_t last) {
  const ImageAxis &crossing = block.axes[axis];
  // After this number of indices, the columns repeat.
  const int64_t period = columns / std::gcd(crossing.variable, columns);
  if (crossing.extent > period) {
    const int64_t repetitions = crossing.extent / period;
    ImageBlock repeated = withIndices(block, axis, 0, period);
    repeated.axes.push_back({repetitions, crossing.variable * period, crossing.image * period});
    return {repeated,
            withIndices(block, axis, repetitions * period, crossing.extent - repetitions * period)};
  }
  const int64_t others = last - (crossing.extent - 1) * crossing.variable;
  const int64_t inRow =
      others < columns ? (columns - 1 - others) / crossing.variable + 1 : crossing.extent / 2;
  return {withIndices(block, axis, 0, inRow),
          withIndices(block, axis, inRow, crossing.extent - inRow)};
}

std::vector<ImageBlock> inColumnMajorOrder(const ImageBlock &block, int64_t rows, int64_t columns) {
  std::vector<ImageBlock> results, pending;
  if (block.count() > 0)
    pending.push_back(block);
  while (!pending.empty()) {
    const ImageBlock next = std::move(pending.back());
    pending.pop_back();
    const int64_t column = next.variable % columns;
    ImageBlock result{column * rows + next.variable / columns, next.image, {}};
    int64_t last = column;
    size_t widest =
        0; // Of the axes along which the column varies, the one with the largest stride.
    for (size_t i = 0; i < next.axes.size(); ++i) {
      const ImageAxis &axis = next.axes[i];
      if (axis.extent == 1)
        continue;
      if (axis.variable % columns == 0) {
        result.axes.push_back({axis.extent, axis.variable / columns, axis.image});
        continue;
      }
      result.axes.push_back({axis.extent, axis.variable * rows, axis.image});
      if (last == column || axis.variable > next.axes[widest].variable)
        widest = i;
      last += (axis.extent - 1) * axis.variable;
    }
    if (last < columns) {
      results.push_back(std::move(result));
      continue;
    }
    auto [first, second] = divided(next, widest, columns, last);
    pending.push_back(std::move(first));
    if (second.axes[widest].extent > 0)
      pending.push_back(std::move(second));
  }
  return results;
}

void forEachWithin(const ImageBlock &block, int64_t begin, int64_t end,
                   const std::function<void(const ImageBlock &)> &use) {
  const int64_t first = block.variable, span = variableSpan(block);
  if (first >= end || first + span < begin)
    return;
  if (first >= begin && first + span < end)
    return use(block);
  const auto axis = std::max_element(
      block.axes.begin(), block.axes.end(), [](const ImageAxis &a, const ImageAxis &b) {
        return (a.extent > 1 ? a.variable : 0) < (b.extent > 1 ? b.variable : 0);
      });
  const int64_t stride = axis->variable, rest = span - (axis->extent - 1) * stride;
  auto part = [&](int64_t from, int64_t count) {
    return withIndices(block, static_cast<size_t>(axis - block.axes.begin()), from, count);
  };
  // Indices [low, high) of the axis have elements of the range; [from, to) have no others.
  auto divideUp = [](int64_t a, int64_t b) { return a <= 0 ? 0 : (a + b - 1) / b; };
  const int64_t low = divideUp(begin - first - rest, stride);
  const int64_t high = std::min(axis->extent, divideUp(end - first, stride));
  const int64_t from = std::clamp(divideUp(begin - first, stride), low, high);
  const int64_t to = std::clamp(divideUp(end - first - rest, stride), from, high);
  for (int64_t i = low; i < from; ++i)
    forEachWithin(part(i, 1), begin, end, use);
  if (to > from)
    use(part(from, to - from));
  for (int64_t i = to; i < high; ++i)
    forEachWithin(part(i, 1), begin, end, use);
}

void forEachImageRun(const ImageBlock &block,
                     const std::function<void(int64_t image, int64_t at, int64_t count)> &use) {
  const int64_t run = block.imageRun(), total = block.count();
  std::vector<ImageAxis> outer = inImageOrder(block);
  for (int64_t held = 1; held < run; outer.pop_back())
    held *= outer.back().extent;
  std::vector<int64_t> index(outer.size());
  int64_t image = block.image;
  for (int64_t at = 0; at < total; at += run) {
    use(image, at, run);
    for (size_t axis = outer.size(); axis-- > 0;) {
      image += outer[axis].image;
      if (++index[axis] < outer[axis].extent)
        break;
      image -= outer[axis].extent * outer[axis].image;
      index[axis] = 0;
    }
  }
}

void copyToVariable(const ImageBlock &block, int64_t size, const char *image, int64_t imageBegin,
                    char *variable, int64_t variableBegin) {
  std::vector<abi::CopyAxis> axes;
  axes.reserve(block.axes.size());
  for (const ImageAxis &axis : block.axes)
    axes.push_back({axis.extent, axis.variable, axis.image});
  abi::copyElements(variable + (block.variable - variableBegin) * size,
                    image + (block.image - imageBegin) * size, size, std::move(axes));
}

void gatherImage(const ImageBlock &block, int64_t size, const char *variable, int64_t variableBegin,
                 char *to) {
  ImageBlock dense{block.variable, 0, inImageOrder(block)};
  int64_t stride = 1;
  for (auto axis = dense.axes.rbegin(); axis != dense.axes.rend(); ++axis) {
    axis->image = stride;
    stride *= axis->extent;
  }
  copyToVariable(dense.swapped(), size, variable, variableBegin, to, 0);
}

} // namespace mtc::runtime
