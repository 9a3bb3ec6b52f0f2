// Random augmentation of images while they are read: --augment.
#ifndef MTC_RUNTIME_DATA_AUGMENTATION_H
#define MTC_RUNTIME_DATA_AUGMENTATION_H

#include "runtime/data/image_resize.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace mtc::runtime {

/// The augmentation of one input, in the order of its fields.
struct Augmentation {
  bool crops = false;  ///< crop to the size of the input: random in training, else the center
  int64_t padding = 0; ///< zeros that are added at each side before a random crop
  /// Minimum area of a random part of the image that is resized to the size of the input, as a
  /// fraction; 0: none. torchvision's RandomResizedCrop.
  float minArea = 0;
  bool flips = false; ///< flip horizontally with probability 1/2
  /// Multiply by a factor in [1 - x, 1 + x], as torchvision's ColorJitter does.
  float brightness = 0, contrast = 0, saturation = 0;

  bool operator==(const Augmentation &) const = default;
};

/// Augmentations by name of the input.
using Augmentations = std::map<std::string, Augmentation>;

/// Parses a list such as "crop:4,flip,brightness:0.2". Throws the problem as a user error without
/// the flag.
Augmentation parseAugmentation(std::string_view text);
/// Returns a list in the form that the parser reads.
std::string augmentationText(const Augmentation &augmentation);
/// Returns the flags of all augmentations: "--augment x=crop:4,flip".
std::string flagsOf(const Augmentations &augmentations);

/// The random numbers of a sample: those of its position in the order of samples.
struct RandomOrigin {
  uint64_t seed = 0;
  int64_t position = -1; ///< -1: none; the center is cropped and nothing else is changed
};

/// An augmentation for images of one size.
class ImageAugmenter {
public:
  /// `stored` and `wanted` are the shapes of a sample in the file and in the input: [channels,
  /// height, width], or [height, width, channels] if only the last axis has 1 or 3 elements.
  /// `maximum` is the value of white. `name` is the input's name. Throws a user error if the shapes
  /// do not fit the augmentation.
  ImageAugmenter(const Augmentation &augmentation, const std::vector<int64_t> &stored,
                 const std::vector<int64_t> &wanted, float maximum, const std::string &name);

  int64_t storedElements() const { return from.elements(); }
  /// Returns the number of floats of `work`.
  int64_t workElements() const { return augmentation.minArea > 0 ? resizeElements(from, into) : 0; }

  /// Computes an image of the input's shape from a stored one. Equal origins give equal bits.
  void apply(const float *stored, RandomOrigin origin, float *work, float *to) const;

private:
  static ImageLayout layoutOf(const std::vector<int64_t> &dims, const std::string &name);
  void copy(const float *stored, int64_t top, int64_t left, bool isFlipped, float *to) const;
  void flip(float *image) const;
  ImageBox randomBox(RandomOrigin origin) const;
  void changeColors(float brightness, float contrast, float saturation, float *to) const;

  Augmentation augmentation;
  ImageLayout from, into;
  float maximum;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DATA_AUGMENTATION_H
