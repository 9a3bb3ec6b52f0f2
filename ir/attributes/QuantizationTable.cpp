//===- QuantizationTable.cpp - The numbers that codes stand for -------------------------------===//
//
// Of 8 bits: the dynamic maps of bitsandbytes 0.50.2 (Dettmers et al., "8-bit Optimizers via
// Block-wise Quantization", ICLR 2022), whose nearest code, scaling and blocks are those of
// `quantize_blockwise` in its `backends/default`, and whose sign rule is that of its CUDA kernels.
// Of 4 bits: the maps of torchao's `optim/subclass_4bit.py` and the rounding of its
// `optim/quant_utils.py` (Li, Chen and Zhu, "Memory Efficient Optimizers with 4-bit States",
// NeurIPS 2023). To the bit, which is why arithmetic here is in f32, operation by operation.
//
//===------------------------------------------------------------------------------------------===//

#include "ir/attributes/QuantizationTable.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace mtc;

/// `count` numbers from 0.1 to 1 at equal distances, as torch.linspace gives them: from both ends
/// to the middle, each rounded once.
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

/// 0, 1, and in each of so many decades below 1 the middles of equal intervals, of which each
/// decade has twice as many as the one below; mirrored for signed numbers.
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

/// The middles between neighbours; a number in the middle gets the lower code.
static std::vector<float> middlesOf(ArrayRef<float> values) {
  std::vector<float> bounds;
  for (auto [lower, upper] : llvm::zip(values.drop_back(), values.drop_front()))
    bounds.push_back((lower + upper) / 2.0F);
  return bounds;
}

/// A number gets the upper code if its distance from the lower value is at least half of the
/// interval, which is rounded: the greatest number of which that does not hold.
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

static QuantizationTable make8(bool isSigned) {
  QuantizationTable table{.bits = 8,
                          .block = 256,
                          .values = makeDynamic(7, isSigned),
                          .bounds = {},
                          .leastScale = 1e-38F,
                          .storesLeastScale = false,
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
                          .leastScale = 1e-12F,
                          .storesLeastScale = true,
                          .multiplies = false,
                          .zeroOfSigned = std::nullopt};
  table.bounds = roundedMiddlesOf(table.values);
  return table;
}

/// 1/16, 2/16 .. 1: no 0, so that nothing is divided by it.
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
  all.push_back(0.0F); // No node.
  for (size_t nodes = 1; nodes < codes; nodes *= 2)
    for (size_t i = 0; i < nodes; ++i)
      all.push_back(bounds[(2 * i + 1) * codes / (2 * nodes) - 1]);
  auto type = RankedTensorType::get({static_cast<int64_t>(all.size())}, Float32Type::get(context));
  return DenseElementsAttr::get(type, ArrayRef<float>(all));
}
