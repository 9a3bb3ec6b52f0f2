#include "runtime/state/matrix_norms.h"

#include "runtime/support/floats.h"

#include <cmath>
#include <cstring>

namespace mtc::runtime {

std::vector<double> normsOver(uint32_t axis, const MtcTensor &matrix,
                              const std::vector<char> &value,
                              const std::function<double(int64_t)> &change) {
  const int64_t rows = matrix.dims[0], columns = matrix.dims[1];
  std::vector<double> norms(static_cast<size_t>(axis == 0 ? columns : rows));
  withFloat(matrix.type, [&](auto format) {
    using Stored = typename decltype(format)::Stored;
    for (int64_t i = 0; i < rows * columns; ++i) {
      Stored element;
      std::memcpy(&element, value.data() + i * static_cast<int64_t>(sizeof(Stored)),
                  sizeof element);
      const double sum = static_cast<double>(format.widen(element)) + (change ? change(i) : 0);
      norms[static_cast<size_t>(axis == 0 ? i % columns : i / columns)] += sum * sum;
    }
  });
  for (double &norm : norms)
    norm = std::sqrt(norm);
  return norms;
}

} // namespace mtc::runtime
