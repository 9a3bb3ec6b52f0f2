// Inputs that folders of images can feed.
#ifndef MTC_RUNTIME_ABI_IMAGES_H
#define MTC_RUNTIME_ABI_IMAGES_H

#include <cstdint>
#include <span>

namespace mtc::abi {

/// Returns whether a tensor of this shape is a batch of gray or RGB images: [batch, channels,
/// height, width] or [batch, height, width, channels]. Programs with such an input contain the
/// decoders of image files.
inline bool isBatchOfImages(std::span<const int64_t> dims) {
  auto isColor = [](int64_t extent) { return extent == 1 || extent == 3; };
  return dims.size() == 4 && (isColor(dims[1]) || isColor(dims[3]));
}

} // namespace mtc::abi

#endif // MTC_RUNTIME_ABI_IMAGES_H
