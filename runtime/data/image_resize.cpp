// A separable filter: rows of the box are resized first, then columns of the result.
#include "runtime/data/image_resize.h"

#include <algorithm>
#include <cmath>

namespace mtc::runtime {
namespace {

/// Returns the maximum number of pixels of one axis with a weight, for a box of at most `in`
/// pixels.
int64_t maxTaps(int64_t in, int64_t out) { return 2 * ((std::max(in, out) + out - 1) / out) + 1; }

/// Pixels of the box that contribute to a pixel of the result.
struct Taps {
  int64_t first, count;
};

/// Computes the weights of pixel `i`, normalized to a sum of 1.
Taps computeWeights(int64_t in, int64_t out, int64_t i, float *weights) {
  const double scale = static_cast<double>(in) / static_cast<double>(out),
               stretch = std::max(1.0, scale), center = (static_cast<double>(i) + 0.5) * scale;
  const auto first = std::max<int64_t>(0, static_cast<int64_t>(std::floor(center - stretch + 0.5))),
             end = std::min(in, static_cast<int64_t>(std::floor(center + stretch + 0.5)));
  double sum = 0;
  for (int64_t k = first; k < end; ++k)
    sum += std::max(0.0, 1 - std::abs((static_cast<double>(k) + 0.5 - center) / stretch));
  for (int64_t k = first; k < end; ++k)
    weights[k - first] = static_cast<float>(
        std::max(0.0, 1 - std::abs((static_cast<double>(k) + 0.5 - center) / stretch)) / sum);
  return {first, end - first};
}

} // namespace

int64_t resizeElements(const ImageLayout &from, const ImageLayout &into) {
  return from.channels * from.height * into.width +
         std::max(maxTaps(from.width, into.width), maxTaps(from.height, into.height));
}

void resizeImage(const float *image, const ImageLayout &from, const ImageBox &box,
                 const ImageLayout &into, float *work, float *to) {
  // [channels, box height, width of the result]
  float *rows = work, *weights = work + from.channels * from.height * into.width;
  for (int64_t x = 0; x < into.width; ++x) {
    const Taps taps = computeWeights(box.width, into.width, x, weights);
    for (int64_t c = 0; c < from.channels; ++c)
      for (int64_t y = 0; y < box.height; ++y) {
        float sum = 0;
        for (int64_t k = 0; k < taps.count; ++k)
          sum += weights[k] * image[from.at(c, box.top + y, box.left + taps.first + k)];
        rows[(c * box.height + y) * into.width + x] = sum;
      }
  }
  for (int64_t y = 0; y < into.height; ++y) {
    const Taps taps = computeWeights(box.height, into.height, y, weights);
    for (int64_t c = 0; c < from.channels; ++c)
      for (int64_t x = 0; x < into.width; ++x) {
        float sum = 0;
        for (int64_t k = 0; k < taps.count; ++k)
          sum += weights[k] * rows[(c * box.height + taps.first + k) * into.width + x];
        to[into.at(c, y, x)] = sum;
      }
  }
}

} // namespace mtc::runtime
