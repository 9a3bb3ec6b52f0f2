//===- RoundedLines.cpp - Rounded minimums of lines in 16-bit arithmetic ----------------------===//
//
// The low 5 bits of a number's exponent and the upper 11 bits of its mantissa m are 16 bits. With
// tables of linear functions by exponent, a function is start + growth * m / 2^11. This takes a
// permutation for each of the two numbers, the upper half of a product, and a sum, for 32 lanes at
// a time. Two functions take a third of the instructions of seven functions in f32.
//
//===------------------------------------------------------------------------------------------===//

#include "codegen/cpu/RoundedLines.h"

#include "ir/attributes/DiscardableAttributes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;
using namespace mtc;
using namespace mtc::cpu;

constexpr int64_t kIntervals = RoundedLines::kIntervals;
constexpr int kMantissaBits = 11, kExponentBits = 5;
constexpr int kBias = 127, kMinExponent = kBias + 1 - kIntervals;
constexpr double kFraction = 256; ///< of fixed-point numbers

namespace {

struct Line {
  double slope, offset;
  double at(double x) const { return slope * x + offset; }
};

/// Matches minimums of linear functions of one number.
class Matcher {
public:
  /// Matches `value`, the bits of a minimum.
  bool match(Value value) {
    if (auto minimum = value.getDefiningOp<arith::MinSIOp>())
      return match(minimum.getLhs()) && match(minimum.getRhs());
    auto bits = value.getDefiningOp<arith::BitcastOp>();
    auto sum = bits ? bits.getIn().getDefiningOp<arith::AddFOp>() : nullptr;
    auto product = sum ? sum.getLhs().getDefiningOp<arith::MulFOp>() : nullptr;
    std::optional<double> offset = sum ? numberOf(sum.getRhs()) : std::nullopt;
    std::optional<double> slope = product ? numberOf(product.getRhs()) : std::nullopt;
    if (!offset || !slope || *slope < 0 || *offset < 0 || (x && x != product.getLhs()))
      return false;
    x = product.getLhs();
    lines.push_back({*slope, *offset});
    return true;
  }

  static std::optional<double> numberOf(Value value) {
    FloatAttr constant;
    if (!matchPattern(value, m_Constant(&constant)))
      return std::nullopt;
    return constant.getValueAsDouble();
  }

  Value x;
  SmallVector<Line> lines;
};

} // namespace

static double minimumOf(ArrayRef<Line> lines, double x) {
  double minimum = INFINITY;
  for (const Line &line : lines)
    minimum = std::min(minimum, line.at(x));
  return minimum;
}

static const Line &minOf(ArrayRef<Line> lines, double x) {
  return *llvm::min_element(lines, [&](const Line &a, const Line &b) { return a.at(x) < b.at(x); });
}

static uint16_t toFixed(double value) {
  return static_cast<uint16_t>(std::clamp(std::round(value * kFraction), 0.0, 65535.0));
}

/// Fills the tables. Returns the maximum error where the minimum is below 256.
static double makeTables(ArrayRef<Line> lines, RoundedLines &rounded) {
  // Smaller numbers are rounded up to the start of the first interval.
  double error = minimumOf(lines, std::ldexp(1.0, kMinExponent - kBias)) - minimumOf(lines, 0);
  for (int64_t i = 0; i < kIntervals; ++i) {
    double low = std::ldexp(1.0, static_cast<int>(i) + kMinExponent - kBias);
    const Line *both[] = {&minOf(lines, low), &minOf(lines, 2 * low)};
    for (auto [line, table] : llvm::zip_equal(both, rounded.lines)) {
      double growth = line->slope * low, halfStep = growth / (2 << kMantissaBits);
      table.start[i] = toFixed(line->at(low) + halfStep);
      table.growth[i] = toFixed(growth);
      // Both numbers are rounded, and the product is rounded down.
      if (minimumOf(lines, low) < kFraction)
        error = std::max(error, halfStep + 2 / kFraction);
    }
    // A third line would be below both where they meet.
    double slopes = both[0]->slope - both[1]->slope;
    if (slopes > 0) {
      double meet = (both[1]->offset - both[0]->offset) / slopes;
      error = std::max(error, both[0]->at(meet) - minimumOf(lines, meet) + 2 / kFraction);
    }
  }
  return error;
}

