// Random choices of --augment, and their application.
#include "runtime/data/images/image_augmenter.h"

#include "runtime/data/images/image_colors.h"
#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"
#include "runtime/support/philox.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace mtc::runtime {
namespace {

/// Returns the words of group `group` of an image's random numbers.
std::array<uint32_t, 4> randomWords(RandomOrigin origin, uint32_t group) {
  constexpr uint32_t stream = 0x6175676d; // differs from the numbers of RowOrder
  const auto position = static_cast<uint64_t>(origin.position);
  return philox(
      {static_cast<uint32_t>(position), static_cast<uint32_t>(position >> 32), stream, group},
      {static_cast<uint32_t>(origin.seed), static_cast<uint32_t>(origin.seed >> 32)});
}

/// Returns a number in [-strength, strength).
float around(uint32_t word, float strength) {
  const float unit = static_cast<float>(word >> 8) * 0x1p-24F;
  return strength * (2 * unit - 1);
}

/// Returns a number in [0, count).
int64_t below(uint32_t word, int64_t count) {
  return static_cast<int64_t>(static_cast<uint64_t>(word) * static_cast<uint64_t>(count) >> 32);
}

} // namespace

std::optional<ImageLayout> imageLayoutOf(const std::vector<int64_t> &dims) {
  auto isColor = [](int64_t extent) { return extent == 1 || extent == 3; };
  if (dims.size() == 2)
    return ImageLayout{1, dims[0], dims[1], false};
  if (dims.size() == 3 && isColor(dims[0]))
    return ImageLayout{dims[0], dims[1], dims[2], false};
  if (dims.size() == 3 && isColor(dims[2]))
    return ImageLayout{dims[2], dims[0], dims[1], true};
  return std::nullopt;
}

ImageLayout ImageAugmenter::layoutOrThrow(const std::vector<int64_t> &dims) const {
  if (const std::optional<ImageLayout> layout = imageLayoutOf(dims))
    return *layout;
  userError("--augment ", name, ": a sample has shape ", shapeText(dims),
            "; expected an image of 1 or 3 channels: [channels, height, width] or [height, width, "
            "channels]");
}

ImageAugmenter::ImageAugmenter(const Augmentation &augmentation, const std::vector<int64_t> &wanted,
                               float white, std::string inputName)
    : augmentation(augmentation), wanted(wanted), white(white), name(std::move(inputName)),
      into(layoutOrThrow(wanted)) {
  if (augmentation.saturation + augmentation.hue > 0 && into.channels != 3)
    userError("--augment ", name, "=", augmentation.hue > 0 ? "hue" : "saturation",
              ": an image has one channel; expected three");
}

ImageLayout ImageAugmenter::layoutOfStored(const std::vector<int64_t> &stored) const {
  const ImageLayout from = layoutOrThrow(stored);
  auto refuse = [&](const auto &...expected) {
    userError("--augment ", name, ": the file has images of shape ", shapeText(stored),
              ", and the input ", shapeText(wanted), "; expected ", expected...);
  };
  if (from.channels != into.channels || from.isLast != into.isLast ||
      stored.size() != wanted.size())
    refuse("equal channels");
  if (!augmentation.side && (from.height < into.height || from.width < into.width))
    refuse("images of at least its size");
  if (!augmentation.side && !augmentation.crops && stored != wanted)
    refuse("--augment ", name, "=crop");
  return from;
}

/// Chooses the part of RandomResizedCrop: a random area and ratio of sides from 3/4 to 4/3, of
/// which the first of ten that fits is taken, else the largest central part with such a ratio.
ImageBox ImageAugmenter::randomBox(const ImageLayout &from, RandomOrigin origin) const {
  constexpr uint32_t attempts = 10, firstGroup = 2;
  const double maxRatio = 4.0 / 3;
  const auto height = static_cast<double>(from.height), width = static_cast<double>(from.width);
  const auto minArea = static_cast<double>(augmentation.minArea);
  auto uniform = [](uint32_t word) { return static_cast<double>(word) * 0x1p-32; };
  for (uint32_t i = 0; i < attempts; ++i) {
    const auto words = randomWords(origin, firstGroup + i);
    const double area = height * width * (minArea + (1 - minArea) * uniform(words[0])),
                 ratio = std::exp((2 * uniform(words[1]) - 1) * std::log(maxRatio));
    const auto w = static_cast<int64_t>(std::llround(std::sqrt(area * ratio))),
               h = static_cast<int64_t>(std::llround(std::sqrt(area / ratio)));
    if (w > 0 && w <= from.width && h > 0 && h <= from.height)
      return {below(words[2], from.height - h + 1), below(words[3], from.width - w + 1), h, w};
  }
  ImageBox box = {0, 0, from.height, from.width};
  box.width = std::clamp<int64_t>(std::llround(height * maxRatio), 1, box.width);
  box.height = std::clamp<int64_t>(std::llround(width * maxRatio), 1, box.height);
  box.top = (from.height - box.height) / 2;
  box.left = (from.width - box.width) / 2;
  return box;
}

