// Convolutions by oneDNN: choice of primitives, and reorders of the weights to and from the
// library's layout.
#include "runtime/calls/convolution/cpu/onednn/convolution.h"

#include "runtime/calls/convolution/cpu/convolution.h"
#include "runtime/calls/convolution/cpu/onednn/library_convolution.h"
#include "runtime/calls/convolution/cpu/onednn/weight_gradient_parts.h"
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

class Convolution final : public LibraryCall {
public:
  /// Returns false if the library only has its reference implementation, if the addend or bias
  /// makes it choose another implementation, or if its threads may wait for each other.
  bool plan(const MtcConvolution &c, Computed what, int threads) {
    computed = what;
    LibraryConvolution planned = planConvolution(c, computed, threads);
    if (!planned.primitive || mayWaitInside(c, computed, planned, threads))
      return false;
    // The gemm-based convolution of the library (2.6) reads wrong elements of the addend.
    if (c.has_addend && planned.primitive->name().find("gemm") != std::string::npos)
      return false;
    added = static_cast<int>(c.has_bias + c.has_addend);
    if (added) {
      MtcConvolution plain = c;
      plain.has_bias = plain.has_addend = 0;
      const LibraryConvolution alone = planConvolution(plain, computed, threads);
      if (alone.primitive && alone.primitive->name() != planned.primitive->name())
        return false;
    }
    scratch = planned.primitive->scratchBytes();
    if (!planned.choseDenseWeights()) {
      const dnnl_memory_desc_t &dense = planned.denseWeights, &chosen = planned.weights;
      reorder = computed == Computed::Weights
                    ? LibraryPrimitive::planReorder(chosen, dense, threads)
                    : LibraryPrimitive::planReorder(dense, chosen, threads);
      if (!reorder)
        return false;
      // The primitives run in sequence and share scratch after the blocked weights.
      blockedBytes = alignedBytes(planned.weightBytes());
      scratch = blockedBytes + std::max(scratch, reorder->scratchBytes());
    }
    primitive = std::move(planned.primitive);
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

std::unique_ptr<LibraryCall> createPrimitiveCall(const MtcConvolution &c, Computed computed,
                                                 int threads, bool executable) {
  auto result = std::make_unique<Convolution>();
  if (!result->plan(c, computed, threads) || (executable && !result->build()))
    return nullptr;
  return result;
}

/// Returns null if the library has no fast primitive whose threads do not wait for each other.
std::unique_ptr<LibraryCall> createLibraryCall(const MtcConvolution &c, Computed computed,
                                               int threads, bool executable) {
  constexpr double fewFlops = 2e6; // about 20 microseconds on one thread
  if (auto result = createPrimitiveCall(c, computed, threads, executable))
    return result;
  if (computed != Computed::Weights || threads == 1)
    return nullptr;
  if (auto result = createWeightGradientParts(c, threads, executable))
    return result;
  return convolutionFlops(c) < fewFlops ? createPrimitiveCall(c, computed, 1, executable) : nullptr;
}

/// Returns a call of the library. If the library has no implementation for the windows of the
/// convolution, with or without addends, the runtime's own code computes it.
std::unique_ptr<LibraryCall> createAnyCall(const MtcConvolution &c, Computed computed, int threads,
                                           bool executable) {
  if (auto result = createLibraryCall(c, computed, threads, executable))
    return result;
  if (!hasLibraryExtents(c))
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
