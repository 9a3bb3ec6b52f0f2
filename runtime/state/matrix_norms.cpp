#include "runtime/state/matrix_norms.h"

#include "runtime/support/element_type.h"
#include "runtime/support/floats.h"

#include <cmath>
#include <cstring>

namespace mtc::runtime {

MatrixNorms::MatrixNorms(uint32_t axis, const MtcTensor &matrix)
    : axis(axis), type(matrix.type), columns(matrix.dims[1]),
      squares(static_cast<size_t>(matrix.dims[1 - axis])) {}

void MatrixNorms::add(const char *elements, int64_t at, int64_t bytes) {
  const int64_t first = at / typeBytes(type);
  withFloat(type, [&](auto format) {
    using Stored = typename decltype(format)::Stored;
    const auto size = static_cast<int64_t>(sizeof(Stored));
    for (int64_t i = 0; i < bytes / size; ++i) {
      Stored element;
      std::memcpy(&element, elements + i * size, sizeof element);
      const auto value = static_cast<double>(format.widen(element));
      const int64_t index = axis == 0 ? (first + i) % columns : (first + i) / columns;
      squares[static_cast<size_t>(index)] += value * value;
    }
  });
}

std::vector<double> MatrixNorms::norms() const {
  std::vector<double> result;
  result.reserve(squares.size());
  for (const double square : squares)
    result.push_back(std::sqrt(square));
  return result;
}

} // namespace mtc::runtime
