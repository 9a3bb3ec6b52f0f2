// Plans and runs Winograd convolutions in blocks whose transformed tiles stay in cache.
#include "runtime/calls/convolution/cpu/winograd.h"

#include "runtime/devices/cpu/threads/parallel.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

namespace mtc::runtime {
namespace {

constexpr int64_t tileExtent = 4, points = 36, taps = 9;
/// The number of terms that are added in registers before a sum is stored.
constexpr int64_t maxDepth = 512;
/// The maximum of `WinogradKernels::groupColumns`, for a scratch of the same size on all machines.
constexpr int64_t maxGroupColumns = 32;
/// Elements between matrices and between rows, which would otherwise map to the same cache sets.
constexpr int64_t gap = 16;

constexpr int64_t floatBytes = sizeof(float);

int64_t divideUp(int64_t extent, int64_t size) { return (extent + size - 1) / size; }
int64_t roundUp(int64_t extent, int64_t unit) { return divideUp(extent, unit) * unit; }

struct Range {
  int64_t begin, end;
  int64_t size() const { return end - begin; }
};

/// A matrix for each point.
struct PointMatrices {
  float *at;
  int64_t rowStride, pointStride;

  /// Returns the layout of matrices whose rows are padded to vectors, at no address.
  static PointMatrices layout(int64_t rows, int64_t columns) {
    const int64_t rowStride = roundUp(columns, gap) + gap;
    return {nullptr, rowStride, rows * rowStride + gap};
  }
  int64_t bytes() const { return alignedBytes(floatBytes * points * pointStride); }
  PointMatrices in(char *memory) const {
    return {reinterpret_cast<float *>(memory), rowStride, pointStride};
  }
};

/// A channels-last tensor of images and the tiles that read or write it.
struct TileGrid {
  int64_t channels;
  std::array<int64_t, 2> extents, before, tiles;

  /// The first position of a tile and the index of its element of channel 0.
  struct Tile {
    int64_t row, column, element;
  };
  Tile tile(int64_t number) const {
    const int64_t image = number / (tiles[0] * tiles[1]), line = number / tiles[1] % tiles[0],
                  row = line * tileExtent - before[0],
                  column = number % tiles[1] * tileExtent - before[1];
    return {row, column, ((image * extents[0] + row) * extents[1] + column) * channels};
  }
  bool contains(int64_t row, int64_t column) const {
    return row >= 0 && row < extents[0] && column >= 0 && column < extents[1];
  }
};

/// The filters in the call's layout, as matrices [depth][column] of filters [3][3].
struct FilterLayout {
  int64_t depth, elements, depthStride, columnStride;
  bool isFlipped; ///< taps are in reverse order

