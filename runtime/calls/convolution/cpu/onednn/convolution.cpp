// Convolutions by oneDNN: descriptors, and reorders of the weights to and from the library's
// layout.
#include "runtime/calls/convolution/cpu/onednn/convolution.h"

#include "runtime/calls/convolution/cpu/convolution.h"
#include "runtime/calls/convolution/cpu/onednn/widened.h"
#include "runtime/calls/convolution/cpu/winograd.h"
#include "runtime/calls/convolution/problem.h"
#include "runtime/devices/cpu/onednn.h"
#include "runtime/devices/cpu/threads/parallel.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

namespace mtc::runtime {
namespace {

/// Descriptors of the tensors and windows.
struct Description {
  dnnl_memory_desc_t input, output, weights;
  dnnl_memory_desc_t chosenWeights; ///< in any layout, for the library to choose
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

/// Plans the primitive and returns the layout of weights that it chose.
std::unique_ptr<LibraryPrimitive> planConvolution(const Description &d, Computed computed,
                                                  int threads, dnnl_memory_desc_t &weights) {
  if (!d.hasExtents())
    return nullptr;
  LibraryThreads scope(threads);
  LibraryAttributes attributes = userScratchAttributes();
  dnnl_convolution_desc_t forward, operation;
  std::vector<dnnl_memory_desc_t> addends(d.hasAddend ? 1 : 0, d.addend);
  if (!libraryEngine() || !attributes || !setAddends(attributes.get(), false, addends) ||
      dnnl_dilated_convolution_forward_desc_init(
          &forward, dnnl_forward_training, dnnl_convolution_direct, &d.input, &d.chosenWeights,
          d.hasBias ? &d.bias : nullptr, &d.output, d.strides, d.dilations, d.before,
          d.after) != dnnl_success)
    return nullptr;
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
      return nullptr;
    descriptor = describe(operation, descriptor.get());
  } else if (descriptor && computed == Computed::Weights) {
    names = {DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_DST};
    query = dnnl_query_diff_weights_md;
    if (dnnl_dilated_convolution_backward_weights_desc_init(
            &operation, dnnl_convolution_direct, &d.input, &d.chosenWeights, nullptr, &d.output,
            d.strides, d.dilations, d.before, d.after) != dnnl_success)
      return nullptr;
    descriptor = describe(operation, descriptor.get());
  }
  if (!descriptor)
    return nullptr;
  weights = *dnnl_primitive_desc_query_md(descriptor.get(), query, 0);
  std::vector<LibraryPrimitive::Operand> operands = {
      {names[0], d.input}, {names[1], weights}, {names[2], d.output}};
  if (d.hasBias)
    operands.push_back({DNNL_ARG_BIAS, d.bias});
  if (d.hasAddend)
    operands.push_back({addendName(0), d.addend});
  return LibraryPrimitive::own(std::move(descriptor), std::move(operands), threads);
}

class Convolution final : public LibraryCall {
public:
  /// Returns false if the library only has its reference implementation, or if the addend or bias
  /// makes it choose another implementation.
  bool plan(const MtcConvolution &c, Computed what, int threads) {
    computed = what;
    Description description(c, computed);
    dnnl_memory_desc_t chosen;
    primitive = planConvolution(description, computed, threads, chosen);
    if (!primitive)
      return false;
    // The gemm-based convolution of the library (2.6) reads wrong elements of the addend.
    if (description.hasAddend && primitive->name().find("gemm") != std::string::npos)
      return false;
    added = description.hasBias + description.hasAddend;
    if (added) {
      Description plain = description;
      plain.hasBias = plain.hasAddend = false;
      dnnl_memory_desc_t unused;
      auto alone = planConvolution(plain, computed, threads, unused);
      if (alone && alone->name() != primitive->name())
        return false;
    }
    scratch = primitive->scratchBytes();
    if (!dnnl_memory_desc_equal(&chosen, &description.weights)) {
      reorder = computed == Computed::Weights
                    ? LibraryPrimitive::planReorder(chosen, description.weights, threads)
                    : LibraryPrimitive::planReorder(description.weights, chosen, threads);
      if (!reorder)
        return false;
      // The primitives run in sequence and share scratch after the blocked weights.
      blockedBytes = alignedBytes(static_cast<int64_t>(dnnl_memory_desc_get_size(&chosen)));
      scratch = blockedBytes + std::max(scratch, reorder->scratchBytes());
    }
    return true;
  }

