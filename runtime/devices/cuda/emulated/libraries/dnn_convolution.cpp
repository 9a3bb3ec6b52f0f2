// One loop nest for the products of all three directions. Tensors are converted to channels-last,
// so that the innermost loop is contiguous.
#include "runtime/devices/cuda/emulated/libraries/dnn_convolution.h"

#include <algorithm>

namespace mtc::runtime::cuda::dnn {

namespace {

using Numbers = std::vector<int64_t>;

Numbers extentsOf(const DescriptorObject &operation, int tensor) {
  return operation.value<RawDescriptor>(tensor)->values<int64_t>(tensorExtents);
}

struct Problem {
  explicit Problem(const DescriptorObject &operation) {
    const ConvolutionAttributes names = attributesOf(static_cast<Kind>(operation.kind));
    const DescriptorObject &windows = *operation.value<RawDescriptor>(names.convolution);
    w = extentsOf(operation, names.w);
    x = extentsOf(operation, names.x);
    y = extentsOf(operation, names.y);
    axes = static_cast<size_t>(windows.value<int64_t>(convolutionAxes));
    strides = windows.values<int64_t>(convolutionStrides);
    dilations = windows.values<int64_t>(convolutionDilations);
    before = windows.values<int64_t>(convolutionBefore);
    after = windows.values<int64_t>(convolutionAfter);
  }

  /// Returns whether the output has a position for each window that fits into the padded input.
  bool hasAllPositions() const {
    for (size_t i = 0; i < axes; ++i) {
      const int64_t room = x[2 + i] + before[i] + after[i] - dilations[i] * (w[2 + i] - 1) - 1;
      if (room < 0 || y[2 + i] != room / strides[i] + 1)
        return false;
    }
    return true;
  }

  size_t axes;
  Numbers w, x, y, strides, dilations, before, after;
};

int64_t product(const Numbers &extents, size_t first) {
  int64_t result = 1;
  for (size_t i = first; i < extents.size(); ++i)
    result *= extents[i];
  return result;
}

/// Transposes [outer, channels, windows] to [outer, windows, channels], or back.
template <typename To, typename From>
std::vector<To> exchanged(const std::vector<From> &numbers, int64_t outer, int64_t rows,
                          int64_t columns) {
  std::vector<To> result(numbers.size());
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c)
        result[static_cast<size_t>((o * columns + c) * rows + r)] =
            static_cast<To>(numbers[static_cast<size_t>((o * rows + r) * columns + c)]);
  return result;
}

/// Calls `use` with the spatial offsets in x, y and w for each pair of a window and a tap inside
/// the input.
template <typename Use> void forEachTap(const Problem &p, const Use &use) {
  const int64_t positions = product(p.y, 2), taps = product(p.w, 2);
  for (int64_t position = 0; position < positions; ++position)
    for (int64_t tap = 0; tap < taps; ++tap) {
      int64_t place = 0, extent = 1, o = position, k = tap;
      bool isInside = true;
      for (size_t i = p.axes; i-- > 0; extent *= p.x[2 + i]) {
        const int64_t at =
            o % p.y[2 + i] * p.strides[i] + k % p.w[2 + i] * p.dilations[i] - p.before[i];
        isInside = isInside && at >= 0 && at < p.x[2 + i];
        place += at * extent;
        o /= p.y[2 + i];
        k /= p.w[2 + i];
      }
      if (isInside)
        use(place, position, tap);
    }
}

/// Computes sums[..] += factor * terms[..].
void accumulate(double *sums, double factor, const double *terms, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    sums[i] += factor * terms[i];
}

} // namespace

