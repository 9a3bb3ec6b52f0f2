// Blocks are quantized independently.
#include "runtime/state/frozen_matrix.h"

#include "runtime/abi/storage.h"
#include "runtime/support/floats.h"
#include "runtime/support/parallel_ranges.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

namespace mtc::runtime {
namespace {

constexpr std::array<float, 16> nf4Values = MTC_NF4_VALUES;

/// Returns the code of the nearest value: the lower of two equally near ones, the last one for NaN.
uint8_t nearestNf4(float value) {
  uint8_t code = 0;
  for (size_t i = 0; i + 1 < nf4Values.size(); ++i)
    code = static_cast<uint8_t>(code + !(value <= (nf4Values[i] + nf4Values[i + 1]) / 2));
  return code;
}

/// Returns the maximum magnitude; Returns NaN if an element is NaN.
float greatest(const float *elements, int64_t count) {
  float result = 0;
  for (int64_t i = 0; i < count; ++i) {
    const float magnitude = std::fabs(elements[i]);
    if (!(magnitude <= result))
      result = std::isnan(result) ? result : magnitude;
  }
  return result;
}

/// Full blocks are multiplied by the reciprocal of the scale and partial blocks divided by the
/// scale.
float quantizeBlock(const float *elements, int64_t count, uint8_t *packed) {
  constexpr float minimum = 1e-38f;
  const bool isWhole = count == MTC_NF4_BLOCK;
  const float scale = greatest(elements, count);
  const float divisor = scale < minimum ? minimum : scale, factor = 1.0f / divisor;
  auto codeOf = [&](int64_t i) {
    if (i >= count)
      return nearestNf4(0);
    const float scaled = isWhole ? elements[i] * factor : elements[i] / divisor;
    return nearestNf4(scaled < -1 ? -1 : scaled > 1 ? 1 : scaled);
  };
  for (int64_t i = 0; i < count; i += 2)
    packed[i / 2] = static_cast<uint8_t>(codeOf(i) << 4 | codeOf(i + 1));
  return isWhole ? scale : divisor;
}

} // namespace

/// Number of blocks that are compressed at once.
static constexpr int64_t chunkBlocks = 1 << 14;
static constexpr int64_t codeBytes = MTC_NF4_BLOCK / 2; ///< of a block

FrozenMatrix::FrozenMatrix(const MtcVariable &variable, Elements elements, int threads)
    : variable(variable), elements(std::move(elements)), threads(threads),
      count(variable.source->dims[0] * variable.source->dims[1]) {
  if (variable.storage != MTC_STORED_NF4)
    return;
  const auto blocks = static_cast<size_t>((count + MTC_NF4_BLOCK - 1) / MTC_NF4_BLOCK);
  scales.resize(blocks);
  isScaled.resize(blocks);
}

/// Computes the codes and scales of blocks.
void FrozenMatrix::quantize(int64_t firstBlock, int64_t blocks) {
  const int64_t first = firstBlock * MTC_NF4_BLOCK;
  const int64_t total = std::min(count - first, blocks * MTC_NF4_BLOCK);
  read.resize(static_cast<size_t>(total));
  codes.assign(static_cast<size_t>(blocks * codeBytes), 0);
  elements(read.data(), first, total);
  onRanges(threads, blocks, 64, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      const int64_t at = block * MTC_NF4_BLOCK;
      scales[static_cast<size_t>(firstBlock + block)] =
          quantizeBlock(read.data() + at, std::min<int64_t>(total - at, MTC_NF4_BLOCK),
                        reinterpret_cast<uint8_t *>(codes.data()) + block * codeBytes);
    }
  });
  std::fill_n(isScaled.begin() + static_cast<std::ptrdiff_t>(firstBlock), blocks, true);
}

void FrozenMatrix::writeCodes(char *to, int64_t at, int64_t bytes) {
  const int64_t end = at + bytes, blocks = static_cast<int64_t>(scales.size());
  // The last codes may have no elements.
  if (const int64_t used = std::max(at, blocks * codeBytes); used < end)
    std::memset(to + (used - at), 0, static_cast<size_t>(end - used));
  for (int64_t block = at / codeBytes; block * codeBytes < end && block < blocks;
       block += chunkBlocks) {
    const int64_t some =
        std::min({chunkBlocks, blocks - block, (end + codeBytes - 1) / codeBytes - block});
    quantize(block, some);
    const int64_t from = std::max(at, block * codeBytes);
    const int64_t last = std::min(end, (block + some) * codeBytes);
    std::memcpy(to + (from - at), codes.data() + (from - block * codeBytes),
                static_cast<size_t>(last - from));
  }
}

void FrozenMatrix::writeScales(char *to, int64_t at, int64_t bytes) {
  const int64_t first = at / 4, last = (at + bytes + 3) / 4;
  for (int64_t block = first; block < last; ++block)
    if (!isScaled[static_cast<size_t>(block)])
      quantize(block, std::min(chunkBlocks, last - block));
  std::memcpy(to, reinterpret_cast<const char *>(scales.data()) + at, static_cast<size_t>(bytes));
}

void FrozenMatrix::writeRounded(char *to, int64_t at, int64_t bytes) {
  const int64_t chunk = chunkBlocks * MTC_NF4_BLOCK, end = (at + bytes) / 2;
  for (int64_t first = at / 2; first < end; first += chunk) {
    const int64_t some = std::min(chunk, end - first);
    read.resize(static_cast<size_t>(some));
    elements(read.data(), first, some);
    for (int64_t i = 0; i < some; ++i) {
      const uint16_t rounded = toBf16(read[static_cast<size_t>(i)]);
      std::memcpy(to + 2 * (first + i) - at, &rounded, sizeof rounded);
    }
  }
}

void FrozenMatrix::write(char *to, int64_t at, int64_t bytes) {
  if (variable.storage != MTC_STORED_NF4)
    return writeRounded(to, at, bytes);
  const int64_t scalesAt = mtc_nf4_scales(count), end = at + bytes;
  if (at < scalesAt)
    writeCodes(to, at, std::min(end, scalesAt) - at);
  if (const int64_t from = std::max(at, scalesAt); from < end)
    writeScales(to + (from - at), from - scalesAt, end - from);
}

FrozenMatrix::Elements inStorageOrder(const MtcVariable &variable, const std::vector<char> &value) {
  return [&](float *to, int64_t first, int64_t count) {
    const int64_t rows = variable.source->dims[0], columns = variable.source->dims[1];
    for (int64_t i = first; i < first + count; ++i, ++to) {
      const int64_t at = variable.is_transposed ? i % rows * columns + i / rows : i;
      std::memcpy(to, value.data() + at * 4, sizeof *to);
    }
  };
}

} // namespace mtc::runtime
