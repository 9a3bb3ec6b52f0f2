// Random augmentation of images while they are read: --augment.
#ifndef MTC_RUNTIME_DATA_AUGMENTATION_H
#define MTC_RUNTIME_DATA_AUGMENTATION_H

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace mtc::runtime {

/// The augmentation of one input, in the order of its fields.
struct Augmentation {
  /// Resize images so that the shorter side has this length, or covers the input if it is longer,
  /// in training and evaluation; 0: images of folders cover the input, others are not resized.
  int64_t side = 0;
  bool crops = false;  ///< crop to the size of the input: random in training, else the center
  int64_t padding = 0; ///< zeros that are added at each side before a random crop
  /// Minimum area of a random part of the image that is resized to the size of the input, as a
  /// fraction; 0: none. torchvision's RandomResizedCrop.
  float minArea = 0;
  bool flips = false; ///< flip horizontally with probability 1/2
  /// Multiply by a factor in [1 - x, 1 + x], as torchvision's ColorJitter does.
  float brightness = 0, contrast = 0, saturation = 0;
  float hue = 0; ///< rotate the color wheel by -x to x turns

  bool operator==(const Augmentation &) const = default;
};

/// Augmentations by name of the input.
using Augmentations = std::map<std::string, Augmentation>;

/// Parses a list such as "crop:4,flip,hue:0.1". Throws the problem as a user error without
/// the flag.
Augmentation parseAugmentation(std::string_view text);
/// Returns a list in the form that the parser reads.
std::string augmentationText(const Augmentation &augmentation);
/// Returns the flags of all augmentations: "--augment x=crop:4,flip".
std::string flagsOf(const Augmentations &augmentations);

/// The random numbers of a sample: those of its position in the order of samples.
struct RandomOrigin {
  uint64_t seed = 0;
  int64_t position = -1; ///< -1: none, so that the center is cropped
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DATA_AUGMENTATION_H
