// Blocks of elements that a variable and a tensor of a file have in common.
#ifndef MTC_RUNTIME_STATE_IMAGE_BLOCKS_H
#define MTC_RUNTIME_STATE_IMAGE_BLOCKS_H

#include "runtime/abi/variable.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace mtc::runtime {

/// An axis of a block; strides are in elements.
struct ImageAxis {
  int64_t extent, variable, image;
};

/// For all indices i[a] < axes[a].extent, element `variable` + sum of i[a] * axes[a].variable of a
/// variable is element `image` + sum of i[a] * axes[a].image of a tensor.
struct ImageBlock {
  int64_t variable = 0, image = 0;
  std::vector<ImageAxis> axes;

  int64_t count() const;
  /// Returns the distance between the first and the last element in the tensor.
  int64_t imageSpan() const;
  /// Returns the number of consecutive elements of the tensor that form a run.
  int64_t imageRun() const;
  /// Returns the block with the roles of variable and tensor exchanged.
  ImageBlock swapped() const;
};

/// Returns the block of a part of an image.
ImageBlock blockOf(const MtcImagePart &part);

/// Returns the blocks of an image of a value of `count` elements; null is the value itself.
std::vector<ImageBlock> blocksOf(const MtcTensorImage *image, int64_t count);

/// Returns blocks that together have the elements of `block`, for the variable in column-major
/// order, where [rows, columns] is its shape. An axis that crosses rows is divided into blocks.
std::vector<ImageBlock> inColumnMajorOrder(const ImageBlock &block, int64_t rows, int64_t columns);

/// Calls `use` with blocks that have exactly the elements of `block` that are elements
/// [begin, end) of the variable.
void forEachWithin(const ImageBlock &block, int64_t begin, int64_t end,
                   const std::function<void(const ImageBlock &)> &use);

/// Calls `use` with runs of a block: offset in the tensor, offset in the block's elements in the
/// order of the tensor, and number of elements.
void forEachImageRun(const ImageBlock &block,
                     const std::function<void(int64_t image, int64_t at, int64_t count)> &use);

/// Copies a block between memory that starts with element `variableBegin` of the variable and
/// memory that starts with element `imageBegin` of the tensor. Elements have `size` bytes.
void copyToVariable(const ImageBlock &block, int64_t size, const char *image, int64_t imageBegin,
                    char *variable, int64_t variableBegin);

/// Copies a block from memory that starts with element `variableBegin` of the variable to `to`, in
/// the order of the tensor and without the elements between the block's.
void gatherImage(const ImageBlock &block, int64_t size, const char *variable, int64_t variableBegin,
                 char *to);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_IMAGE_BLOCKS_H
