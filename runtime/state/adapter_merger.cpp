// Updates are computed in f64, a row of the base at a time.
#include "runtime/state/adapter_merger.h"

#include "runtime/state/stored_variable.h"
#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"
#include "runtime/support/floats.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace mtc::runtime {

MtcTensor AdapterMerger::tensorOf(int32_t index) const {
  return StoredVariable(program, static_cast<uint32_t>(index)).tensor();
}

void AdapterMerger::read(int32_t index, const Device::Use &use) const {
  if (!finite.read(program, device, static_cast<uint32_t>(index), use))
    stopDiverged(text("after the last step, '", program.variables[index].tensor.name,
                      "' holds values that are not finite"),
                 path + " was not written");
}

std::vector<double> AdapterMerger::doublesOf(int32_t index) const {
  std::vector<double> values;
  const MtcTensor tensor = tensorOf(index);
  values.reserve(static_cast<size_t>(tensor.bytes / typeBytes(tensor.type)));
  auto append = [&](const char *from, int64_t bytes, auto element) {
    for (int64_t at = 0; at < bytes; at += static_cast<int64_t>(sizeof element)) {
      std::memcpy(&element, from + at, sizeof element);
      values.push_back(static_cast<double>(element));
    }
  };
  read(index, [&](const char *from, int64_t, int64_t bytes) {
    tensor.type == MTC_F64 ? append(from, bytes, double()) : append(from, bytes, float());
  });
  return values;
}

static std::vector<double> transposed(const std::vector<double> &matrix, int64_t rows) {
  const auto count = static_cast<size_t>(rows), columns = matrix.size() / count;
  std::vector<double> result(matrix.size());
  for (size_t row = 0; row < count; ++row)
    for (size_t column = 0; column < columns; ++column)
      result[column * count + row] = matrix[row * columns + column];
  return result;
}

bool AdapterMerger::prepare(uint32_t variable) {
  const MtcAdapter *end = program.adapters + program.adapter_count;
  const MtcAdapter *adapter = std::find_if(program.adapters, end, [&](const MtcAdapter &each) {
    return each.base == static_cast<int32_t>(variable);
  });
  if (adapter == end) {
    prepared = -1;
    return false;
  }
  if (prepared == static_cast<int64_t>(variable))
    return true;
  const MtcVariable &adapted = program.variables[variable];
  const MtcTensor base = adapted.source ? *adapted.source : tensorOf(adapter->base);
  rank = tensorOf(adapter->down).dims[0];
  rows = base.dims[0];
  columns = base.dims[1];
  type = base.type;
  isInputMajor = adapter->axis == 0;
  const auto divisor = static_cast<double>(rank);
  scale = adapter->alpha / (adapter->is_rank_stabilized ? std::sqrt(divisor) : divisor);
  ofRows = doublesOf(adapter->down);
  ofColumns = transposed(doublesOf(adapter->up), isInputMajor ? columns : rows);
  if (!isInputMajor)
    std::swap(ofRows, ofColumns);
  ratios.clear();
  if (adapter->magnitude >= 0)
    findRatios(*adapter);
  prepared = variable;
  return true;
}

/// Calls `use` with the offset of each element of a float type in `elements`, the index of its row
/// or column along the output axis, and the sum of the element and its update.
template <typename Format, typename Use>
void AdapterMerger::forEachSum(Format format, int64_t at, const char *elements, int64_t bytes,
                               const Use &use) const {
  using Stored = typename Format::Stored;
  const auto size = static_cast<int64_t>(sizeof(Stored));
  const int64_t first = at / size, end = first + bytes / size;
  std::vector<double> updates(static_cast<size_t>(columns));
  for (int64_t row = first / columns; row * columns < end; ++row) {
    const int64_t begin = std::max(first - row * columns, int64_t{0});
    const int64_t last = std::min(end - row * columns, columns);
    std::fill(updates.begin() + begin, updates.begin() + last, 0.0);
    for (int64_t k = 0; k < rank; ++k) {
      const double factor = ofRows[static_cast<size_t>(k * rows + row)];
      const double *others = ofColumns.data() + k * columns;
      for (int64_t column = begin; column < last; ++column)
        updates[static_cast<size_t>(column)] += factor * others[column];
    }
    for (int64_t column = begin; column < last; ++column) {
      const int64_t offset = (row * columns + column - first) * size;
      Stored element;
      std::memcpy(&element, elements + offset, sizeof element);
      use(offset, static_cast<size_t>(isInputMajor ? column : row),
          static_cast<double>(format.widen(element)) +
              scale * updates[static_cast<size_t>(column)]);
    }
  }
}

/// Computes the ratios between magnitudes and the norms of the matrix as the program stores it.
void AdapterMerger::findRatios(const MtcAdapter &adapter) {
  std::vector<double> squares(static_cast<size_t>(isInputMajor ? columns : rows));
  read(adapter.base, [&](const char *from, int64_t at, int64_t bytes) {
    withFloat(tensorOf(adapter.base).type, [&](auto format) {
      forEachSum(format, at, from, bytes,
                 [&](int64_t, size_t output, double sum) { squares[output] += sum * sum; });
    });
  });
  ratios = doublesOf(adapter.magnitude);
  for (size_t i = 0; i < squares.size(); ++i)
    ratios[i] /= std::sqrt(squares[i]);
}

void AdapterMerger::merge(int64_t at, char *elements, int64_t bytes) const {
  withFloat(type, [&](auto format) {
    forEachSum(format, at, elements, bytes, [&](int64_t offset, size_t output, double sum) {
      const auto element = format.round(ratios.empty() ? sum : ratios[output] * sum);
      std::memcpy(elements + offset, &element, sizeof element);
    });
  });
}

} // namespace mtc::runtime
