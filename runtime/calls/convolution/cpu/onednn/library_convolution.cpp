// Descriptors of convolutions, and primitives.
#include "runtime/calls/convolution/cpu/onednn/library_convolution.h"

#include "runtime/devices/cpu/threads/parallel.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace mtc::runtime {
namespace {

/// Descriptors of the tensors and windows.
struct Description {
  dnnl_memory_desc_t input, output, weights;
  dnnl_memory_desc_t chosenWeights; ///< in any layout, for the library to choose
  /// The same, of the type of the other operands: a gradient of another type is planned from the
  /// convolution that the library has.
  dnnl_memory_desc_t forwardWeights;
  dnnl_memory_desc_t bias;
  bool hasBias, hasAddend; ///< the addend has the layout of the output
  dnnl_memory_desc_t addend;
  dnnl_dims_t strides, dilations, before, after;

  Description(const MtcConvolution &c, Computed computed)
      : hasBias(c.has_bias), hasAddend(c.has_addend) {
    auto typeOfTensor = [&](Computed tensor) {
      return *libraryType(tensor == computed ? c.result_type : c.type);
    };
    const dnnl_dims_t channels = {c.groups * c.output_channels};
    initDense(bias, 1, channels, *libraryType(c.bias_type));
    const int rank = static_cast<int>(c.window_rank);
    channelsLast(input, c, c.groups * c.input_channels, c.input, typeOfTensor(Computed::Input));
    auto initOutput = [&](dnnl_memory_desc_t &tensor, dnnl_data_type_t type) {
      channelsLast(tensor, c, c.groups * c.output_channels, c.output, type);
    };
    initOutput(output, typeOfTensor(Computed::Output));
    initOutput(addend, *libraryType(c.addend_type));
    const dnnl_data_type_t type = typeOfTensor(Computed::Weights);
    dnnl_dims_t extents;
    int axis = 0;
    if (c.groups > 1)
      extents[axis++] = c.groups;
    extents[axis++] = c.output_channels;
    extents[axis++] = c.input_channels;
    std::copy_n(c.kernel, rank, extents + axis);
    initDense(weights, axis + rank, extents, type);
    dnnl_memory_desc_init_by_tag(&chosenWeights, axis + rank, extents, type, dnnl_format_tag_any);
    dnnl_memory_desc_init_by_tag(&forwardWeights, axis + rank, extents, *libraryType(c.type),
                                 dnnl_format_tag_any);
    for (int i = 0; i < rank; ++i) {
      strides[i] = c.strides[i];
      dilations[i] = c.dilations[i] - 1;
      before[i] = c.before[i];
      after[i] = paddingAfter(c, static_cast<uint32_t>(i));
    }
  }

  /// Returns whether the library supports the extents of all tensors.
  bool hasExtents() const {
    return hasLibraryExtents(input) && hasLibraryExtents(output) &&
           hasLibraryExtents(chosenWeights);
  }

private:
  static void channelsLast(dnnl_memory_desc_t &layout, const MtcConvolution &c, int64_t channels,
                           const int64_t *windows, dnnl_data_type_t type) {
    const int rank = static_cast<int>(c.window_rank);
    dnnl_dims_t extents = {c.batch, channels}, strides = {0, 1};
    int64_t elements = channels;
    for (int i = rank; i-- > 0;) {
      extents[2 + i] = windows[i];
      strides[2 + i] = elements;
      elements *= windows[i];
    }
    strides[0] = elements;
    dnnl_memory_desc_init_by_strides(&layout, 2 + rank, extents, type, strides);
  }

  static void initDense(dnnl_memory_desc_t &layout, int rank, const dnnl_dims_t extents,
                        dnnl_data_type_t type) {
    dnnl_dims_t strides;
    int64_t elements = 1;
    for (int i = rank; i-- > 0;) {
      strides[i] = elements;
      elements *= extents[i];
    }
    dnnl_memory_desc_init_by_strides(&layout, rank, extents, type, strides);
  }
};

/// Returns whether the threads of a gemm for an image may split its sums.
bool gemmOfImageMaySplitSums(const MtcConvolution &c, Computed computed, int threads) {
  int64_t positions = 1, patch = c.input_channels;
  for (uint32_t i = 0; i < c.window_rank; ++i) {
    positions *= c.output[i];
    patch *= c.kernel[i];
  }
  switch (computed) {
  case Computed::Output:
    return gemmMaySplitSums(positions, c.output_channels, patch, threads);
  case Computed::Input:
    return gemmMaySplitSums(positions, patch, c.output_channels, threads);
  case Computed::Weights:
    return gemmMaySplitSums(c.output_channels, patch, positions, threads);
  }
}

} // namespace

