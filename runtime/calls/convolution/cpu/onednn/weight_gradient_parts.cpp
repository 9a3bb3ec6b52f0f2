// Division of the sums of weight gradients, and the addition of the parts.
#include "runtime/calls/convolution/cpu/onednn/weight_gradient_parts.h"

#include "runtime/calls/convolution/cpu/onednn/library_convolution.h"
#include "runtime/devices/cpu/threads/parallel.h"
#include "runtime/devices/cpu/threads/work_stealing.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>
#include <vector>

namespace mtc::runtime {
namespace {

/// Some images, or some rows of the output of one image.
struct Part {
  int64_t image, images, row, rows;
};

/// Returns whether there are so many weights that the sums of several parts do not fit into caches.
bool hasManyWeights(const MtcConvolution &c, int64_t weightBytes) {
  constexpr int64_t manyBytes = 1 << 19, manyChannels = 64;
  return weightBytes >= manyBytes && c.groups == 1 && c.input_channels >= manyChannels;
}

/// Returns the number of parts, or 1 if an implementation in f32 is faster: own panels with many
/// channels, or with many threads the library, which divides the channels. With a power of two,
/// most numbers of threads compute equally many parts.
int64_t countParts(const MtcConvolution &c, int64_t weightBytes, int threads) {
  // Parts with fewer terms spend more than a twentieth of their time on writing and adding sums.
  constexpr int64_t maxParts = 32, fewestTerms = 1024, maxBytes = 3 << 20;
  constexpr int manyThreads = 4;
  constexpr double fewestFlops = 1e6; // about 10 microseconds
  int64_t terms = c.batch;
  for (uint32_t i = 0; i < c.window_rank; ++i)
    terms *= c.output[i];
  const int64_t possible = std::min({maxParts, c.batch * c.output[0],
                                     static_cast<int64_t>(convolutionFlops(c) / fewestFlops)}),
                count = std::min({possible, terms / fewestTerms, maxBytes / weightBytes});
  if (count >= 2)
    return static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(count)));
  const bool isFasterInF32 =
      hasManyWeights(c, weightBytes) && (c.type == MTC_F32 || threads > manyThreads);
  return isFasterInF32 ? 1 : std::min<int64_t>(possible, 2);
}

/// Divides the images into `count` parts, or each of them if there are fewer.
std::vector<Part> divide(const MtcConvolution &c, int64_t count) {
  std::vector<Part> parts;
  auto at = [](int64_t extent, int64_t pieces, int64_t piece) { return extent * piece / pieces; };
  const int64_t groups = std::min(c.batch, count),
                bands = c.batch < count ? (count + c.batch - 1) / c.batch : 1;
  for (int64_t group = 0; group < groups; ++group)
    for (int64_t band = 0; band < bands; ++band) {
      const int64_t image = at(c.batch, groups, group), row = at(c.output[0], bands, band);
      parts.push_back({image, at(c.batch, groups, group + 1) - image, row,
                       at(c.output[0], bands, band + 1) - row});
    }
  return parts;
}

/// The convolution of a part, and the first row of its input. The sums are f32.
struct PartConvolution {
  MtcConvolution c;
  int64_t inputRow = 0;

  PartConvolution(const MtcConvolution &whole, const Part &part) : c(whole) {
    c.batch = part.images;
    c.result_type = MTC_F32;
    if (part.rows == whole.output[0])
      return;
    const int64_t first = part.row * c.strides[0] - c.before[0],
                  end = first + (part.rows - 1) * c.strides[0] +
                        (c.kernel[0] - 1) * c.dilations[0] + 1;
    inputRow = std::clamp<int64_t>(first, 0, whole.input[0]);
    c.output[0] = part.rows;
    c.before[0] = inputRow - first;
    c.input[0] = std::clamp<int64_t>(end, inputRow, whole.input[0]) - inputRow;
  }

  /// Returns whether one primitive computes both parts.
  bool isLike(const PartConvolution &other) const {
    return c.batch == other.c.batch && c.output[0] == other.c.output[0] &&
           c.input[0] == other.c.input[0] && c.before[0] == other.c.before[0];
  }
};

/// Returns the bytes of the rows of an image.
int64_t bytesOfRows(const MtcConvolution &c, int64_t channels, const int64_t *extents,
                    int64_t rows) {
  int64_t elements = c.groups * channels * rows;
  for (uint32_t i = 1; i < c.window_rank; ++i)
    elements *= extents[i];
  return elements * mtc_type_bytes(c.type);
}

class WeightGradientParts final : public LibraryCall {
public:
  bool plan(const MtcConvolution &c, int maximalThreads) {
    threads = maximalThreads;
    LibraryConvolution whole = planConvolution(c, Computed::Weights, 1);
    if (!whole.primitive)
      return false;
    const std::vector<Part> division = divide(c, countParts(c, whole.weightBytes(), threads));
    return division.size() > 1 && planParts(c, division) && planSums(whole.denseWeights);
  }

  bool build() {
    return std::all_of(primitives.begin(), primitives.end(),
                       [&](const auto &each) { return each->build(workers); }) &&
           (!reorder || reorder->build(1));
  }

