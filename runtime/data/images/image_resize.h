// Resizing of images with antialiasing.
#ifndef MTC_RUNTIME_DATA_IMAGES_IMAGE_RESIZE_H
#define MTC_RUNTIME_DATA_IMAGES_IMAGE_RESIZE_H

#include <cstddef>
#include <cstdint>
#include <memory>

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

/// The part of an image that is shown: a box of the image is resized to `height` x `width`, and the
/// view starts at row `top` and column `left` of the result. The view may exceed the result, on any
/// side.
struct ImageView {
  ImageBox box;
  int64_t height = 1, width = 1;
  int64_t top = 0, left = 0;
};

/// Memory that grows with the largest use, and is kept.
template <typename Element> class GrowingBuffer {
public:
  /// Returns memory for `count` elements. Earlier contents are lost if it grows.
  Element *get(int64_t count) {
    if (const auto wanted = static_cast<size_t>(count); wanted > size) {
      elements = std::make_unique_for_overwrite<Element[]>(wanted);
      size = wanted;
    }
    return elements.get();
  }

private:
  std::unique_ptr<Element[]> elements;
  size_t size = 0;
};

/// Copies a view of an image to the whole of another one, with zeros outside the resized box.
/// Resizing uses a triangle filter whose support grows with the scale: the bilinear filter with
/// antialiasing of Pillow and torchvision, for bytes with the bits of Pillow. The layouts have
/// equal channels. `Element` is float or uint8_t. `work` is memory for resized rows.
template <typename Element>
void showImage(const Element *image, const ImageLayout &from, const ImageView &view,
               const ImageLayout &into, GrowingBuffer<Element> &work, Element *to);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DATA_IMAGES_IMAGE_RESIZE_H