bool hasLibraryExtents(const MtcConvolution &c) {
  return Description(c, Computed::Output).hasExtents();
}

bool mayWaitInside(const MtcConvolution &c, Computed computed, const LibraryConvolution &planned,
                   int threads) {
  const std::string name = planned.primitive->name();
  if (threads == 1)
    return false;
  if (planned.primitive->allocates())
    return gemmOfImageMaySplitSums(c, computed, threads);
  if (computed != Computed::Weights || name.starts_with("jit_dw:"))
    return false; // Depthwise ones add the sums of their threads after their parallel region.
  if (c.type != MTC_F32 || !(name.starts_with("jit:") || name.starts_with("jit_1x1:")))
    return true; // Threads also share transposed operands.
  // Each thread that computes a part of the sums has a buffer.
  const LibraryConvolution onOneThread = planConvolution(c, computed, 1);
  return !onOneThread.primitive ||
         planned.primitive->scratchBytes() >=
             onOneThread.primitive->scratchBytes() + planned.weightBytes();
}

LibraryConvolution planConvolution(const MtcConvolution &c, Computed computed, int threads) {
  const Description d(c, computed);
  if (!d.hasExtents())
    return {};
  LibraryThreads scope(threads);
  LibraryAttributes attributes = userScratchAttributes();
  dnnl_convolution_desc_t forward, operation;
  std::vector<dnnl_memory_desc_t> addends(d.hasAddend ? 1 : 0, d.addend);
  if (!libraryEngine() || !attributes || !setAddends(attributes.get(), false, addends) ||
      dnnl_dilated_convolution_forward_desc_init(
          &forward, dnnl_forward_training, dnnl_convolution_direct, &d.input, &d.forwardWeights,
          d.hasBias ? &d.bias : nullptr, &d.output, d.strides, d.dilations, d.before,
          d.after) != dnnl_success)
    return {};
  auto describe = [&](const dnnl_convolution_desc_t &what, const_dnnl_primitive_desc_t hint) {
    dnnl_primitive_desc_t raw = nullptr;
    dnnl_primitive_desc_create(&raw, &what, attributes.get(), libraryEngine(), hint);
    return LibraryDescriptor(raw);
  };
  LibraryDescriptor descriptor = describe(forward, nullptr);
  dnnl_query_t query = dnnl_query_weights_md;
  std::array<int, 3> names = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST};
  if (descriptor && computed == Computed::Input) {
    names = {DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_DST};
    if (dnnl_dilated_convolution_backward_data_desc_init(
            &operation, dnnl_convolution_direct, &d.input, &d.chosenWeights, &d.output, d.strides,
            d.dilations, d.before, d.after) != dnnl_success)
      return {};
    descriptor = describe(operation, descriptor.get());
  } else if (descriptor && computed == Computed::Weights) {
    names = {DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_DST};
    query = dnnl_query_diff_weights_md;
    if (dnnl_dilated_convolution_backward_weights_desc_init(
            &operation, dnnl_convolution_direct, &d.input, &d.chosenWeights, nullptr, &d.output,
            d.strides, d.dilations, d.before, d.after) != dnnl_success)
      return {};
    descriptor = describe(operation, descriptor.get());
  }
  if (!descriptor)
    return {};
  const dnnl_memory_desc_t weights = *dnnl_primitive_desc_query_md(descriptor.get(), query, 0);
  std::vector<LibraryPrimitive::Operand> operands = {
      {names[0], d.input}, {names[1], weights}, {names[2], d.output}};
  if (d.hasBias)
    operands.push_back({DNNL_ARG_BIAS, d.bias});
  if (d.hasAddend)
    operands.push_back({addendName(0), d.addend});
  return {LibraryPrimitive::own(std::move(descriptor), std::move(operands), threads), d.weights,
          weights};
}

} // namespace mtc::runtime
