#include "runtime/data/images/image_colors.h"

#include <algorithm>
#include <cmath>

namespace mtc::runtime {
namespace {

/// The pixels of an image.
struct Pixels {
  Pixels(const ImageLayout &layout, float *image)
      : image(image), count(layout.height * layout.width), channels(layout.channels),
        step(layout.isLast ? layout.channels : 1), plane(layout.isLast ? 1 : count) {}

  float &at(int64_t pixel, int64_t channel) const { return image[pixel * step + channel * plane]; }
  float gray(int64_t pixel) const {
    return channels == 3 ? 0.2989F * at(pixel, 0) + 0.587F * at(pixel, 1) + 0.114F * at(pixel, 2)
                         : at(pixel, 0);
  }

  float *image;
  int64_t count, channels, step, plane;
};

/// Computes y = clamp(f * x + (1 - f) * other(pixel)).
template <typename Other>
void blend(const Pixels &pixels, float f, float maximum, const Other &other) {
  for (int64_t i = 0; i < pixels.count; ++i) {
    const float added = (1 - f) * other(i);
    for (int64_t c = 0; c < pixels.channels; ++c)
      pixels.at(i, c) = std::clamp(f * pixels.at(i, c) + added, 0.0F, maximum);
  }
}

float meanGray(const Pixels &pixels) {
  double sum = 0;
  for (int64_t i = 0; i < pixels.count; ++i)
    sum += static_cast<double>(pixels.gray(i));
  return static_cast<float>(sum / static_cast<double>(pixels.count));
}

/// Rotates the hue of a pixel in HSV. A gray pixel has no hue and stays as it is.
void rotateHue(float turns, float &red, float &green, float &blue) {
  const float value = std::max({red, green, blue}), range = value - std::min({red, green, blue});
  if (range <= 0)
    return;
  float sector = red == value     ? (green - blue) / range
                 : green == value ? 2 + (blue - red) / range
                                  : 4 + (red - green) / range;
  sector += 6 * turns;
  sector -= 6 * std::floor(sector / 6);
  const float part = sector - std::floor(sector), lowest = value - range,
              falling = value - range * part, rising = value - range * (1 - part);
  auto set = [&](float r, float g, float b) {
    red = r;
    green = g;
    blue = b;
  };
  switch (static_cast<int>(sector) % 6) {
  case 0:
    return set(value, rising, lowest);
  case 1:
    return set(falling, value, lowest);
  case 2:
    return set(lowest, value, rising);
  case 3:
    return set(lowest, falling, value);
  case 4:
    return set(rising, lowest, value);
  default:
    return set(value, lowest, falling);
  }
}

} // namespace

void changeColors(const ColorChange &change, const ImageLayout &layout, float maximum,
                  float *image) {
  const Pixels pixels(layout, image);
  if (change.brightness)
    blend(pixels, *change.brightness, maximum, [](int64_t) { return 0.0F; });
  if (change.contrast)
    blend(pixels, *change.contrast, maximum, [mean = meanGray(pixels)](int64_t) { return mean; });
  if (change.saturation)
    blend(pixels, *change.saturation, maximum, [&](int64_t i) { return pixels.gray(i); });
  if (change.hue)
    for (int64_t i = 0; i < pixels.count; ++i)
      rotateHue(*change.hue, pixels.at(i, 0), pixels.at(i, 1), pixels.at(i, 2));
}

} // namespace mtc::runtime
