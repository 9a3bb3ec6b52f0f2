// Crops, flips and color changes, in f32.
#include "runtime/data/augmentation.h"

#include "runtime/abi/number.h"
#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"
#include "runtime/support/philox.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace mtc::runtime {
namespace {

constexpr struct {
  std::string_view name;
  float Augmentation::*field;
} colors[] = {{"brightness", &Augmentation::brightness},
              {"contrast", &Augmentation::contrast},
              {"saturation", &Augmentation::saturation}};

/// The default of torchvision's RandomResizedCrop.
constexpr float defaultMinArea = 0.08F;

/// Parses a strength of a color change, or a fraction.
float parseStrength(std::string_view name, std::string_view value) {
  double number = 0;
  const std::string problem = abi::parseNumber(value, number);
  if (!problem.empty() || !(number > 0 && number <= 1))
    userError(name, ": expected a number above 0 and at most 1, such as ", name, ":0.2");
  return static_cast<float>(number);
}

/// Reads one entry of a list.
void parseEntry(std::string_view entry, Augmentation &augmentation) {
  const size_t colon = entry.find(':');
  const std::string_view name = entry.substr(0, colon),
                         value = colon == std::string_view::npos ? "" : entry.substr(colon + 1);
  constexpr int64_t maxPadding = 1024;
  if (name == "crop") {
    augmentation.crops = true;
    if (colon == std::string_view::npos)
      return;
    const std::string problem = abi::parseNumber(value, augmentation.padding);
    if (!problem.empty() || augmentation.padding < 0 || augmentation.padding > maxPadding)
      userError("crop: expected the pixels of padding, 0 to ", maxPadding, ", such as crop:4");
    return;
  }
  if (name == "resized-crop") {
    augmentation.crops = true;
    augmentation.minArea =
        colon == std::string_view::npos ? defaultMinArea : parseStrength(name, value);
    return;
  }
  if (entry == "flip") {
    augmentation.flips = true;
    return;
  }
  for (const auto &color : colors)
    if (name == color.name) {
      augmentation.*color.field = parseStrength(name, value);
      return;
    }
  userError("'", entry,
            "' is unknown; expected crop, crop:PADDING, resized-crop, "
            "resized-crop:AREA, flip, brightness:X, contrast:X or saturation:X");
}

std::string spell(float number) {
  std::array<char, 32> digits{};
  return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr};
}

/// Returns the words of group `group` of an image's random numbers.
std::array<uint32_t, 4> randomWords(RandomOrigin origin, uint32_t group) {
  constexpr uint32_t stream = 0x6175676d; // differs from the numbers of RowOrder
  const auto position = static_cast<uint64_t>(origin.position);
  return philox(
      {static_cast<uint32_t>(position), static_cast<uint32_t>(position >> 32), stream, group},
      {static_cast<uint32_t>(origin.seed), static_cast<uint32_t>(origin.seed >> 32)});
}

/// Returns a number in [0, 1).
float unit(uint32_t word) { return static_cast<float>(word >> 8) * 0x1p-24F; }

/// Returns a number in [0, count).
int64_t below(uint32_t word, int64_t count) {
  return static_cast<int64_t>(static_cast<uint64_t>(word) * static_cast<uint64_t>(count) >> 32);
}

/// Returns a factor in [1 - strength, 1 + strength).
float factor(uint32_t word, float strength) { return 1 + strength * (2 * unit(word) - 1); }

} // namespace

Augmentation parseAugmentation(std::string_view text) {
  Augmentation augmentation;
  while (true) {
    const size_t comma = text.find(',');
    parseEntry(text.substr(0, comma), augmentation);
    if (comma == std::string_view::npos)
      break;
    text.remove_prefix(comma + 1);
  }
  if (augmentation.minArea > 0 && augmentation.padding)
    userError("crop:PADDING and resized-crop both crop; expected one of them");
  return augmentation;
}

std::string augmentationText(const Augmentation &augmentation) {
  std::string list;
  auto add = [&](std::string_view entry) { list.append(list.empty() ? "" : ",").append(entry); };
  if (augmentation.minArea > 0)
    add("resized-crop:" + spell(augmentation.minArea));
  else if (augmentation.crops)
    add(augmentation.padding ? text("crop:", augmentation.padding) : "crop");
  if (augmentation.flips)
    add("flip");
  for (const auto &color : colors)
    if (const float strength = augmentation.*color.field; strength > 0)
      add(text(color.name, ":", spell(strength)));
  return list;
}

std::string flagsOf(const Augmentations &augmentations) {
  std::string flags;
  for (const auto &[name, augmentation] : augmentations)
    flags +=
        text(flags.empty() ? "" : " ", "--augment ", name, "=", augmentationText(augmentation));
  return flags;
}

ImageLayout ImageAugmenter::layoutOf(const std::vector<int64_t> &dims, const std::string &name) {
  auto isColor = [](int64_t extent) { return extent == 1 || extent == 3; };
  if (dims.size() == 2)
    return {1, dims[0], dims[1], false};
  if (dims.size() == 3 && isColor(dims[0]))
    return {dims[0], dims[1], dims[2], false};
  if (dims.size() == 3 && isColor(dims[2]))
    return {dims[2], dims[0], dims[1], true};
  userError("--augment ", name, ": a sample has shape ", shapeText(dims),
            "; expected an image of 1 or 3 channels: [channels, height, width] or [height, width, "
            "channels]");
}