/// Resizes the shorter side to `side`, or to the minimum that covers the input, with the rounding
/// of torchvision's Resize.
void ImageAugmenter::resizeToSide(int64_t side, ImageView &view) const {
  const int64_t shorter = std::min(view.box.height, view.box.width),
                longer = std::max(view.box.height, view.box.width);
  auto covers = [&](int64_t wantedExtent, int64_t extent) {
    return (wantedExtent * shorter + extent - 1) / extent;
  };
  side = std::max({side, covers(into.height, view.box.height), covers(into.width, view.box.width)});
  const int64_t other = side * longer / shorter;
  const bool isWide = view.box.width > view.box.height;
  view.height = std::max(isWide ? side : other, into.height);
  view.width = std::max(isWide ? other : side, into.width);
}

/// Chooses the part of an image that becomes the sample: a random one in training, or the center.
ImageView ImageAugmenter::chooseView(const ImageLayout &from, RandomOrigin origin,
                                     bool isResized) const {
  const bool isRandom = origin.position >= 0;
  if (isRandom && augmentation.minArea > 0)
    return {randomBox(from, origin), into.height, into.width, 0, 0};
  ImageView view = {{0, 0, from.height, from.width}, from.height, from.width, 0, 0};
  if (isResized)
    resizeToSide(augmentation.side, view);
  const int64_t spareRows = view.height - into.height, spareColumns = view.width - into.width;
  if (isRandom && augmentation.crops) {
    const auto words = randomWords(origin, 0);
    const int64_t padding = augmentation.padding;
    view.top = below(words[0], spareRows + 2 * padding + 1) - padding;
    view.left = below(words[1], spareColumns + 2 * padding + 1) - padding;
  } else {
    // torchvision's CenterCrop rounds halves to even.
    auto center = [](int64_t spare) { return spare / 2 + (spare % 4 == 3); };
    view.top = center(spareRows);
    view.left = center(spareColumns);
  }
  return view;
}

bool ImageAugmenter::isFlipped(RandomOrigin origin) const {
  return augmentation.flips && origin.position >= 0 && (randomWords(origin, 0)[2] & 1);
}

void ImageAugmenter::changeColors(RandomOrigin origin, float *image) const {
  if (origin.position < 0)
    return;
  const auto words = randomWords(origin, 1);
  auto chosen = [&](float strength, float center, uint32_t word) {
    return strength > 0 ? std::optional(center + around(word, strength)) : std::nullopt;
  };
  runtime::changeColors({.brightness = chosen(augmentation.brightness, 1, words[0]),
                         .contrast = chosen(augmentation.contrast, 1, words[1]),
                         .saturation = chosen(augmentation.saturation, 1, words[2]),
                         .hue = chosen(augmentation.hue, 0, words[3])},
                        into, white, image);
}

void ImageAugmenter::apply(const float *stored, const ImageLayout &from, RandomOrigin origin,
                           ImageBuffers &buffers, float *to) const {
  showImage(stored, from, chooseView(from, origin, augmentation.side > 0), into, buffers.resized,
            to);
  if (isFlipped(origin))
    for (int64_t c = 0; c < into.channels; ++c)
      for (int64_t y = 0; y < into.height; ++y)
        for (int64_t x = 0; x < into.width / 2; ++x)
          std::swap(to[into.at(c, y, x)], to[into.at(c, y, into.width - 1 - x)]);
  changeColors(origin, to);
}

void ImageAugmenter::apply(PixelImage &stored, RandomOrigin origin, ImageBuffers &buffers,
                           float *to) const {
  if (into.channels == 1)
    stored.makeGray();
  const ImageLayout shown = {into.channels, into.height, into.width, /*isLast=*/true};
  uint8_t *pixels = buffers.pixels.get(shown.elements());
  showImage(stored.pixels(), stored.layout(), chooseView(stored.layout(), origin, true), shown,
            buffers.resizedPixels, pixels);
  const bool flips = isFlipped(origin);
  for (int64_t c = 0; c < into.channels; ++c)
    for (int64_t y = 0; y < into.height; ++y)
      for (int64_t x = 0; x < into.width; ++x)
        to[into.at(c, y, x)] =
            static_cast<float>(pixels[shown.at(c, y, flips ? into.width - 1 - x : x)]);
  changeColors(origin, to);
}

} // namespace mtc::runtime
