// A whole value is read in the order of the file, and a range by runs of the file.
#include "runtime/state/tensor_reader.h"

#include "runtime/state/module_tensors.h"
#include "runtime/support/element_type.h"
#include "runtime/support/floats.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace mtc::runtime {

/// Number of elements that are converted at once.
static constexpr int64_t maxElements = 1 << 18;

void readElements(const ArrayOnDisk &array, uint32_t type, char *to, int64_t first, int64_t count) {
  const int64_t size = typeBytes(type), found = typeBytes(array.type);
  if (array.type == type)
    return readArray(array, first * found, to, count * found);
  std::vector<char> read(static_cast<size_t>(std::min(maxElements, count) * found));
  for (int64_t done = 0; done < count; done += maxElements) {
    const int64_t some = std::min(maxElements, count - done);
    readArray(array, (first + done) * found, read.data(), some * found);
    convertFloats(array.type, read.data(), some, type, to + done * size);
  }
}

TensorReader::TensorReader(const MtcTensor &value, const std::vector<FoundTensor> &found,
                           ElementOrder order)
    : total(*elementCount(shapeOf(value), typeBytes(value.type))) {
  inOrder = order == ElementOrder::RowMajor && isWhole(found.front().image);
  for (const FoundTensor &tensor : found) {
    Source source{tensor.array, blocksOf(tensor.image, total)};
    if (order == ElementOrder::ColumnMajor) {
      std::vector<ImageBlock> blocks;
      for (const ImageBlock &block : std::exchange(source.blocks, {}))
        for (ImageBlock &other : inColumnMajorOrder(block, value.dims[0], value.dims[1]))
          blocks.push_back(std::move(other));
      source.blocks = std::move(blocks);
    }
    sources.push_back(std::move(source));
  }
}

/// Reads all elements of a tensor in its order.
void TensorReader::readAll(const Source &source, uint32_t type, char *to) const {
  const int64_t size = typeBytes(type);
  const int64_t count = *elementCount(source.array->dims, size);
  std::vector<char> elements(static_cast<size_t>(std::min(count, 4 * maxElements) * size));
  for (int64_t at = 0; at < count; at += 4 * maxElements) {
    const int64_t end = std::min(count, at + 4 * maxElements);
    readElements(*source.array, type, elements.data(), at, end - at);
    for (const ImageBlock &block : source.blocks)
      forEachWithin(block.swapped(), at, end, [&](const ImageBlock &some) {
        copyToVariable(some.swapped(), size, elements.data(), at, to, 0);
      });
  }
}

/// Reads the elements of a block into memory that starts with element `first` of the value. The
/// elements between runs are read, too, if runs are short: calls and pages have a minimum cost.
static void readBlock(const ArrayOnDisk &array, const ImageBlock &block, uint32_t type, char *to,
                      int64_t first) {
  const int64_t size = typeBytes(type), span = block.imageSpan() + 1;
  const bool isDense = block.count() * 4 >= span || block.imageRun() * size < 512;
  if (span <= 4 * maxElements && (isDense || block.count() == block.imageRun())) {
    std::vector<char> elements(static_cast<size_t>(span * size));
    ArrayOnDisk unchecked = array;
    unchecked.checksum = nullptr;
    readElements(unchecked, type, elements.data(), block.image, span);
    return copyToVariable(block, size, elements.data(), block.image, to, first);
  }
  const auto axis = std::max_element(block.axes.begin(), block.axes.end(),
                                     [](const ImageAxis &a, const ImageAxis &b) {
                                       return (a.extent - 1) * a.image < (b.extent - 1) * b.image;
                                     });
  const auto index = static_cast<size_t>(axis - block.axes.begin());
  const int64_t half = axis->extent / 2;
  ImageBlock low = block, high = block;
  low.axes[index].extent = half;
  high.axes[index].extent -= half;
  high.variable += half * axis->variable;
  high.image += half * axis->image;
  readBlock(array, low, type, to, first);
  readBlock(array, high, type, to, first);
}

void TensorReader::verify() const {
  if (std::exchange(isVerified, true))
    return;
  std::vector<char> bytes(4 * maxElements);
  for (const Source &source : sources) {
    const int64_t size = typeBytes(source.array->type);
    const int64_t all = *elementCount(source.array->dims, size) * size;
    for (int64_t at = 0; source.array->checksum && at < all; at += 4 * maxElements)
      readArray(*source.array, at, bytes.data(), std::min(4 * maxElements, all - at));
  }
}

void TensorReader::read(uint32_t type, char *to, int64_t first, int64_t count) const {
  if (inOrder)
    return readElements(*sources.front().array, type, to, first, count);
  if (count == 0)
    return;
  if (count != total)
    verify();
  for (const Source &source : sources) {
    if (count == total) {
      readAll(source, type, to);
      continue;
    }
    for (const ImageBlock &block : source.blocks)
      forEachWithin(block, first, first + count, [&](const ImageBlock &some) {
        readBlock(*source.array, some, type, to, first);
      });
  }
}

} // namespace mtc::runtime
