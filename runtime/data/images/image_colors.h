// Changes of the colors of images.
#ifndef MTC_RUNTIME_DATA_IMAGES_IMAGE_COLORS_H
#define MTC_RUNTIME_DATA_IMAGES_IMAGE_COLORS_H

#include "runtime/data/images/image_resize.h"

#include <optional>

namespace mtc::runtime {

/// The changes of one image; nullopt: none.
struct ColorChange {
  std::optional<float> brightness, contrast, saturation; ///< factors; 1 changes nothing
  std::optional<float> hue; ///< rotation of the color wheel in turns, from -0.5 to 0.5
};

/// Computes the formulas of torchvision's ColorJitter in the order of the fields. `maximum` is the
/// value of white. Saturation and hue require three channels.
void changeColors(const ColorChange &change, const ImageLayout &layout, float maximum,
                  float *image);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DATA_IMAGES_IMAGE_COLORS_H
