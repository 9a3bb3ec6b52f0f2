// A separable filter: rows of the box are resized first, then columns of the result.
#include "runtime/data/images/image_resize.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace mtc::runtime {
namespace {

/// Arithmetic of the filter for an element type.
template <typename Element> struct Arithmetic {
  using Weight = float;
  static constexpr float start = 0;
  static float weight(double exact) { return static_cast<float>(exact); }
  static float result(float sum) { return sum; }
};

/// Fixed-point numbers with the precision and rounding of Pillow (src/libImaging/Resample.c).
template <> struct Arithmetic<uint8_t> {
  using Weight = int32_t;
  static constexpr int precision = 22;
  static constexpr int32_t start = 1 << (precision - 1);
  static int32_t weight(double exact) {
    return static_cast<int32_t>(std::lround(exact * (1 << precision)));
  }
  static uint8_t result(int32_t sum) {
    return static_cast<uint8_t>(std::clamp(sum >> precision, 0, 255));
  }
};

/// The part of a view along one axis that is in the resized box.
struct Visible {
  Visible(int64_t resized, int64_t start, int64_t size)
      : first(std::clamp<int64_t>(start, 0, resized)),
        count(std::clamp<int64_t>(start + size, first, resized) - first), offset(first - start) {}

  int64_t first;  ///< in the resized box
  int64_t count;  ///< number of pixels
  int64_t offset; ///< of the first pixel in the view
};

/// The pixels of the box that contribute to each visible pixel of one axis, with their weights.
template <typename Element> class Taps {
public:
  using Weight = typename Arithmetic<Element>::Weight;

  Taps(int64_t in, int64_t out, const Visible &visible)
      : firsts(static_cast<size_t>(visible.count)), counts(firsts.size()) {
    const double scale = static_cast<double>(in) / static_cast<double>(out),
                 support = std::max(1.0, scale), perPixel = 1 / support;
    capacity = static_cast<size_t>(std::ceil(support)) * 2 + 1;
    weights.resize(firsts.size() * capacity);
    std::vector<double> exact(capacity);
    for (size_t i = 0; i < firsts.size(); ++i) {
      const double center =
          (static_cast<double>(visible.first) + static_cast<double>(i) + 0.5) * scale;
      const auto first = std::max<int64_t>(0, std::llround(center - support)),
                 end = std::min<int64_t>(in, std::llround(center + support));
      double sum = 0;
      for (int64_t k = first; k < end; ++k) {
        double &weight = exact[static_cast<size_t>(k - first)];
        weight = std::max(0.0, 1 - std::abs((static_cast<double>(k) - center + 0.5) * perPixel));
        sum += weight;
      }
      firsts[i] = first;
      counts[i] = end - first;
      for (int64_t k = 0; k < end - first; ++k)
        weights[i * capacity + static_cast<size_t>(k)] =
            Arithmetic<Element>::weight(exact[static_cast<size_t>(k)] / sum);
    }
  }

  int64_t first(int64_t i) const { return firsts[static_cast<size_t>(i)]; }
  int64_t count(int64_t i) const { return counts[static_cast<size_t>(i)]; }
  /// Returns the end of the pixels that contribute to any visible pixel.
  int64_t end() const { return firsts.back() + counts.back(); }
  /// Counts pixels from the first one that contributes, and returns its index.
  int64_t skipUnused() {
    const int64_t begin = firsts.front();
    for (int64_t &each : firsts)
      each -= begin;
    return begin;
  }
  const Weight *weightsOf(int64_t i) const {
    return weights.data() + static_cast<size_t>(i) * capacity;
  }

private:
  size_t capacity;
  std::vector<int64_t> firsts, counts;
  std::vector<Weight> weights;
};

/// Computes out[n] = sum over k of weights[k] * in[k * stride + n] for pixel `i` of an axis.
/// `fixed` is the number of elements if it is known at compile time, otherwise 0.
template <int64_t fixed, typename Element>
void filterPixel(const Element *in, int64_t stride, const Taps<Element> &taps, int64_t i,
                 int64_t elements, Element *out) {
  using Numbers = Arithmetic<Element>;
  constexpr int64_t block = fixed ? fixed : 256;
  const typename Numbers::Weight *weights = taps.weightsOf(i);
  const int64_t count = taps.count(i);
  in += taps.first(i) * stride;
  for (int64_t begin = 0; begin < elements; begin += block) {
    const int64_t size = fixed ? fixed : std::min(block, elements - begin);
    std::array<typename Numbers::Weight, block> sums;
    sums.fill(Numbers::start);
    for (int64_t k = 0; k < count; ++k)
      for (int64_t n = 0; n < size; ++n)
        sums[static_cast<size_t>(n)] += weights[k] * in[k * stride + begin + n];
    for (int64_t n = 0; n < size; ++n)
      out[begin + n] = Numbers::result(sums[static_cast<size_t>(n)]);
  }
}

/// Resizes a row of pixels of `channels` adjacent elements.
template <typename Element>
void filterRow(const Element *in, const Taps<Element> &taps, int64_t columns, int64_t channels,
               Element *out) {
  for (int64_t x = 0; x < columns; ++x)
    if (channels == 3)
      filterPixel<3>(in, 3, taps, x, 3, out + x * 3);
    else
      filterPixel<1>(in, 1, taps, x, 1, out + x);
}

/// Resizes the visible part of a view, of which no axis is empty.
template <typename Element>
void resizeVisible(const Element *image, const ImageLayout &from, const ImageView &view,
                   const ImageLayout &into, const Visible &rows, const Visible &columns,
                   GrowingBuffer<Element> &work, Element *to) {
  Taps<Element> tapsOfRows(view.box.height, view.height, rows);
  const Taps<Element> tapsOfColumns(view.box.width, view.width, columns);
  // The channels are planes, or adjacent elements.
  const int64_t planes = from.isLast ? 1 : from.channels, channels = from.channels / planes,
                begin = tapsOfRows.skipUnused(), count = tapsOfRows.end(),
                stride = columns.count * channels;
  Element *resized = work.get(count * stride);
  for (int64_t plane = 0; plane < planes; ++plane) {
    for (int64_t y = 0; y < count; ++y)
      filterRow(image + from.at(plane, view.box.top + begin + y, view.box.left), tapsOfColumns,
                columns.count, channels, resized + y * stride);
    for (int64_t y = 0; y < rows.count; ++y)
      filterPixel<0>(resized, stride, tapsOfRows, y, stride,
                     to + into.at(plane, rows.offset + y, columns.offset));
  }
}

} // namespace

