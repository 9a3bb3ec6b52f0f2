// Resizing of images with antialiasing.
#ifndef MTC_RUNTIME_DATA_IMAGE_RESIZE_H
#define MTC_RUNTIME_DATA_IMAGE_RESIZE_H

#include <cstdint>

namespace mtc::runtime {

/// The shape of an image: [channels, height, width], or [height, width, channels].
struct ImageLayout {
  int64_t channels = 1, height = 1, width = 1;
  bool isLast = false; ///< whether the channels are the last axis

  int64_t elements() const { return channels * height * width; }
  int64_t at(int64_t c, int64_t y, int64_t x) const {
    return isLast ? (y * width + x) * channels + c : (c * height + y) * width + x;
  }
};

/// A part of an image in pixels.
struct ImageBox {
  int64_t top = 0, left = 0, height = 1, width = 1;
};

/// Returns the number of floats of `work` that `resizeImage` needs for any box.
int64_t resizeElements(const ImageLayout &from, const ImageLayout &into);

/// Resizes a box of an image to the whole of another one by a triangle filter, whose support grows
/// with the scale: the bilinear filter with antialiasing of Pillow and torchvision. The layouts
/// have equal channels.
void resizeImage(const float *image, const ImageLayout &from, const ImageBox &box,
                 const ImageLayout &into, float *work, float *to);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DATA_IMAGE_RESIZE_H
