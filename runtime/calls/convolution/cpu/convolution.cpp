// Expresses convolutions as contractions. Channels of a tap are contiguous in the tensors, so that
// the weights are brought into this order, too.
#include "runtime/calls/convolution/cpu/convolution.h"

#include "runtime/calls/contraction/cpu/panels.h"
#include "runtime/calls/contraction/cpu/strided_copy.h"
#include "runtime/calls/contraction/problem.h"
#include "runtime/calls/convolution/cpu/residues.h"
#include "runtime/calls/convolution/cpu/winograd.h"
#include "runtime/devices/cpu/threads/parallel.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>

namespace mtc::runtime {
namespace {

int64_t product(const int64_t *extents, uint32_t count) {
  return std::accumulate(extents, extents + count, int64_t{1}, std::multiplies<>());
}

/// Returns the extents of the window axes, after axes of extent `fill`.
PatchMatrix::Extents widened(const int64_t *extents, uint32_t rank, int64_t fill) {
  PatchMatrix::Extents all;
  all.fill(fill);
  std::copy_n(extents, rank, all.end() - rank);
  return all;
}

PatchMatrix patchesOf(const MtcConvolution &c, bool isAdjoint) {
  auto extents = [&](const int64_t *of, int64_t fill) { return widened(of, c.window_rank, fill); };
  return {.batch = c.batch,
          .groups = c.groups,
          .channels = isAdjoint ? c.output_channels : c.input_channels,
          .positions = extents(isAdjoint ? c.input : c.output, 1),
          .kernel = extents(c.kernel, 1),
          .source = extents(isAdjoint ? c.output : c.input, 1),
          .strides = extents(c.strides, 1),
          .dilations = extents(c.dilations, 1),
          .before = extents(c.before, 0),
          .isAdjoint = isAdjoint};
}

class PatchConvolution final : public LibraryCall {
public:
  PatchConvolution(const MtcConvolution &c, Computed computed, int threads, VectorSet set)
      : computed(computed), threads(threads), added(c.has_bias + c.has_addend) {
    taps = product(c.kernel, c.window_rank);
    const int64_t m = c.output_channels, n = c.input_channels;
    const bool isAdjoint = computed == Computed::Input;
    const PatchMatrix patches = patchesOf(c, isAdjoint);
    const int64_t positions = patches.rows(), columns = patches.columns();
    MtcContraction contraction = typesOf(c);
    ContractionProblem problem;
    const MatrixLayout matrix = {positions, columns, columns, 1};
    BatchAxis groups = {c.groups, 0, 0, 0};
    if (computed == Computed::Weights) {
      // weights[m, (tap, n)] = sum over positions of output[position, m] * patch[position, (tap,
      // n)]
      problem.lhs = {m, positions, 1, c.groups * m};
      problem.rhs = matrix;
      problem.out = {m, columns, columns, 1};
      groups = {c.groups, m, positions * columns, m * columns};
      reordersWeights = taps > 1 && n > 1;
    } else if (isAdjoint) {
      // input[position, n] = sum over (tap, m) of patch[position, (tap, m)] * weights[(tap, m), n]
      problem.lhs = matrix;
      problem.rhs = {columns, n, n, 1};
      problem.out = {positions, n, c.groups * n, 1};
      groups = {c.groups, positions * columns, m * n * taps, n};
      reordersWeights = taps > 1;
      weights = {{c.groups, m, n, taps}, {m * n * taps, n * taps, taps, 1}};
      ordered = {weights.extents, {m * n * taps, n, 1, m * n}};
    } else {
      // output[position, m] = sum over (tap, n) of patch[position, (tap, n)] * weights[m, (tap, n)]
      problem.lhs = matrix;
      problem.rhs = {columns, m, 1, columns};
      problem.out = {positions, m, c.groups * m, 1};
      groups = {c.groups, positions * columns, m * columns, m};
      reordersWeights = taps > 1 && n > 1;
      weights = {{c.groups * m, n, taps}, {n * taps, taps, 1}};
      ordered = {weights.extents, {n * taps, 1, n}};
      addAddends(c, contraction, problem, groups);
    }
    if (c.groups > 1)
      problem.batch = {groups};
    inner = createPatchContraction(contraction, problem, patches, computed == Computed::Weights,
                                   threads, set);
    elementBytes = mtc_type_bytes(computed == Computed::Weights ? c.result_type : c.type);
    filters = c.groups * m;
    channels = n;
    filterBytes = alignedBytes(n * taps * elementBytes);
    if (reordersWeights && computed != Computed::Weights)
      orderedBytes = alignedBytes(filters * n * taps * elementBytes);
  }

