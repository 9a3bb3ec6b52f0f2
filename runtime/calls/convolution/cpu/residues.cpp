#include "runtime/calls/convolution/cpu/residues.h"

#include "runtime/calls/contraction/cpu/panels.h"
#include "runtime/calls/contraction/cpu/strided_copy.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <vector>

namespace mtc::runtime {
namespace {

constexpr int axes = PatchMatrix::axes;
using Extents = PatchMatrix::Extents;

/// The elements along an axis with one remainder, and the taps that read them: tap
/// `firstTap + q * tapStep` of output `j + before - q * dilation` reads element `remainder + j *
/// stride`.
struct AxisResidue {
  int64_t elements, firstTap = 0, taps = 0, tapStep, dilation, before = 0;

  AxisResidue(int64_t remainder, int64_t input, int64_t kernel, int64_t stride, int64_t dilationOf,
              int64_t beforeOf)
      : elements((input - remainder + stride - 1) / stride) {
    const int64_t common = std::gcd(stride, dilationOf);
    tapStep = stride / common;
    dilation = dilationOf / common;
    for (; firstTap < std::min(tapStep, kernel); ++firstTap)
      if (const int64_t from = remainder + beforeOf - firstTap * dilationOf; from % stride == 0) {
        taps = (kernel - firstTap + tapStep - 1) / tapStep;
        before = from / stride;
        return;
      }
  }
};

/// The elements of some images with one remainder along each axis.
struct Residue {
  StridedTensor taps, orderedTaps; ///< weights in the call's layout, and [group, tap, m, n]
  int64_t firstWeight;
  StridedTensor elements, dense; ///< [batch, position, channel]
  int64_t firstElement;
  std::unique_ptr<LibraryCall> gradient; ///< null if no tap reads the elements
};

int64_t elementCount(const std::vector<int64_t> &extents) {
  return std::accumulate(extents.begin(), extents.end(), int64_t{1}, std::multiplies<>());
}

StridedTensor denseOf(std::vector<int64_t> extents) {
  std::vector<int64_t> strides(extents.size(), 1);
  for (size_t i = extents.size() - 1; i-- > 0;)
    strides[i] = strides[i + 1] * extents[i + 1];
  return {std::move(extents), std::move(strides)};
}

class ResidueConvolution final : public LibraryCall {
public:
  ResidueConvolution(const MtcConvolution &c, int threads, VectorSet set)
      : c(c), threads(threads), set(set), strides(widened(c.strides, 1)),
        input(widened(c.input, 1)), output(widened(c.output, 1)), kernel(widened(c.kernel, 1)),
        elementBytes(mtc_type_bytes(c.type)), resultBytes(mtc_type_bytes(c.result_type)),
        images(imagesAtOnce()) {
    for (int64_t number = 0; number < volume(strides); ++number)
      addResidue({number / strides[2] / strides[1], number / strides[2] % strides[1],
                  number % strides[2]});
    int64_t rest = 0;
    for (const Residue &residue : residues) {
      if (!residue.gradient)
        continue;
      tapBytes =
          std::max(tapBytes, alignedBytes(elementCount(residue.taps.extents) * elementBytes));
      denseBytes =
          std::max(denseBytes, alignedBytes(elementCount(residue.dense.extents) * resultBytes));
      rest = std::max(rest, residue.gradient->scratchBytes());
      name = residue.gradient->implementation();
    }
    total = tapBytes + denseBytes + rest;
  }

  int64_t scratchBytes() const override { return total; }
  MtcSupportLevel supportLevel() const override { return MTC_CALL_FAST; }
  std::string implementation() const override { return name + " of patches by residue"; }

  void run(char *const *buffers, char *scratch) override {
    char *const dense = scratch + tapBytes, *const rest = dense + denseBytes;
    const int64_t imageBytes = volume(input) * c.groups * c.input_channels * resultBytes,
                  sourceBytes = volume(output) * c.groups * c.output_channels * elementBytes;
    const uint32_t zero = 0;
    for (const Residue &residue : residues) {
      const StridedTensor zeros = {residue.elements.extents, std::vector<int64_t>(axes + 2, 0)};
      if (residue.gradient)
        copyStrided(residue.taps, buffers[1] + residue.firstWeight * elementBytes,
                    residue.orderedTaps, scratch, elementBytes, threads);
      for (int64_t image = 0; image < c.batch; image += images) {
        char *const elements = buffers[2] + image * imageBytes + residue.firstElement * resultBytes;
        if (!residue.gradient) {
          copyStrided(zeros, reinterpret_cast<const char *>(&zero), residue.elements, elements,
                      resultBytes, threads);
          continue;
        }
        char *const operands[] = {buffers[0] + image * sourceBytes, scratch, dense};
        residue.gradient->run(operands, rest);
        copyStrided(residue.dense, dense, residue.elements, elements, resultBytes, threads);
      }
    }
  }

private:
  /// Returns the extents of the window axes, after axes of extent `fill`.
  Extents widened(const int64_t *extents, int64_t fill) const {
    Extents all;
    all.fill(fill);
    std::copy_n(extents, c.window_rank, all.end() - c.window_rank);
    return all;
  }

