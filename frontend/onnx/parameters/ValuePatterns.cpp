//===- ValuePatterns.cpp - Patterns in the elements of constants ------------------------------===//

#include "frontend/onnx/parameters/ValuePatterns.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <numbers>

using namespace llvm;
using namespace mlir;

namespace mtc::onnx {

std::vector<double> sampledValues(InitializerOp initializer) {
  std::vector<double> values;
  auto elements = dyn_cast_or_null<DenseElementsAttr>(initializer.getSampleAttr());
  if (!elements || !isa<FloatType>(elements.getElementType()))
    return values;
  constexpr int64_t maxValues = 4096;
  const int64_t count = std::min(maxValues, elements.getNumElements());
  auto add = [&](auto begin, auto convert) {
    llvm::transform(llvm::make_range(begin, std::next(begin, count)), std::back_inserter(values),
                    convert);
  };
  // Arithmetic on APFloat takes hundreds of times as long.
  if (elements.getElementType().isF32())
    add(elements.value_begin<float>(), [](float value) { return double(value); });
  else
    add(elements.value_begin<APFloat>(), [](APFloat value) {
      bool losesInfo;
      value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
      return value.convertToDouble();
    });
  return values;
}

bool isLiteral(double value, FloatType type) {
  if (!std::isfinite(value))
    return false;
  const double size = std::abs(value);
  if (size == 0)
    return true;
  // Half the distance of neighbors, relative to the value.
  const double epsilon = std::ldexp(1.0, -static_cast<int>(type.getFPMantissaWidth())) * 1.01;
  auto equals = [&](double x, double expected, double ulps = 1) {
    return std::abs(x - expected) <= ulps * epsilon * expected;
  };
  auto isWholeUpTo = [&](double x, double limit, double ulps) {
    return x < limit && std::round(x) >= 1 && equals(x, std::round(x), ulps);
  };
  const int digits = type.getWidth() >= 32 ? 5 : type.getFPMantissaWidth() > 8 ? 3 : 2;
  const double unit = std::pow(10, std::floor(std::log10(size)) - digits + 1);
  if (equals(size, std::round(size / unit) * unit) || (size >= 1 && size == std::round(size)))
    return true;
  constexpr double limit = 4096;
  if (isWholeUpTo(1 / size, limit, 2) || isWholeUpTo(size * size, 4 * limit, 4) ||
      isWholeUpTo(1 / (size * size), 4 * limit, 4))
    return true;
  using namespace std::numbers;
  return llvm::any_of(std::initializer_list<double>{pi, ln2, ln10, e, 1 / sqrt(pi),
                                                    sqrt2 / sqrt(pi), sqrt(pi), sqrt2 * sqrt(pi)},
                      [&](double known) {
                        return isWholeUpTo(size / known, 9, 2) || isWholeUpTo(known / size, 9, 2) ||
                               isWholeUpTo(1 / (size * known), 9, 2);
                      });
}

bool isVector(ArrayRef<int64_t> shape) {
  return llvm::count_if(shape, [](int64_t extent) { return extent != 1; }) == 1;
}

/// Returns whether the values are at equal distances, up to rounding.
static bool isArithmetic(ArrayRef<double> values) {
  const double step = (values.back() - values.front()) / static_cast<double>(values.size() - 1);
  double largest = 0;
  for (double value : values)
    largest = std::max(largest, std::abs(value));
  const double tolerance = std::min(1e-5 * largest, 1e-2 * std::abs(step));
  return step != 0 && llvm::all_of(llvm::enumerate(values), [&](auto entry) {
           return std::abs(entry.value() - values.front() -
                           step * static_cast<double>(entry.index())) <= tolerance;
         });
}

bool isProgression(ArrayRef<double> values) {
  if (values.size() < 4)
    return false;
  if (isArithmetic(values))
    return true;
  if (!llvm::all_of(values, [](double value) { return value > 0; }))
    return false;
  std::vector<double> logarithms;
  for (double value : values)
    logarithms.push_back(std::log(value));
  return isArithmetic(logarithms);
}

bool isMonotonic(ArrayRef<double> values) {
  auto isSorted = [&](auto less) {
    return llvm::all_of(llvm::seq<size_t>(1, values.size()),
                        [&](size_t i) { return less(values[i - 1], values[i]); });
  };
  return values.size() >= 16 && (isSorted(std::less<>()) || isSorted(std::greater<>()));
}

/// Returns whether values are even or odd around their center, relative to their range.
static bool isSymmetric(ArrayRef<double> values, double range) {
  auto differs = [&](double sign) {
    for (size_t i = 0; i < values.size() / 2; ++i)
      if (std::abs(values[i] - sign * values[values.size() - 1 - i]) > 2e-4 * range)
        return true;
    return false;
  };
  return !differs(1) || !differs(-1);
}

bool areSymmetricRows(ArrayRef<double> values, int64_t width) {
  constexpr size_t minWidth = 8;
  auto columns = static_cast<size_t>(width);
  if (columns < minWidth || values.size() < columns)
    return false;
  double largest = 0;
  for (double value : values)
    largest = std::max(largest, std::abs(value));
  size_t symmetric = 0, others = 0;
  for (; values.size() >= columns; values = values.drop_front(columns)) {
    ArrayRef<double> row = values.take_front(columns);
    auto [low, high] = std::minmax_element(row.begin(), row.end());
    const double range = *high - *low;
    auto isZero = [&](double value) { return std::abs(value) <= 1e-7 * largest; };
    ArrayRef<double> inner = row.drop_while(isZero);
    while (!inner.empty() && isZero(inner.back()))
      inner = inner.drop_back();
    if (range <= 1e-5 * largest || inner.size() < minWidth)
      continue; // Constant rows and single numbers are symmetric anyway.
    // Periodic windows and Fourier bases are symmetric without their first element.
    bool isEven = isSymmetric(inner, range) || isSymmetric(row, range) ||
                  isSymmetric(row.drop_front(), range);
    ++(isEven ? symmetric : others);
  }
  // Rows of an odd length make up to half of the rows of constant-Q kernels asymmetric. Random rows
  // are not symmetric.
  return others == 0 ? symmetric > 0 : symmetric >= 4 && 2 * symmetric >= others;
}

bool isFilterBank(ArrayRef<double> values, int64_t width) {
  constexpr size_t minFilters = 8;
  auto columns = static_cast<size_t>(width);
  const size_t rows = values.size() / std::max<size_t>(columns, 1);
  if (rows < minFilters || columns < minFilters)
    return false;
  values = values.take_front(rows * columns);
  const auto zeros = static_cast<size_t>(llvm::count(values, 0.0));
  if (5 * zeros < 3 * values.size() || zeros == values.size() ||
      llvm::any_of(values, [](double value) { return value < 0; }))
    return false;
  auto areAdjacent = [&](size_t lines, size_t length, size_t lineStride, size_t stride) {
    size_t filters = 0;
    for (size_t line = 0; line < lines; ++line) {
      size_t begin = length, end = 0, count = 0;
      for (size_t i = 0; i < length; ++i)
        if (values[line * lineStride + i * stride] != 0) {
          begin = std::min(begin, i);
          end = i + 1;
          ++count;
        }
      if (count != 0 && end - begin != count)
        return false;
      filters += count > 0;
    }
    return filters >= minFilters;
  };
  return areAdjacent(rows, columns, columns, 1) || areAdjacent(columns, rows, 1, columns);
}

bool areEqualBlocks(ArrayRef<double> values, int64_t size) {
  constexpr size_t minSize = 4;
  auto length = static_cast<size_t>(size);
  if (length < minSize || values.size() < 2 * length)
    return false;
  ArrayRef<double> first = values.take_front(length);
  if (llvm::all_equal(first))
    return false;
  for (; values.size() >= length; values = values.drop_front(length))
    if (values.take_front(length) != first)
      return false;
  return true;
}

bool areHalves(ArrayRef<double> values) {
  return values.size() >= 4 && llvm::any_of(values, [&](double x) { return x != values[0]; }) &&
         llvm::all_of(values, [](double x) { return 2 * x == std::round(2 * x); });
}

} // namespace mtc::onnx