  /// Strides of the transformed filters.
  int64_t pointStride(int64_t groupColumns) const { return depth * groupColumns + gap; }
  int64_t groupStride(int64_t groupColumns) const { return points * pointStride(groupColumns); }
};

/// Returns an estimate of the size of one row of all matrices.
int64_t bytesOfRow(int64_t columns) { return floatBytes * points * (columns + gap); }

struct Addends {
  const float *bias, *tensor; ///< null: none
};

/// The functions for one instruction set.
struct WinogradKernels {
  using TransformTiles = void (*)(const TileGrid &, const float *, const Range &tiles,
                                  const Range &channels, const PointMatrices &);
  int64_t groupColumns;
  TransformTiles transformSourceTiles, transformGradientTiles;
  void (*transformFilters)(const FilterLayout &, const float *, const Range &columns,
                           const Range &depths, float *);
  void (*multiplyGroup)(const PointMatrices &source, const PointMatrices &filters, int64_t rows,
                        int64_t depth, const PointMatrices &products);
  void (*transformGroup)(const PointMatrices &, const TileGrid &, const Range &tiles,
                         const Range &columns, const Addends &, float *);
  void (*multiplyTiles)(const Range &points, const PointMatrices &gradient,
                        const PointMatrices &source, int64_t tiles, int64_t rows, int64_t columns,
                        bool accumulate, const PointMatrices &sums);
  void (*transformSums)(const PointMatrices &, const Range &rows, int64_t columns, float *);
};

#define MTC_VECTOR_CODE "runtime/calls/convolution/cpu/winograd.inc"
#include "runtime/devices/cpu/vector/each_vector_set.inc"

std::array<int64_t, 2> firstTwo(const int64_t *extents) { return {extents[0], extents[1]}; }

/// Returns the grids of the tensor that a tile reads with the windows and of the one without.
std::pair<TileGrid, TileGrid> gridsOf(const MtcConvolution &c, bool isAdjoint) {
  TileGrid input = {c.input_channels, firstTwo(c.input), {}, {}},
           output = {c.output_channels, firstTwo(c.output), {}, {}};
  TileGrid source = isAdjoint ? output : input, result = isAdjoint ? input : output;
  for (size_t i = 0; i < 2; ++i) {
    source.before[i] = isAdjoint ? 2 - c.before[i] : c.before[i];
    source.tiles[i] = result.tiles[i] = divideUp(result.extents[i], tileExtent);
  }
  return {source, result};
}

/// A convolution or its input gradient. A block of columns of the filters is transformed by all
/// threads; then each thread computes these columns of its blocks of tiles.
class WinogradConvolution final : public LibraryCall {
public:
  WinogradConvolution(const MtcConvolution &c, bool isAdjoint, int maximalThreads, VectorSet set)
      : hasBias(c.has_bias), hasAddend(c.has_addend), set(set),
        kernels(MTC_OF_SET(set, winogradKernels)()) {
    std::tie(source, result) = gridsOf(c, isAdjoint);
    const int64_t ofChannel = c.input_channels * taps;
    filters = {source.channels, c.output_channels * ofChannel, isAdjoint ? ofChannel : taps,
               isAdjoint ? taps : ofChannel, isAdjoint};
    // All threads get as many blocks. A multiple of 4 rows fills register tiles of 12 or 4 rows.
    constexpr int64_t bytesOfBlock = 384 << 10, unit = 4;
    tiles = c.batch * source.tiles[0] * source.tiles[1];
    const int64_t maxTiles = std::clamp<int64_t>(
        bytesOfBlock / bytesOfRow(source.channels + maxGroupColumns), 4 * unit, 24 * unit);
    blockTiles = roundUp(divideUp(tiles, roundUp(divideUp(tiles, maxTiles), maximalThreads)), unit);
    blocks = divideUp(tiles, blockTiles);
    threads = static_cast<int>(std::min<int64_t>(maximalThreads, blocks));
    transformed = PointMatrices::layout(blockTiles, source.channels);
    products = PointMatrices::layout(blockTiles, maxGroupColumns);
    // The narrowest groups, which have the most gaps, have 8 columns.
    constexpr int64_t bytesOfFilters = 3 << 20, minGroupColumns = 8;
    const int64_t groups = divideUp(result.channels, maxGroupColumns),
                  maxGroups = bytesOfFilters / (floatBytes * filters.groupStride(maxGroupColumns)),
                  parts = divideUp(groups, std::max(maxGroups, int64_t{1}));
    blockColumns = divideUp(groups, parts) * maxGroupColumns;
    filterBytes = alignedBytes(floatBytes * (blockColumns / minGroupColumns) *
                               filters.groupStride(minGroupColumns));
  }

  int64_t scratchBytes() const override {
    return filterBytes + threads * (transformed.bytes() + products.bytes());
  }
  MtcSupportLevel supportLevel() const override { return MTC_CALL_FAST; }
  std::string implementation() const override {
    return std::string("f32 winograd ") + vectorSetName(set);
  }