std::optional<RoundedLines> mtc::cpu::findRoundedLines(Operation *op) {
  auto tolerance = op->getAttrOfType<FloatAttr>(toleranceAttribute);
  auto narrow = dyn_cast<arith::TruncIOp>(op);
  if (!tolerance || !narrow || !narrow.getType().isInteger(8))
    return std::nullopt;
  auto whole = narrow.getIn().getDefiningOp<arith::FPToSIOp>();
  if (!whole || !whole.getIn().getType().isF32())
    return std::nullopt;
  Value position = whole.getIn();
  RoundedLines rounded;
  double center = 0;
  if (auto sum = position.getDefiningOp<arith::AddFOp>()) {
    std::optional<double> constant = Matcher::numberOf(sum.getRhs());
    auto select = sum.getLhs().getDefiningOp<arith::SelectOp>();
    auto negative = select ? select.getTrueValue().getDefiningOp<arith::NegFOp>() : nullptr;
    if (!constant || !negative || negative.getOperand() != select.getFalseValue() ||
        *constant < 0 || *constant != std::floor(*constant))
      return std::nullopt;
    center = *constant;
    rounded.isNegative = select.getCondition();
    position = select.getFalseValue();
  }
  auto number = position.getDefiningOp<arith::BitcastOp>();
  Matcher matcher;
  if (!number || !matcher.match(number.getIn()))
    return std::nullopt;
  // The exponent of larger numbers would wrap around.
  if (center + minimumOf(matcher.lines, 2) < kFraction ||
      makeTables(matcher.lines, rounded) > tolerance.getValueAsDouble())
    return std::nullopt;
  rounded.x = matcher.x;
  rounded.center = toFixed(center);
  return rounded;
}

static Value splat(ImplicitLocOpBuilder &b, VectorType type, int64_t value) {
  return arith::ConstantOp::create(
      b, DenseElementsAttr::get(type, b.getIntegerAttr(type.getElementType(), value)));
}

/// Returns the elements with odd numbers of two vectors.
static Value oddOf(ImplicitLocOpBuilder &b, Value x, Value y) {
  SmallVector<int64_t> odd;
  for (int64_t i = 0; i < cast<VectorType>(x.getType()).getNumElements(); ++i)
    odd.push_back(2 * i + 1);
  return vector::ShuffleOp::create(b, x, y, odd);
}

/// Emits the minimums of 32 lanes.
static Value emitMinimum(ImplicitLocOpBuilder &b, const RoundedLines &rounded, Value words) {
  auto type = cast<VectorType>(words.getType());
  auto call = [&](StringRef name, ValueRange operands) -> Value {
    return LLVM::CallIntrinsicOp::create(b, type, b.getStringAttr(name), operands).getResult(0);
  };
  auto lookUp = [&](const RoundedLines::Table &table, Value index) {
    Value elements =
        arith::ConstantOp::create(b, DenseElementsAttr::get(type, ArrayRef<uint16_t>(table)));
    return call("llvm.x86.avx512.permvar.hi.512", {elements, index});
  };
  Value exponent = arith::ShRUIOp::create(b, words, splat(b, type, kMantissaBits));
  Value mantissa = arith::ShLIOp::create(b, words, splat(b, type, kExponentBits));
  Value minimum;
  for (const RoundedLines::Line &line : rounded.lines) {
    Value product = call("llvm.x86.avx512.pmulhu.w.512", {mantissa, lookUp(line.growth, exponent)});
    Value y = arith::AddIOp::create(b, lookUp(line.start, exponent), product);
    minimum = minimum ? arith::MinUIOp::create(b, minimum, y).getResult() : y;
  }
  return minimum;
}

Value mtc::cpu::emitRoundedLines(ImplicitLocOpBuilder &b, const RoundedLines &rounded, Value x,
                                 Value isNegative) {
  constexpr int64_t lanes = kLanesOfRoundedLines, half = lanes / 2;
  const int64_t one = 1;
  auto integers = VectorType::get({lanes}, b.getI32Type());
  auto halves = VectorType::get({half}, b.getI16Type());
  auto part = [&](Value vector, int64_t first, int64_t size) -> Value {
    return vector::ExtractStridedSliceOp::create(b, vector, ArrayRef<int64_t>{first},
                                                 ArrayRef<int64_t>{size}, ArrayRef<int64_t>{one});
  };
  Value bits = arith::MaxSIOp::create(b, arith::BitcastOp::create(b, integers, x),
                                      splat(b, integers, int64_t(kMinExponent) << 23));
  // The upper half has the 5 and 11 bits.
  Value shifted = arith::ShLIOp::create(b, bits, splat(b, integers, 8 - kExponentBits + 1));
  SmallVector<Value> bytes;
  for (int64_t first = 0; first < lanes; first += half) {
    auto wordsOf = [&](int64_t at) -> Value {
      return vector::BitCastOp::create(b, halves, part(shifted, at, half / 2));
    };
    Value y = emitMinimum(b, rounded, oddOf(b, wordsOf(first), wordsOf(first + half / 2)));
    if (isNegative) {
      Value center = splat(b, halves, rounded.center);
      // Saturates at 0, as the conversion rounds towards 0.
      Value below =
          arith::SubIOp::create(b, center, arith::MinUIOp::create(b, y, center).getResult());
      y = arith::SelectOp::create(b, part(isNegative, first, half), below,
                                  arith::AddIOp::create(b, y, center));
    }
    bytes.push_back(vector::BitCastOp::create(b, VectorType::get({lanes}, b.getI8Type()), y));
  }
  return oddOf(b, bytes[0], bytes[1]);
}