std::string findConvolutionFault(const DescriptorObject &operation) {
  const ConvolutionAttributes names = attributesOf(static_cast<Kind>(operation.kind));
  for (int attribute : {names.convolution, names.w, names.x, names.y})
    if (!operation.value<RawDescriptor>(attribute))
      return "a convolution's operation lacks a descriptor";
  if (!operation.attributes.count(names.alpha) || operation.value<float>(names.alpha) != 1 ||
      !operation.attributes.count(names.beta) || operation.value<float>(names.beta) != 0)
    return "a convolution's operation has other factors than 1 and 0";
  const Problem p(operation);
  if (p.w.size() != p.axes + 2 || p.x.size() != p.axes + 2 || p.y.size() != p.axes + 2)
    return "a convolution's tensors have other axes than its windows";
  for (int tensor : {names.x, names.y})
    if (operation.value<RawDescriptor>(tensor)->value<int>(tensorType) !=
            operation.value<RawDescriptor>(names.w)->value<int>(tensorType) &&
        !operation.value<RawDescriptor>(tensor)->value<char>(tensorIsVirtual))
      return "a convolution's tensors have different elements";
  if (p.x[0] != p.y[0] || p.w[0] != p.y[1] || p.x[1] % p.w[1] != 0 ||
      p.w[0] % (p.x[1] / p.w[1]) != 0)
    return "a convolution's batch or channels do not fit";
  return p.hasAllPositions() ? "" : "a convolution's output has not one position for each window";
}

std::vector<float> convolve(const DescriptorObject &operation, const std::vector<float> &w,
                            const std::vector<float> &x, const std::vector<float> &y) {
  const Problem p(operation);
  const int64_t inputs = p.w[1], groups = p.x[1] / inputs, outputs = p.w[0] / groups;
  const int64_t xPlaces = product(p.x, 2), yPlaces = product(p.y, 2), taps = product(p.w, 2);
  const bool givesX = operation.kind == convolutionBackwardData,
             givesW = operation.kind == convolutionBackwardFilter;
  std::vector<double> xs = exchanged<double>(x, p.x[0], p.x[1], xPlaces),
                      ys = exchanged<double>(y, p.y[0], p.y[1], yPlaces);
  // [group, tap, inputs, outputs], with the last two axes exchanged if x is computed.
  std::vector<double> ws(w.size());
  auto weight = [&](int64_t m, int64_t c, int64_t tap) {
    const int64_t matrix = (m / outputs * taps + tap) * inputs * outputs;
    return static_cast<size_t>(matrix +
                               (givesX ? m % outputs * inputs + c : c * outputs + m % outputs));
  };
  for (int64_t m = 0; m < p.w[0]; ++m)
    for (int64_t c = 0; c < inputs; ++c)
      for (int64_t tap = 0; tap < taps; ++tap)
        ws[weight(m, c, tap)] =
            givesW ? 0 : static_cast<double>(w[static_cast<size_t>((m * inputs + c) * taps + tap)]);
  std::vector<double> &sums = givesX ? xs : givesW ? ws : ys;
  std::fill(sums.begin(), sums.end(), 0);
  forEachTap(p, [&](int64_t place, int64_t position, int64_t tap) {
    for (int64_t n = 0; n < p.x[0]; ++n)
      for (int64_t g = 0; g < groups; ++g) {
        double *input = &xs[static_cast<size_t>(((n * xPlaces + place) * groups + g) * inputs)],
               *output =
                   &ys[static_cast<size_t>(((n * yPlaces + position) * groups + g) * outputs)],
               *matrix = &ws[static_cast<size_t>((g * taps + tap) * inputs * outputs)];
        if (givesX)
          for (int64_t m = 0; m < outputs; ++m)
            accumulate(input, output[m], matrix + m * inputs, inputs);
        else
          for (int64_t c = 0; c < inputs; ++c)
            givesW ? accumulate(matrix + c * outputs, input[c], output, outputs)
                   : accumulate(output, input[c], matrix + c * outputs, outputs);
      }
  });
  if (givesX)
    return exchanged<float>(xs, p.x[0], xPlaces, p.x[1]);
  if (!givesW)
    return exchanged<float>(ys, p.y[0], yPlaces, p.y[1]);
  std::vector<float> result(w.size());
  for (int64_t m = 0; m < p.w[0]; ++m)
    for (int64_t c = 0; c < inputs; ++c)
      for (int64_t tap = 0; tap < taps; ++tap)
        result[static_cast<size_t>((m * inputs + c) * taps + tap)] =
            static_cast<float>(ws[weight(m, c, tap)]);
  return result;
}

} // namespace mtc::runtime::cuda::dnn
