#include "runtime/state/value_reader.h"

#include "runtime/state/module_tensors.h"
#include "runtime/support/element_type.h"

#include <algorithm>
#include <cstring>

namespace mtc::runtime {

void ReadAhead::read(char *to, int64_t at, int64_t bytes, int64_t size, int64_t total,
                     const std::function<void(char *to, int64_t first, int64_t count)> &fetch) {
  constexpr int64_t maximum = 16 << 20;
  if (bytes >= std::min(maximum, total * size))
    return fetch(to, at / size, bytes / size);
  if (at < heldAt || at + bytes > heldAt + static_cast<int64_t>(held.size())) {
    heldAt = at;
    held.resize(static_cast<size_t>(std::min(maximum, total * size - at)));
    fetch(held.data(), at / size, static_cast<int64_t>(held.size()) / size);
  }
  std::memcpy(to, held.data() + (at - heldAt), static_cast<size_t>(bytes));
}

ValueReader::ValueReader(const InitialValues &values, uint32_t variable, uint32_t type,
                         ElementOrder order)
    : values(values), variable(variable), type(type), value(valueOf(values.getProgram(), variable)),
      order(order), size(typeBytes(type)), total(value.bytes / typeBytes(value.type)) {
  if (const std::vector<FoundTensor> &found = values.find(variable); !found.empty())
    tensors.emplace(value, found, order);
}

/// Computes elements in column-major order, a few of each row.
void ValueReader::computeColumns(char *to, int64_t first, int64_t count) const {
  const int64_t rows = value.dims[0], columns = value.dims[1];
  const int64_t firstColumn = first / rows, lastColumn = (first + count - 1) / rows;
  std::vector<char> elements;
  for (int64_t row = 0; row < rows; ++row) {
    // Random numbers are drawn in groups of four.
    const int64_t begin = (row * columns + firstColumn) / 4 * 4;
    const int64_t end = std::min(total, (row * columns + lastColumn + 4) / 4 * 4);
    elements.resize(static_cast<size_t>((end - begin) * size));
    values.compute(variable, type, elements.data(), begin * size, (end - begin) * size);
    for (int64_t column = firstColumn; column <= lastColumn; ++column)
      if (const int64_t at = column * rows + row; at >= first && at < first + count)
        std::memcpy(to + (at - first) * size,
                    elements.data() + (row * columns + column - begin) * size,
                    static_cast<size_t>(size));
  }
}

void ValueReader::fetch(char *to, int64_t first, int64_t count) const {
  if (tensors)
    tensors->read(type, to, first, count);
  else if (order == ElementOrder::ColumnMajor)
    computeColumns(to, first, count);
  else
    values.compute(variable, type, to, first * size, count * size);
}

void ValueReader::read(char *to, int64_t at, int64_t bytes) {
  if (isInOrder())
    return fetch(to, at / size, bytes / size);
  ahead.read(to, at, bytes, size, total,
             [&](char *held, int64_t first, int64_t count) { fetch(held, first, count); });
}

} // namespace mtc::runtime
