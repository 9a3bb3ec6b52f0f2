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
#include <limits>

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

void quantize(const std::vector<float> &elements, char *stored, int threads) {
  const auto count = static_cast<int64_t>(elements.size());
  const int64_t blocks = (count + MTC_NF4_BLOCK - 1) / MTC_NF4_BLOCK;
  char *scales = stored + mtc_nf4_scales(count);
  onRanges(threads, blocks, 64, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      const int64_t first = block * MTC_NF4_BLOCK;
      const float scale =
          quantizeBlock(elements.data() + first, std::min<int64_t>(count - first, MTC_NF4_BLOCK),
                        reinterpret_cast<uint8_t *>(stored) + first / 2);
      std::memcpy(scales + block * 4, &scale, sizeof scale);
    }
  });
}

/// Returns the elements in storage order.
std::vector<float> inOrder(const MtcVariable &variable, const std::vector<char> &value) {
  std::vector<float> given(value.size() / sizeof(float));
  std::memcpy(given.data(), value.data(), value.size());
  if (!variable.is_transposed)
    return given;
  const auto rows = static_cast<size_t>(variable.source->dims[0]),
             columns = static_cast<size_t>(variable.source->dims[1]);
  std::vector<float> transposed(given.size());
  for (size_t row = 0; row < rows; ++row)
    for (size_t column = 0; column < columns; ++column)
      transposed[column * rows + row] = given[row * columns + column];
  return transposed;
}

} // namespace

std::vector<char> storeFrozen(const MtcVariable &variable, const std::vector<char> &value,
                              int threads) {
  const std::vector<float> elements = inOrder(variable, value);
  // A rank may keep a piece of it only.
  const MtcTensor &whole = variable.whole ? *variable.whole : variable.tensor;
  std::vector<char> stored(static_cast<size_t>(whole.bytes));
  if (variable.storage == MTC_STORED_NF4) {
    quantize(elements, stored.data(), threads);
    return stored;
  }
  std::vector<uint16_t> rounded(elements.size());
  std::transform(elements.begin(), elements.end(), rounded.begin(), toBf16);
  std::memcpy(stored.data(), rounded.data(), stored.size());
  return stored;
}

} // namespace mtc::runtime