  static int64_t volume(const Extents &extents) { return extents[0] * extents[1] * extents[2]; }

  /// Returns a divisor of the batch, so that dense gradients need little scratch.
  int64_t imagesAtOnce() const {
    constexpr int64_t maximum = 1 << 20;
    int64_t bytes = c.groups * c.input_channels * resultBytes;
    for (size_t axis = 0; axis < axes; ++axis)
      bytes *= (input[axis] + strides[axis] - 1) / strides[axis];
    int64_t count = std::clamp<int64_t>(maximum / bytes, 1, c.batch);
    while (c.batch % count != 0)
      --count;
    return count;
  }

  void addResidue(const Extents &remainders) {
    const Extents dilations = widened(c.dilations, 1), before = widened(c.before, 0);
    const int64_t m = c.output_channels, n = c.input_channels, allTaps = volume(kernel);
    PatchMatrix patches = {.batch = images,
                           .groups = c.groups,
                           .channels = m,
                           .positions = {},
                           .kernel = {},
                           .source = output,
                           .strides = {1, 1, 1},
                           .dilations = {},
                           .before = {},
                           .isAdjoint = true};
    Residue residue = {{{c.groups}, {m * n * allTaps}}, {}, 0, {{images}, {}}, {}, 0, nullptr};
    int64_t tapStride = allTaps, elementStride = volume(input) * c.groups * n;
    residue.elements.strides.push_back(elementStride);
    for (size_t axis = 0; axis < axes; ++axis) {
      if (remainders[axis] >= input[axis])
        return;
      const AxisResidue along(remainders[axis], input[axis], kernel[axis], strides[axis],
                              dilations[axis], before[axis]);
      patches.positions[axis] = along.elements;
      patches.kernel[axis] = along.taps;
      patches.dilations[axis] = along.dilation;
      patches.before[axis] = along.before;
      tapStride /= kernel[axis];
      residue.taps.extents.push_back(along.taps);
      residue.taps.strides.push_back(along.tapStep * tapStride);
      residue.firstWeight += along.firstTap * tapStride;
      elementStride /= input[axis];
      residue.elements.extents.push_back(along.elements);
      residue.elements.strides.push_back(strides[axis] * elementStride);
      residue.firstElement += remainders[axis] * elementStride;
    }
    residue.taps.extents.insert(residue.taps.extents.end(), {m, n});
    residue.taps.strides.insert(residue.taps.strides.end(), {n * allTaps, allTaps});
    residue.orderedTaps = denseOf(residue.taps.extents);
    residue.elements.extents.push_back(c.groups * n);
    residue.elements.strides.push_back(1);
    residue.dense = denseOf(residue.elements.extents);
    if (patches.columns() > 0)
      residue.gradient = contract(patches);
    residues.push_back(std::move(residue));
  }

  /// element[position, n] = sum over (tap, m) of patch[position, (tap, m)] * weights[(tap, m), n]
  std::unique_ptr<LibraryCall> contract(const PatchMatrix &patches) const {
    const int64_t n = c.input_channels, positions = patches.rows(), columns = patches.columns();
    MtcContraction contraction = {};
    mtc_set_contraction_types(&contraction, c.type);
    contraction.out_type = c.result_type;
    contraction.product_type = c.product_type;
    ContractionProblem problem;
    problem.lhs = {positions, columns, columns, 1};
    problem.rhs = {columns, n, n, 1};
    problem.out = {positions, n, c.groups * n, 1};
    if (c.groups > 1)
      problem.batch = {{c.groups, positions * columns, columns * n, n}};
    return createPatchContraction(contraction, problem, patches, /*areRhs=*/false, threads, set);
  }

  const MtcConvolution c;
  int threads;
  VectorSet set;
  Extents strides, input, output, kernel;
  int elementBytes, resultBytes;
  int64_t images; ///< whose gradients are computed at once
  std::vector<Residue> residues;
  int64_t tapBytes = 0, denseBytes = 0, total = 0;
  std::string name;
};

} // namespace

bool hasStrides(const MtcConvolution &c) {
  return std::any_of(c.strides, c.strides + c.window_rank, [](int64_t s) { return s > 1; });
}

std::unique_ptr<LibraryCall> createResidueConvolution(const MtcConvolution &c, int threads,
                                                      VectorSet set) {
  return std::make_unique<ResidueConvolution>(c, threads, set);
}

} // namespace mtc::runtime
