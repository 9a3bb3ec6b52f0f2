//===- QuantizationTable.cpp - Tables of blockwise quantization -------------------------------===//
//
// 8 bits: the dynamic maps of bitsandbytes 0.50.2 (Dettmers et al., "8-bit Optimizers via
// Block-wise Quantization", ICLR 2022). Rounding, scaling and block size follow
// `quantize_blockwise` in `backends/default`, and the rule for signs follows the CUDA kernels.
//
// 4 bits: the maps of torchao's `optim/subclass_4bit.py` and the rounding of `optim/quant_utils.py`
// (Li, Chen and Zhu, "Memory Efficient Optimizers with 4-bit States", NeurIPS 2023).
//
// Tables are bit-exact, so arithmetic is in f32 with the same order of operations.
//
//===------------------------------------------------------------------------------------------===//

#include "ir/attributes/QuantizationTable.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace mtc;

/// Returns `count` equidistant numbers from 0.1 to 1 as torch.linspace does: from both ends to the
/// middle, each rounded once.
static std::vector<float> divideDecade(unsigned count) {
  const float first = 0.1F, last = 1.0F, step = (last - first) / static_cast<float>(count - 1);
  std::vector<float> numbers;
  numbers.reserve(count);
  for (unsigned i = 0; i < count; ++i)
    numbers.push_back(static_cast<float>(
        i < count / 2 ? double(first) + double(step) * i
                      : double(last) - double(step) * static_cast<double>(count - 1 - i)));
  return numbers;
}

/// Returns 0, 1, and, in each of `decades` decades below 1, the midpoints of equal intervals; each
/// decade has twice as many intervals as the next lower one. Signed maps are mirrored.
static std::vector<float> makeDynamic(unsigned decades, bool isSigned) {
  std::vector<float> values = {0.0F, 1.0F};
  for (unsigned decade = 0; decade < decades; ++decade) {
    unsigned intervals = (isSigned ? 1U : 2U) << decade;
    auto power = static_cast<float>(std::pow(10.0, int(decade) - int(decades) + 1));
    std::vector<float> ends = divideDecade(intervals + 1);
    for (unsigned i = 0; i < intervals; ++i) {
      float value = power * ((ends[i] + ends[i + 1]) / 2.0F);
      values.push_back(value);
      if (isSigned)
        values.push_back(-value);
    }
  }
  llvm::sort(values);
  return values;
}

/// Returns the midpoints of adjacent values; a number at a midpoint gets the lower code.
static std::vector<float> middlesOf(ArrayRef<float> values) {
  std::vector<float> bounds;
  for (auto [lower, upper] : llvm::zip(values.drop_back(), values.drop_front()))
    bounds.push_back((lower + upper) / 2.0F);
  return bounds;
}

/// Returns the bounds of a map that rounds up a number if its distance from the lower value is at
/// least half of the rounded interval: each bound is the greatest number that is rounded down.
static std::vector<float> roundedMiddlesOf(ArrayRef<float> values) {
  std::vector<float> bounds = middlesOf(values);
  for (auto [lower, upper, bound] :
       llvm::zip_equal(values.drop_back(), values.drop_front(), bounds)) {
    auto isUpper = [lower = lower, upper = upper](float x) {
      return x - lower >= (upper - lower) * 0.5F;
    };
    constexpr float infinity = std::numeric_limits<float>::infinity();
    while (isUpper(bound))
      bound = std::nextafter(bound, -infinity);
    while (!isUpper(std::nextafter(bound, infinity)))
      bound = std::nextafter(bound, infinity);
  }
  return bounds;
}

/// Returns a line for each decade of a dynamic map.
///
/// A decade has n intervals and contains the numbers power (0.1 + 0.9 f) with 0 <= f < 1. The line
/// of the decade is n (1 + f) at such a number, which is its code, counted from the code of 0, and
/// in an unsigned map one more. The lines meet at the ends of decades and their slopes decrease, so
/// the minimum of all lines is the line of the number's decade. Rounded to the nearest integer, the
/// minimum is the code whose lower bound is nearest. A bound between two decades differs from it by
/// at most 0.25, and other bounds only by rounding errors, so the minimum may have an error of less
/// than 0.25.
static std::vector<QuantizationTable::Line> makeLines(unsigned decades, bool isSigned) {
  std::vector<QuantizationTable::Line> lines;
  for (unsigned decade = 0; decade < decades; ++decade) {
    double intervals = (isSigned ? 1U : 2U) << decade;
    double power = std::pow(10.0, int(decade) - int(decades) + 1);
    double firstBound = isSigned ? 0.5 : 1.5;
    lines.push_back({static_cast<float>(intervals / (0.9 * power)),
                     static_cast<float>(intervals * 8 / 9 - firstBound)});
  }
  return lines;
}

static QuantizationTable make8(bool isSigned) {
  const unsigned decades = 7;
  QuantizationTable table{.bits = 8,
                          .block = 256,
                          .values = makeDynamic(decades, isSigned),
                          .bounds = {},
                          .lines = makeLines(decades, isSigned),
                          .tolerance = 0.2F,
                          .minScale = 1e-38F,
                          .storesMinScale = false,
                          .multiplies = true,
                          .zeroOfSigned = std::nullopt};
  table.bounds = middlesOf(table.values);
  if (isSigned)
    table.zeroOfSigned = llvm::find(table.values, 0.0F) - table.values.begin();
  return table;
}

static QuantizationTable make4(std::vector<float> values) {
  QuantizationTable table{.bits = 4,
                          .block = 128,
                          .values = std::move(values),
                          .bounds = {},
                          .lines = {},
                          .tolerance = 0,
                          .minScale = 1e-12F,
                          .storesMinScale = true,
                          .multiplies = false,
                          .zeroOfSigned = std::nullopt};
  table.bounds = roundedMiddlesOf(table.values);
  return table;
}

/// Returns 1/16, 2/16 .. 1, without 0, so that nothing is divided by a dequantized 0.
static std::vector<float> makeSixteenths() {
  std::vector<float> values;
  for (unsigned i = 1; i <= 16; ++i)
    values.push_back(static_cast<float>(i) / 16.0F);
  return values;
}

const QuantizationTable &mtc::getQuantizationTable(QuantizationMap map) {
  static const QuantizationTable tables[] = {make8(true), make8(false), make4(makeDynamic(3, true)),
                                             make4(makeSixteenths())};
  return tables[static_cast<unsigned>(map)];
}

QuantizationMap mtc::findQuantizationMap(unsigned bits, bool isSigned) {
  if (bits == 8)
    return isSigned ? QuantizationMap::Dynamic8 : QuantizationMap::UnsignedDynamic8;
  return isSigned ? QuantizationMap::Dynamic4 : QuantizationMap::UnsignedLinear4;
}

DenseElementsAttr QuantizationTable::asTensor(MLIRContext *context) const {
  const size_t codes = values.size();
  std::vector<float> all = values;
  if (!lines.empty()) {
    llvm::append_range(all, bounds);
    if (zeroOfSigned)
      all[codes + *zeroOfSigned - 1] = 0.0F;
    all.push_back(0.0F); // The last code has no upper bound.
  } else {
    all.push_back(0.0F); // Node 0 is unused.
    for (size_t nodes = 1; nodes < codes; nodes *= 2)
      for (size_t i = 0; i < nodes; ++i)
        all.push_back(bounds[(2 * i + 1) * codes / (2 * nodes) - 1]);
  }
  auto type = RankedTensorType::get({static_cast<int64_t>(all.size())}, Float32Type::get(context));
  return DenseElementsAttr::get(type, ArrayRef<float>(all));
}
