#include "runtime/data/images/image_file.h"

#include "runtime/io/input_file.h"
#include "runtime/support/failure.h"

#include <algorithm>

namespace mtc::runtime {

uint8_t *PixelImage::reset(int64_t height, int64_t width) {
  constexpr int64_t maxSide = 65535, maxPixels = int64_t{1} << 28;
  if (std::min(height, width) < 1 || std::max(height, width) > maxSide ||
      height * width > maxPixels)
    userError("has ", width, " x ", height, " pixels; at most ", maxPixels, " are supported, and ",
              maxSide, " on a side");
  shape = {channels, height, width, /*isLast=*/true};
  start = memory.get(shape.elements());
  return start;
}

void PixelImage::makeGray() {
  const int64_t pixels = shape.height * shape.width;
  for (int64_t i = 0; i < pixels; ++i) {
    const uint8_t *from = start + i * channels;
    start[i] =
        static_cast<uint8_t>((from[0] * 19595 + from[1] * 38470 + from[2] * 7471 + 32768) >> 16);
  }
  shape.channels = 1;
}

PixelImage &readImageFile(const std::string &path, ImageFileBuffers &buffers) {
  const InputFile file(path);
  char *content = buffers.content.get(file.size());
  file.read(0, content, file.size());
  try {
    mtc_decode_image({content, static_cast<size_t>(file.size())}, buffers.image);
  } catch (const Failure &failure) {
    userError(path, ": cannot be decoded: ", failure.what(),
              "; expected a complete image, or a folder without the file");
  }
  return buffers.image;
}

} // namespace mtc::runtime