template <typename Element>
void showImage(const Element *image, const ImageLayout &from, const ImageView &view,
               const ImageLayout &into, GrowingBuffer<Element> &work, Element *to) {
  const Visible rows(view.height, view.top, into.height),
      columns(view.width, view.left, into.width);
  if (rows.count < into.height || columns.count < into.width)
    std::fill_n(to, into.elements(), Element{});
  if (rows.count == 0 || columns.count == 0)
    return;
  if (view.box.height != view.height || view.box.width != view.width)
    return resizeVisible(image, from, view, into, rows, columns, work, to);
  const int64_t planes = from.isLast ? 1 : from.channels, channels = from.channels / planes;
  for (int64_t plane = 0; plane < planes; ++plane)
    for (int64_t y = 0; y < rows.count; ++y)
      std::copy_n(image +
                      from.at(plane, view.box.top + rows.first + y, view.box.left + columns.first),
                  columns.count * channels, to + into.at(plane, rows.offset + y, columns.offset));
}

template void showImage(const float *, const ImageLayout &, const ImageView &, const ImageLayout &,
                        GrowingBuffer<float> &, float *);
template void showImage(const uint8_t *, const ImageLayout &, const ImageView &,
                        const ImageLayout &, GrowingBuffer<uint8_t> &, uint8_t *);

} // namespace mtc::runtime
