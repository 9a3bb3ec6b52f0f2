// Lists of --augment.
#include "runtime/data/augmentation.h"

#include "runtime/abi/number.h"
#include "runtime/support/failure.h"

#include <array>
#include <charconv>

namespace mtc::runtime {
namespace {

constexpr struct {
  std::string_view name;
  float Augmentation::*field;
  float maximum;
} colors[] = {{"brightness", &Augmentation::brightness, 1},
              {"contrast", &Augmentation::contrast, 1},
              {"saturation", &Augmentation::saturation, 1},
              {"hue", &Augmentation::hue, 0.5F}};

/// The default of torchvision's RandomResizedCrop.
constexpr float defaultMinArea = 0.08F;

/// Parses a number above 0, such as the strength of a color change.
float parseStrength(std::string_view name, std::string_view value, float maximum = 1) {
  double number = 0;
  const std::string problem = abi::parseNumber(value, number);
  if (!problem.empty() || !(number > 0 && number <= static_cast<double>(maximum)))
    userError(name, ": expected a number above 0 and at most ", maximum, ", such as ", name,
              ":0.2");
  return static_cast<float>(number);
}

/// Parses a number of pixels; `what` is its meaning, with an example.
int64_t parsePixels(std::string_view name, std::string_view value, int64_t minimum, int64_t maximum,
                    const char *what) {
  int64_t pixels = 0;
  const std::string problem = abi::parseNumber(value, pixels);
  if (!problem.empty() || pixels < minimum || pixels > maximum)
    userError(name, ": expected ", minimum, " to ", maximum, " pixels ", what);
  return pixels;
}

/// Reads one entry of a list.
void parseEntry(std::string_view entry, Augmentation &augmentation) {
  const size_t colon = entry.find(':');
  const bool hasValue = colon != std::string_view::npos;
  const std::string_view name = entry.substr(0, colon),
                         value = hasValue ? entry.substr(colon + 1) : "";
  constexpr int64_t maxPadding = 1024, maxSide = 1 << 14;
  if (name == "resize") {
    augmentation.side =
        parsePixels(name, value, 1, maxSide, "of the shorter side, such as resize:256");
    return;
  }
  if (name == "crop") {
    augmentation.crops = true;
    if (hasValue)
      augmentation.padding = parsePixels(name, value, 0, maxPadding, "of padding, such as crop:4");
    return;
  }
  if (name == "resized-crop") {
    augmentation.crops = true;
    augmentation.minArea = hasValue ? parseStrength(name, value) : defaultMinArea;
    return;
  }
  if (entry == "flip") {
    augmentation.flips = true;
    return;
  }
  for (const auto &color : colors)
    if (name == color.name) {
      augmentation.*color.field = parseStrength(name, value, color.maximum);
      return;
    }
  userError("'", entry,
            "' is unknown; expected resize:SIDE, crop, crop:PADDING, resized-crop, "
            "resized-crop:AREA, flip, brightness:X, contrast:X, saturation:X or hue:X");
}

std::string spell(float number) {
  std::array<char, 32> digits{};
  return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr};
}

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
  if (augmentation.side)
    add(text("resize:", augmentation.side));
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

} // namespace mtc::runtime