  int64_t scratchBytes() const override {
    if (reordersWeights && computed == Computed::Weights)
      return std::max(inner->scratchBytes(), filterBytes * threads);
    return orderedBytes + inner->scratchBytes();
  }
  MtcSupportLevel supportLevel() const override { return MTC_CALL_FAST; }
  std::string implementation() const override { return inner->implementation() + " of patches"; }

  void run(char *const *buffers, char *scratch) override {
    if (computed == Computed::Weights) {
      char *const operands[] = {buffers[1], buffers[0], buffers[2]};
      inner->run(operands, scratch);
      if (reordersWeights && elementBytes == 4)
        reorderFilters<uint32_t>(buffers[2], scratch);
      else if (reordersWeights)
        reorderFilters<uint16_t>(buffers[2], scratch);
      return;
    }
    char *const rest = scratch + orderedBytes;
    std::array<char *, 3 + MTC_MAX_ADDENDS> operands{};
    std::copy_n(buffers, 3 + added, operands.begin());
    if (reordersWeights) {
      copyStrided(weights, buffers[1], ordered, scratch, elementBytes, threads);
      operands[1] = scratch;
    }
    inner->run(operands.data(), rest);
  }

private:
  static MtcContraction typesOf(const MtcConvolution &c) {
    MtcContraction contraction = {};
    mtc_set_contraction_types(&contraction, c.type);
    contraction.out_type = c.result_type;
    contraction.product_type = c.product_type;
    return contraction;
  }

  /// Adds the bias and the addend, in the order of the operands.
  static void addAddends(const MtcConvolution &c, MtcContraction &contraction,
                         ContractionProblem &problem, BatchAxis &groups) {
    auto add = [&](const MatrixLayout &layout, uint32_t type) {
      const uint32_t number = contraction.addend_count++;
      contraction.addend_types[number] = type;
      problem.addends.push_back(layout);
      groups.addends[number] = c.output_channels;
    };
    if (c.has_bias)
      add({problem.m(), problem.n(), 0, 1}, c.bias_type);
    if (c.has_addend)
      add(problem.out, c.addend_type);
  }

  /// Brings the weights of each filter from the order (tap, channel) into the order (channel, tap),
  /// through a buffer of one filter per thread.
  template <typename Element> void reorderFilters(char *weightsOfCall, char *scratch) const {
    const int64_t length = channels * taps;
    parallelFor(threads, filters, 1, [&](int part, int64_t begin, int64_t end) {
      auto *copy = reinterpret_cast<Element *>(scratch + filterBytes * part);
      for (int64_t filter = begin; filter < end; ++filter) {
        Element *filterWeights = reinterpret_cast<Element *>(weightsOfCall) + filter * length;
        std::copy_n(filterWeights, length, copy);
        for (int64_t channel = 0; channel < channels; ++channel)
          for (int64_t tap = 0; tap < taps; ++tap)
            filterWeights[channel * taps + tap] = copy[tap * channels + channel];
      }
    });
  }

  Computed computed;
  int threads, elementBytes = 4;
  uint32_t added;
  int64_t taps, filters, channels, filterBytes, orderedBytes = 0;
  bool reordersWeights;
  StridedTensor weights, ordered; ///< the call's layout, and that with contiguous channels
  std::unique_ptr<LibraryCall> inner;
};

template <Computed computed>
std::unique_ptr<LibraryCall> createCall(const void *record, int threads, bool) {
  const MtcConvolution &c = *static_cast<const MtcConvolution *>(record);
  threads = usefulThreads(convolutionFlops(c), threads);
  if (c.algorithm == MTC_WINOGRAD)
    return createWinogradConvolution(c, computed, threads, machineVectors());
  return createPatchConvolution(c, computed, threads, machineVectors());
}

bool isNeverFasterAsKernel(const void *) { return false; }

} // namespace

std::unique_ptr<LibraryCall> createPatchConvolution(const MtcConvolution &c, Computed computed,
                                                    int threads, VectorSet set) {
  const bool isDepthwise = c.groups > 1 && c.input_channels == 1;
  if (c.type == MTC_F64 || isEmpty(c) || isDepthwise || c.activation != MTC_NO_ACTIVATION)
    return nullptr;
  if (computed == Computed::Input && hasStrides(c))
    return createResidueConvolution(c, threads, set);
  return std::make_unique<PatchConvolution>(c, computed, threads, set);
}

const CallKind convolutionCalls = {MTC_CONVOLUTION, createCall<Computed::Output>,
                                   isNeverFasterAsKernel};
const CallKind transposedConvolutionCalls = {MTC_TRANSPOSED_CONVOLUTION,
                                             createCall<Computed::Input>, isNeverFasterAsKernel};
const CallKind convolutionWeightGradientCalls = {
    MTC_CONVOLUTION_WEIGHT_GRADIENT, createCall<Computed::Weights>, isNeverFasterAsKernel};

} // namespace mtc::runtime
