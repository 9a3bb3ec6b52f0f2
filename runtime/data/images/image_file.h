// Decoding of image files.
#ifndef MTC_RUNTIME_DATA_IMAGES_IMAGE_FILE_H
#define MTC_RUNTIME_DATA_IMAGES_IMAGE_FILE_H

#include "runtime/data/images/image_resize.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace mtc::runtime {

/// An image of bytes, [height, width, channels]. Its memory is reused for the next image.
class PixelImage {
public:
  static constexpr int64_t channels = 3; ///< of decoded images

  /// Returns memory for the pixels of an RGB image of this size. Throws a user error if the image
  /// is too large.
  uint8_t *reset(int64_t height, int64_t width);
  /// Replaces RGB by one channel, the luma of Pillow's convert("L").
  void makeGray();

  const ImageLayout &layout() const { return shape; }
  const uint8_t *pixels() const { return start; }

private:
  ImageLayout shape;
  GrowingBuffer<uint8_t> memory;
  uint8_t *start = nullptr;
};

/// Memory for reading image files, which is reused for the next file.
struct ImageFileBuffers {
  GrowingBuffer<char> content;
  PixelImage image;
};

/// Decodes a JPEG or PNG file to the pixels of Pillow's convert("RGB"): gray and palettes are
/// expanded, CMYK is converted, and alpha and the orientation of EXIF are ignored. Channels of 16
/// bits keep their high byte. The content, not the name, determines the format. Throws a user error
/// that names the file.
PixelImage &readImageFile(const std::string &path, ImageFileBuffers &buffers);

/// Decoders of one format. They throw the problem as a user error without the file.
void decodeJpeg(std::string_view content, PixelImage &image);
void decodePng(std::string_view content, PixelImage &image);

} // namespace mtc::runtime

/// Decodes the content of an image file. The reference is weak, and the linker adds the function
/// with the libraries that it uses only to programs that may read images
/// (`LinkInputs::readsImages`).
extern "C" __attribute__((weak)) void mtc_decode_image(std::string_view content,
                                                       mtc::runtime::PixelImage &image);

#endif // MTC_RUNTIME_DATA_IMAGES_IMAGE_FILE_H