ImageAugmenter::ImageAugmenter(const Augmentation &augmentation, const std::vector<int64_t> &stored,
                               const std::vector<int64_t> &wanted, float maximum,
                               const std::string &name)
    : augmentation(augmentation), from(layoutOf(stored, name)), into(layoutOf(wanted, name)),
      maximum(maximum) {
  if (from.channels != into.channels || from.isLast != into.isLast ||
      stored.size() != wanted.size())
    userError("--augment ", name, ": the file has images of shape ", shapeText(stored),
              ", and the input ", shapeText(wanted), "; expected equal channels");
  if (from.height < into.height || from.width < into.width)
    userError("--augment ", name, ": the file has images of shape ", shapeText(stored),
              ", and the input ", shapeText(wanted), "; expected images of at least its size");
  if (!augmentation.crops && stored != wanted)
    userError("--augment ", name, ": the file has images of shape ", shapeText(stored),
              ", and the input ", shapeText(wanted), "; expected --augment ", name, "=crop");
  if (augmentation.saturation > 0 && from.channels != 3)
    userError("--augment ", name, "=saturation: an image has one channel; expected three");
}

void ImageAugmenter::copy(const float *stored, int64_t top, int64_t left, bool isFlipped,
                          float *to) const {
  for (int64_t c = 0; c < into.channels; ++c)
    for (int64_t y = 0; y < into.height; ++y) {
      const int64_t row = top + y;
      const bool isInside = row >= 0 && row < from.height;
      for (int64_t x = 0; x < into.width; ++x) {
        const int64_t column = left + (isFlipped ? into.width - 1 - x : x);
        to[into.at(c, y, x)] =
            isInside && column >= 0 && column < from.width ? stored[from.at(c, row, column)] : 0;
      }
    }
}

/// Computes the formulas of torchvision's ColorJitter in the order brightness, contrast,
/// saturation: y = clamp(f * x + (1 - f) * g), where g is 0, the mean gray of the image, or the
/// gray of the pixel.
void ImageAugmenter::changeColors(float brightness, float contrast, float saturation,
                                  float *to) const {
  const int64_t pixels = into.height * into.width, step = into.isLast ? into.channels : 1,
                plane = into.isLast ? 1 : pixels;
  const bool isColor = into.channels == 3;
  auto clamped = [this](float value) { return std::clamp(value, 0.0F, maximum); };
  auto gray = [&](int64_t pixel) {
    const float *p = to + pixel * step;
    return isColor ? 0.2989F * p[0] + 0.587F * p[plane] + 0.114F * p[2 * plane] : p[0];
  };
  auto blend = [&](int64_t pixel, float f, float other) {
    for (int64_t c = 0; c < into.channels; ++c) {
      float &value = to[pixel * step + c * plane];
      value = clamped(f * value + (1 - f) * other);
    }
  };
  if (augmentation.brightness > 0)
    for (int64_t i = 0; i < pixels; ++i)
      blend(i, brightness, 0);
  if (augmentation.contrast > 0) {
    double sum = 0;
    for (int64_t i = 0; i < pixels; ++i)
      sum += static_cast<double>(gray(i));
    const auto mean = static_cast<float>(sum / static_cast<double>(pixels));
    for (int64_t i = 0; i < pixels; ++i)
      blend(i, contrast, mean);
  }
  if (augmentation.saturation > 0)
    for (int64_t i = 0; i < pixels; ++i)
      blend(i, saturation, gray(i));
}

/// Chooses the part of RandomResizedCrop: a random area and ratio of sides from 3/4 to 4/3, of
/// which the first of ten that fits is taken, else the largest central part with such a ratio.
ImageBox ImageAugmenter::randomBox(RandomOrigin origin) const {
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
  box.width = std::min<int64_t>(box.width, std::llround(height * maxRatio));
  box.height = std::min<int64_t>(box.height, std::llround(width * maxRatio));
  box.top = (from.height - box.height) / 2;
  box.left = (from.width - box.width) / 2;
  return box;
}

void ImageAugmenter::flip(float *image) const {
  for (int64_t c = 0; c < into.channels; ++c)
    for (int64_t y = 0; y < into.height; ++y)
      for (int64_t x = 0; x < into.width / 2; ++x)
        std::swap(image[into.at(c, y, x)], image[into.at(c, y, into.width - 1 - x)]);
}

void ImageAugmenter::apply(const float *stored, RandomOrigin origin, float *work, float *to) const {
  const int64_t spareRows = from.height - into.height, spareColumns = from.width - into.width;
  if (origin.position < 0) {
    // torchvision's CenterCrop rounds halves to even.
    auto center = [](int64_t spare) { return spare / 2 + (spare % 4 == 3); };
    copy(stored, center(spareRows), center(spareColumns), false, to);
    return;
  }
  const auto geometry = randomWords(origin, 0), color = randomWords(origin, 1);
  const bool isFlipped = augmentation.flips && (geometry[2] & 1);
  if (augmentation.minArea > 0) {
    resizeImage(stored, from, randomBox(origin), into, work, to);
    if (isFlipped)
      flip(to);
  } else {
    const int64_t padding = augmentation.padding;
    auto offset = [&](uint32_t word, int64_t spare) {
      return augmentation.crops ? below(word, spare + 2 * padding + 1) - padding : 0;
    };
    copy(stored, offset(geometry[0], spareRows), offset(geometry[1], spareColumns), isFlipped, to);
  }
  changeColors(factor(color[0], augmentation.brightness), factor(color[1], augmentation.contrast),
               factor(color[2], augmentation.saturation), to);
}

} // namespace mtc::runtime