  int64_t scratchBytes() const override { return sumBytes * partCount() + slice * workers; }
  MtcSupportLevel supportLevel() const override {
    return primitives.front()->allocates() ? MTC_CALL_ALLOCATES : MTC_CALL_FAST;
  }
  std::string implementation() const override {
    return primitives.front()->name() + " in " + std::to_string(partCount()) + " parts";
  }

  void run(char *const *buffers, char *scratch) override {
    char *const rest = scratch + sumBytes * partCount();
    loop->run(workers, partCount(), [&](int worker, int64_t number, int64_t) {
      const Address &part = parts[static_cast<size_t>(number)];
      const std::array<const char *, 3> operands = {
          buffers[0] + part.input, scratch + sumBytes * number, buffers[1] + part.output};
      primitives[part.primitive]->run(worker, operands.data(), rest + slice * worker);
    });
    addParts(reinterpret_cast<const float *>(scratch),
             reinterpret_cast<float *>(reorder ? scratch : buffers[2]));
    const std::array<const char *, 2> ends = {scratch, buffers[2]};
    if (reorder)
      reorder->run(0, ends.data(), rest);
  }

private:
  /// Offsets of the operands of a part in bytes, and the number of its primitive.
  struct Address {
    int64_t input, output;
    size_t primitive;
  };

  int64_t partCount() const { return std::ssize(parts); }

  bool planParts(const MtcConvolution &c, const std::vector<Part> &division) {
    auto inputBytes = [&](int64_t rows) { return bytesOfRows(c, c.input_channels, c.input, rows); };
    auto outputBytes = [&](int64_t rows) {
      return bytesOfRows(c, c.output_channels, c.output, rows);
    };
    std::vector<PartConvolution> planned;
    for (const Part &part : division) {
      const PartConvolution convolution(c, part);
      const auto like =
          std::find_if(planned.begin(), planned.end(),
                       [&](const PartConvolution &other) { return convolution.isLike(other); });
      parts.push_back({part.image * inputBytes(c.input[0]) + inputBytes(convolution.inputRow),
                       part.image * outputBytes(c.output[0]) + outputBytes(part.row),
                       static_cast<size_t>(like - planned.begin())});
      if (like != planned.end())
        continue;
      if (!planPrimitive(convolution.c))
        return false;
      planned.push_back(convolution);
    }
    workers = static_cast<int>(std::min<int64_t>(threads, partCount()));
    loop = std::make_unique<WorkStealingLoop>(partCount());
    return true;
  }

  /// Returns false if the primitive lays out the weights in another way than those before.
  bool planPrimitive(const MtcConvolution &c) {
    if (isEmpty(c))
      return false;
    LibraryConvolution part = planConvolution(c, Computed::Weights, 1);
    if (!part.primitive || (!primitives.empty() && !dnnl_memory_desc_equal(&part.weights, &layout)))
      return false;
    layout = part.weights;
    sumBytes = alignedBytes(part.weightBytes());
    slice = std::max(slice, alignedBytes(part.primitive->scratchBytes()));
    primitives.push_back(std::move(part.primitive));
    return true;
  }

  /// Plans the copy of the sums to the layout and type of the result.
  bool planSums(const dnnl_memory_desc_t &result) {
    sums = static_cast<int64_t>(dnnl_memory_desc_get_size(&layout)) /
           static_cast<int64_t>(sizeof(float));
    if (dnnl_memory_desc_equal(&layout, &result))
      return true;
    reorder = LibraryPrimitive::planReorder(layout, result, threads);
    if (reorder)
      slice = std::max(slice, alignedBytes(reorder->scratchBytes()));
    return reorder != nullptr;
  }

  /// Computes to = the sum of the parts in their order; `to` may be the first part.
  void addParts(const float *from, float *to) const {
    constexpr int64_t grain = 1 << 14, blockLength = 256;
    const int64_t stride = sumBytes / static_cast<int64_t>(sizeof(float)), count = partCount();
    parallelFor(threads, sums, std::max<int64_t>(grain / count, 1),
                [=](int, int64_t begin, int64_t end) {
                  std::array<float, blockLength> block;
                  for (int64_t i = begin; i < end; i += blockLength) {
                    const int64_t length = std::min(blockLength, end - i);
                    std::copy_n(from + i, length, block.begin());
                    for (int64_t part = 1; part < count; ++part)
                      for (int64_t j = 0; j < length; ++j)
                        block[static_cast<size_t>(j)] += from[part * stride + i + j];
                    std::copy_n(block.begin(), length, to + i);
                  }
                });
  }

  int threads = 1, workers = 1;
  std::vector<Address> parts;
  std::vector<std::unique_ptr<LibraryPrimitive>> primitives;
  std::unique_ptr<LibraryPrimitive> reorder; ///< null if the parts have the layout of the result
  std::unique_ptr<WorkStealingLoop> loop;
  dnnl_memory_desc_t layout = {}; ///< of the sums of a part
  int64_t sums = 0, sumBytes = 0; ///< number of sums, and bytes of the sums of a part
  int64_t slice = 0;              ///< bytes of the primitives' scratch per worker
};

} // namespace

std::unique_ptr<LibraryCall> createWeightGradientParts(const MtcConvolution &c, int threads,
                                                       bool executable) {
  auto result = std::make_unique<WeightGradientParts>();
  if (!result->plan(c, threads) || (executable && !result->build()))
    return nullptr;
  return result;
}

} // namespace mtc::runtime