  bool build() { return primitive->build(1) && (!reorder || reorder->build(1)); }

  int64_t scratchBytes() const override { return scratch; }
  MtcSupportLevel supportLevel() const override {
    return primitive->allocates() ? MTC_CALL_ALLOCATES : MTC_CALL_FAST;
  }
  std::string implementation() const override { return primitive->name(); }

  void run(char *const *buffers, char *scratchStart) override {
    // Operands are in the order input, weights, output, without the result.
    const char *input = buffers[0], *weights = buffers[1], *output = buffers[2 + added];
    if (computed == Computed::Input)
      std::tie(output, weights, input) = std::tuple(buffers[0], buffers[1], buffers[2]);
    else if (computed == Computed::Weights)
      std::swap(weights, output);
    char *rest = scratchStart + blockedBytes;
    const char *blocked = reorder ? scratchStart : weights;
    auto lay = [&](const char *from, const char *to) {
      const char *const ends[] = {from, to};
      reorder->run(0, ends, rest);
    };
    if (reorder && computed != Computed::Weights)
      lay(weights, blocked);
    std::array<const char *, 5> operands = {input, blocked, output};
    std::copy_n(buffers + 2, added, operands.begin() + 3);
    primitive->run(0, operands.data(), rest);
    if (reorder && computed == Computed::Weights)
      lay(blocked, weights);
  }

private:
  Computed computed = Computed::Output;
  std::unique_ptr<LibraryPrimitive> primitive, reorder;
  int64_t blockedBytes = 0, scratch = 0;
  int added = 0; ///< number of operands after the weights
};

std::unique_ptr<LibraryCall> createLibraryCall(const MtcConvolution &c, Computed computed,
                                               int threads, bool executable) {
  auto result = std::make_unique<Convolution>();
  if (!result->plan(c, computed, threads) || (executable && !result->build()))
    return nullptr;
  return result;
}

/// Returns a call of the library. If the library has no implementation for the windows of the
/// convolution, with or without addends, the runtime's own code computes it.
std::unique_ptr<LibraryCall> createAnyCall(const MtcConvolution &c, Computed computed, int threads,
                                           bool executable) {
  if (auto result = createLibraryCall(c, computed, threads, executable))
    return result;
  if (!Description(c, computed).hasExtents())
    return nullptr;
  MtcConvolution plain = c;
  plain.has_bias = plain.has_addend = 0;
  if ((c.has_bias || c.has_addend) && Convolution().plan(plain, computed, threads))
    return nullptr; // Faster with the addends in a kernel of their own.
  return createPatchConvolution(c, computed, threads, machineVectors());
}

template <Computed computed>
std::unique_ptr<LibraryCall> createCall(const void *record, int threads, bool executable) {
  const MtcConvolution &c = *static_cast<const MtcConvolution *>(record);
  const bool isNarrow = mtc_is_narrow_float(c.type);
  // ReLU of oneDNN turns NaN into 0.
  if ((c.type != MTC_F32 && !isNarrow) || isEmpty(c) || c.activation != MTC_NO_ACTIVATION)
    return nullptr;
  threads = usefulThreads(convolutionFlops(c), threads);
  if (c.algorithm == MTC_OWN_PANELS)
    return createPatchConvolution(c, computed, threads, machineVectors());
  if (c.algorithm == MTC_WINOGRAD)
    return createWinogradConvolution(c, computed, threads, machineVectors());
  if (!isNarrow)
    return createAnyCall(c, computed, threads, executable);
  if (libraryMultiplies(c.type) && c.product_type == c.type)
    if (auto result = createLibraryCall(c, computed, threads, executable))
      return result;
  return createWidenedConvolution(c, computed, threads, [=](const MtcConvolution &ofBlock) {
    return createAnyCall(ofBlock, computed, threads, executable);
  });
}

bool isNeverFasterAsKernel(const void *) { return false; }

} // namespace

const CallKind onednnConvolutionCalls = {MTC_CONVOLUTION, createCall<Computed::Output>,
                                         isNeverFasterAsKernel};
const CallKind onednnTransposedConvolutionCalls = {
    MTC_TRANSPOSED_CONVOLUTION, createCall<Computed::Input>, isNeverFasterAsKernel};
const CallKind onednnConvolutionWeightGradientCalls = {
    MTC_CONVOLUTION_WEIGHT_GRADIENT, createCall<Computed::Weights>, isNeverFasterAsKernel};

} // namespace mtc::runtime
