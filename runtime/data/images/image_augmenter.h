// Resizes, crops and changes images as an Augmentation describes.
#ifndef MTC_RUNTIME_DATA_IMAGES_IMAGE_AUGMENTER_H
#define MTC_RUNTIME_DATA_IMAGES_IMAGE_AUGMENTER_H

#include "runtime/data/augmentation.h"
#include "runtime/data/images/image_file.h"
#include "runtime/data/images/image_resize.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mtc::runtime {

/// Memory for one image at a time, which is reused for the next one.
struct ImageBuffers {
  ImageFileBuffers file;
  GrowingBuffer<uint8_t> resizedPixels, pixels;
  GrowingBuffer<float> resized, stored, sample;
};

/// Returns the layout of a sample: [channels, height, width], or [height, width, channels] if only
/// the last axis has 1 or 3 elements. nullopt if the sample is not an image.
std::optional<ImageLayout> imageLayoutOf(const std::vector<int64_t> &sampleDims);

/// An augmentation for images of one input.
class ImageAugmenter {
public:
  /// `wanted` is the shape of a sample of the input `name`, `white` the largest value of a pixel.
  /// Throws a user error if the augmentation does not fit the shape.
  ImageAugmenter(const Augmentation &augmentation, const std::vector<int64_t> &wanted, float white,
                 std::string name);

  /// Returns the layout of stored images of one shape. Throws a user error if the augmentation does
  /// not make them images of the input.
  ImageLayout layoutOfStored(const std::vector<int64_t> &stored) const;

  /// Computes a sample from a stored image. Equal origins give equal bits.
  void apply(const float *stored, const ImageLayout &from, RandomOrigin origin,
             ImageBuffers &buffers, float *to) const;
  /// Computes a sample from an image of any size, which is resized to cover the input even if the
  /// augmentation has no side.
  void apply(PixelImage &stored, RandomOrigin origin, ImageBuffers &buffers, float *to) const;

private:
  ImageLayout layoutOrThrow(const std::vector<int64_t> &dims) const;
  void resizeToSide(int64_t side, ImageView &view) const;
  ImageView chooseView(const ImageLayout &from, RandomOrigin origin, bool isResized) const;
  ImageBox randomBox(const ImageLayout &from, RandomOrigin origin) const;
  bool isFlipped(RandomOrigin origin) const;
  void changeColors(RandomOrigin origin, float *image) const;

  Augmentation augmentation;
  std::vector<int64_t> wanted;
  float white;
  std::string name;
  ImageLayout into;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DATA_IMAGES_IMAGE_AUGMENTER_H