  void run(char *const *buffers, char *scratch) override {
    auto operand = [&](int number) { return reinterpret_cast<float *>(buffers[number]); };
    const Addends addends = {hasBias ? operand(2) : nullptr,
                             hasAddend ? operand(2 + hasBias) : nullptr};
    float *out = operand(2 + hasBias + hasAddend), *u = reinterpret_cast<float *>(scratch);
    const int64_t pointStride = filters.pointStride(kernels.groupColumns),
                  groupStride = filters.groupStride(kernels.groupColumns);
    for (int64_t first = 0; first < result.channels; first += blockColumns) {
      const Range columns = {first, std::min(result.channels, first + blockColumns)};
      parallelFor(threads, filters.depth, 4, [&](int, int64_t begin, int64_t end) {
        kernels.transformFilters(filters, operand(1), columns, {begin, end}, u);
      });
      parallelFor(threads, blocks, 1, [&](int part, int64_t begin, int64_t end) {
        char *own = scratch + filterBytes + part * (transformed.bytes() + products.bytes());
        const PointMatrices v = transformed.in(own),
                            m = {reinterpret_cast<float *>(own + transformed.bytes()),
                                 kernels.groupColumns, products.pointStride};
        for (int64_t block = begin; block < end; ++block) {
          const Range some = {block * blockTiles, std::min(tiles, (block + 1) * blockTiles)};
          kernels.transformSourceTiles(source, operand(0), some, {0, source.channels}, v);
          for (int64_t column = columns.begin; column < columns.end;
               column += kernels.groupColumns) {
            const Range group = {column, std::min(columns.end, column + kernels.groupColumns)};
            const int64_t number = (column - columns.begin) / kernels.groupColumns;
            kernels.multiplyGroup(v, {u + number * groupStride, kernels.groupColumns, pointStride},
                                  some.size(), filters.depth, m);
            kernels.transformGroup(m, result, some, group, addends, out);
          }
        }
      });
    }
  }

private:
  bool hasBias, hasAddend;
  VectorSet set;
  WinogradKernels kernels;
  int threads;
  TileGrid source, result;
  FilterLayout filters;
  PointMatrices transformed, products;
  int64_t tiles, blockTiles, blocks, blockColumns, filterBytes;
};

/// The weights' gradient: sums over blocks of tiles, for a block of output channels. Threads share
/// the transformed tiles, and each adds to the sums of its points.
class WinogradWeightGradient final : public LibraryCall {
public:
  WinogradWeightGradient(const MtcConvolution &c, int threads, VectorSet set)
      : threads(threads), set(set), kernels(MTC_OF_SET(set, winogradKernels)()) {
    std::tie(source, gradient) = gridsOf(c, /*isAdjoint=*/false);
    constexpr int64_t bytesOfSums = 3 << 20, bytesOfBlock = 1 << 20, unit = 4;
    const int64_t maxRows =
        std::max(bytesOfSums / bytesOfRow(source.channels) / unit, int64_t{1}) * unit;
    blockRows =
        std::min(gradient.channels,
                 roundUp(divideUp(gradient.channels, divideUp(gradient.channels, maxRows)), unit));
    tiles = c.batch * source.tiles[0] * source.tiles[1];
    const int64_t maxTiles = std::clamp<int64_t>(
        bytesOfBlock / (bytesOfRow(source.channels) + bytesOfRow(blockRows)), 32, 128);
    blockTiles = divideUp(tiles, divideUp(tiles, maxTiles));
    ofSource = PointMatrices::layout(blockTiles, source.channels);
    ofGradient = PointMatrices::layout(blockTiles, blockRows);
    sums = PointMatrices::layout(blockRows, source.channels);
  }

  int64_t scratchBytes() const override {
    return ofSource.bytes() + ofGradient.bytes() + sums.bytes();
  }
  MtcSupportLevel supportLevel() const override { return MTC_CALL_FAST; }
  std::string implementation() const override {
    return std::string("f32 winograd ") + vectorSetName(set);
  }

  void run(char *const *buffers, char *scratch) override {
    auto operand = [&](int number) { return reinterpret_cast<float *>(buffers[number]); };
    const PointMatrices v = ofSource.in(scratch), d = ofGradient.in(scratch + ofSource.bytes()),
                        s = sums.in(scratch + ofSource.bytes() + ofGradient.bytes());
    for (int64_t first = 0; first < gradient.channels; first += blockRows) {
      const Range rows = {first, std::min(gradient.channels, first + blockRows)};
      for (int64_t tile = 0; tile < tiles; tile += blockTiles) {
        const int64_t count = std::min(blockTiles, tiles - tile);
        parallelFor(threads, count, 1, [&](int, int64_t begin, int64_t end) {
          auto transform = [&](auto function, const TileGrid &grid, const float *from,
                               const Range &channels, PointMatrices to) {
            to.at += begin * to.rowStride;
            function(grid, from, {tile + begin, tile + end}, channels, to);
          };
          transform(kernels.transformSourceTiles, source, operand(0), {0, source.channels}, v);
          transform(kernels.transformGradientTiles, gradient, operand(1), rows, d);
        });
        parallelFor(threads, points, 1, [&](int, int64_t begin, int64_t end) {
          kernels.multiplyTiles({begin, end}, d, v, count, rows.size(), source.channels, tile > 0,
                                s);
        });
      }
      parallelFor(threads, rows.size(), 1, [&](int, int64_t begin, int64_t end) {
        kernels.transformSums(s, {begin, end}, source.channels,
                              operand(2) + first * source.channels * taps);
      });
    }
  }

private:
  int threads;
  VectorSet set;
  WinogradKernels kernels;
  TileGrid source, gradient;
  PointMatrices ofSource, ofGradient, sums;
  int64_t tiles, blockTiles, blockRows;
};

} // namespace

std::unique_ptr<LibraryCall> createWinogradConvolution(const MtcConvolution &c, Computed computed,
                                                       int threads, VectorSet set) {
  if (!mtc_has_winograd(&c) || isEmpty(c))
    return nullptr;
  if (computed == Computed::Weights)
    return std::make_unique<WinogradWeightGradient>(c, threads, set);
  return std::make_unique<WinogradConvolution>(c, computed == Computed::Input, threads, set);
}

} // namespace mtc::runtime
