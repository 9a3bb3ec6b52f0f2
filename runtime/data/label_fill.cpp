// Labels that are ignored or derived from tokens.
#include "runtime/data/label_fill.h"

#include "runtime/abi/input_names.h"
#include "runtime/data/value_range.h"
#include "runtime/support/element_type.h"
#include "runtime/support/integers.h"

#include <algorithm>
#include <cstring>

namespace mtc::runtime {

/// Stores `value` in element `index` of densely packed values.
template <typename Value> static void put(char *values, int64_t index, int64_t value) {
  auto narrow = static_cast<Value>(value);
  std::memcpy(values + index * static_cast<int64_t>(sizeof narrow), &narrow, sizeof narrow);
}

void ignoreLabels(const MtcInput &labels, int64_t first, int64_t count, char *to) {
  const uint32_t type = labels.tensor.type;
  if (!isInteger(type)) {
    std::memset(to + first * typeBytes(type), 0, static_cast<size_t>(count * typeBytes(type)));
    return;
  }
  withInteger(type, [&](auto example) {
    for (int64_t i = first; i < first + count; ++i)
      put<decltype(example)>(to, i, labels.ignored);
  });
}

void fillIgnored(const MtcInput &labels, int64_t rows, char *to) {
  const MtcTensor &tensor = labels.tensor;
  const int64_t allRows = tensor.rank ? tensor.dims[0] : 1;
  if (rows == 0 || allRows == 0)
    return;
  const int64_t elements = tensor.bytes / typeBytes(tensor.type), count = elements / allRows * rows;
  ignoreLabels(labels, elements - count, count, to);
}

bool canIgnore(const MtcInput &input) {
  return input.is_label && !input.is_padded && hasRange(input) &&
         isRepresentable(input.ignored, input.tensor.type);
}

bool isLossWeights(const MtcInput &input) {
  return input.is_label && std::strcmp(input.tensor.name, lossWeightsName) == 0;
}

void fillLossWeights(const MtcInput &input, char *to) {
  auto fill = [&](auto one) {
    for (int64_t i = 0; i < input.tensor.bytes / static_cast<int64_t>(sizeof one); ++i)
      std::memcpy(to + i * static_cast<int64_t>(sizeof one), &one, sizeof one);
  };
  input.tensor.type == MTC_F64 ? fill(1.0) : fill(1.0F);
}

void excludeSamples(const MtcInput &input, int64_t rows, char *to) {
  if (canIgnore(input) || isLossWeights(input))
    fillIgnored(input, rows, to);
}

void shiftTokens(const MtcInput &tokens, const char *from, const MtcInput &labels, char *to) {
  const MtcTensor &tensor = labels.tensor;
  const int64_t count = tensor.bytes / typeBytes(tensor.type),
                length = tensor.dims[tensor.rank - 1];
  withInteger(tokens.tensor.type, [&](auto token) {
    withInteger(tensor.type, [&](auto label) {
      for (int64_t i = 0; i < count; ++i)
        put<decltype(label)>(to, i,
                             (i + 1) % length == 0
                                 ? labels.ignored
                                 : static_cast<int64_t>(elementAt<decltype(token)>(from, i + 1)));
    });
  });
}

int32_t findPaddingMask(const MtcProgram &program, const MtcInput &labels) {
  for (uint32_t i = 0; i < program.input_count; ++i)
    if (const MtcTensor &tensor = program.inputs[i].tensor;
        std::strcmp(tensor.name, paddingMaskName) == 0 && shapeOf(tensor) == shapeOf(labels.tensor))
      return static_cast<int32_t>(i);
  return -1;
}

void ignorePadding(const MtcInput &mask, const char *from, const MtcInput &labels, char *to) {
  const MtcTensor &tensor = labels.tensor;
  const int64_t count = tensor.bytes / typeBytes(tensor.type),
                length = tensor.dims[tensor.rank - 1], size = typeBytes(mask.tensor.type);
  withInteger(tensor.type, [&](auto label) {
    for (int64_t i = 0; i < count; ++i) {
      // Zero has no bits in any type.
      const char *next = from + (i + 1) * size;
      if ((i + 1) % length != 0 && std::all_of(next, next + size, [](char c) { return c == 0; }))
        put<decltype(label)>(to, i, labels.ignored);
    }
  });
}

} // namespace mtc::runtime
