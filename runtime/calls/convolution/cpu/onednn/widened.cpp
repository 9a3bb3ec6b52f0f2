// Splits the batch into blocks and converts them in the scratch.
#include "runtime/calls/convolution/cpu/onednn/widened.h"

#include "runtime/devices/cpu/threads/parallel.h"
#include "runtime/devices/cpu/vector/convert.h"

#include <functional>
#include <numeric>
#include <utility>
#include <vector>

namespace mtc::runtime {
namespace {

constexpr int64_t floatBytes = sizeof(float), narrowBytes = 2;

/// A tensor of the call. Tensors with a batch axis are processed in blocks.
struct Part {
  int64_t elements; ///< per entry, then per block; of the whole tensor if it has no batch axis
  bool hasBatch, isF32;
  int64_t offset = -1; ///< offset of its f32 copy in the scratch; -1: used in place

  char *block(char *buffer, int64_t number) const {
    return buffer + (hasBatch ? number * elements * (isF32 ? floatBytes : narrowBytes) : 0);
  }
};

int64_t product(const int64_t *extents, uint32_t count) {
  return std::accumulate(extents, extents + count, int64_t{1}, std::multiplies<>());
}

class WidenedConvolution final : public LibraryCall {
public:
  WidenedConvolution(const MtcConvolution &c, Computed computed, int threads)
      : c(c), threads(threads), addsBlocks(computed == Computed::Weights) {
    listParts(computed);
    const int64_t entries = entriesOfBlock();
    blocks = c.batch / entries;
    for (Part *part : allParts()) {
      part->elements *= part->hasBatch ? entries : 1;
      if (!part->isF32)
        part->offset = take(part->elements);
    }
    if (addsBlocks && blocks > 1)
      partial = take(result.elements);
  }

  /// Returns the f32 convolution of one block.
  MtcConvolution ofBlock() const {
    MtcConvolution block = c;
    mtc_set_convolution_types(&block, MTC_F32);
    block.batch = c.batch / blocks;
    return block;
  }
  void setInner(std::unique_ptr<LibraryCall> call) { inner = std::move(call); }

  int64_t scratchBytes() const override { return scratch + inner->scratchBytes(); }
  MtcSupportLevel supportLevel() const override { return inner->supportLevel(); }
  std::string implementation() const override { return inner->implementation() + " in f32"; }

  void run(char *const *buffers, char *scratchStart) override {
    std::vector<char *> places(operands.size() + 1);
    for (int64_t number = 0; number < blocks; ++number) {
      for (size_t i = 0; i < operands.size(); ++i) {
        const Part &part = operands[i];
        places[i] = part.block(buffers[i], number);
        if (part.offset < 0)
          continue;
        char *wide = scratchStart + part.offset;
        if (part.hasBatch || number == 0)
          widenArray(c.type, places[i], part.elements, reinterpret_cast<float *>(wide), threads);
        places[i] = wide;
      }
      char *out = result.block(buffers[operands.size()], number);
      char *sums = result.offset < 0 ? out : scratchStart + result.offset;
      places.back() = addsBlocks && number > 0 ? scratchStart + partial : sums;
      inner->run(places.data(), scratchStart + scratch);
      if (places.back() != sums)
        add(reinterpret_cast<const float *>(places.back()), reinterpret_cast<float *>(sums));
      if (result.offset >= 0 && (!addsBlocks || number + 1 == blocks))
        narrowArray(c.type, reinterpret_cast<const float *>(sums), result.elements, out, threads);
    }
  }

private:
  void listParts(Computed computed) {
    const Part input{c.groups * c.input_channels * product(c.input, c.window_rank), true, false},
        output{c.groups * c.output_channels * product(c.output, c.window_rank), true, false},
        weights{c.groups * c.output_channels * c.input_channels * product(c.kernel, c.window_rank),
                false, false};
    switch (computed) {
    case Computed::Output:
      operands = {input, weights};
      result = output;
      if (c.has_bias)
        operands.push_back({c.groups * c.output_channels, false, c.bias_type == MTC_F32});
      if (c.has_addend)
        operands.push_back({output.elements, true, c.addend_type == MTC_F32});
      break;
    case Computed::Input:
      operands = {output, weights};
      result = input;
      break;
    case Computed::Weights:
      operands = {input, output};
      result = weights;
      break;
    }
    result.isF32 = c.result_type == MTC_F32;
  }

  std::vector<Part *> allParts() {
    std::vector<Part *> all = {&result};
    for (Part &part : operands)
      all.push_back(&part);
    return all;
  }

  /// Returns the maximum number of entries that fits into the scratch and divides the batch.
  int64_t entriesOfBlock() {
    constexpr int64_t maxBytes = 8 << 20;
    int64_t bytes = 0;
    for (const Part *part : allParts())
      bytes += part->hasBatch && !part->isF32 ? part->elements * floatBytes : 0;
    int64_t entries = c.batch;
    while (entries > 1 && (c.batch % entries != 0 || entries * bytes > maxBytes))
      --entries;
    return entries;
  }

  int64_t take(int64_t elements) {
    return std::exchange(scratch, scratch + alignedBytes(elements * floatBytes));
  }

  void add(const float *from, float *to) const {
    parallelFor(threads, result.elements, 1 << 14, [=](int, int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        to[i] += from[i];
    });
  }

  const MtcConvolution c;
  int threads;
  bool addsBlocks; ///< the result is a sum over the batch
  int64_t blocks = 1, scratch = 0, partial = -1;
  std::vector<Part> operands;
  Part result = {};
  std::unique_ptr<LibraryCall> inner;
};

} // namespace

std::unique_ptr<LibraryCall> createWidenedConvolution(const MtcConvolution &convolution,
                                                      Computed computed, int threads,
                                                      const ConvolutionPlanner &planF32) {
  auto result = std::make_unique<WidenedConvolution>(convolution, computed, threads);
  auto inner = planF32(result->ofBlock());
  if (!inner)
    return nullptr;
  result->setInner(std::move(inner));
  return result;
}

} // namespace mtc::runtime
