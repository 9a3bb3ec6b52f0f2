//===- RoundedLines.h - Rounded minimums of lines in 16-bit arithmetic ------------------------===//

#ifndef MTC_CODEGEN_CPU_ROUNDEDLINES_H
#define MTC_CODEGEN_CPU_ROUNDEDLINES_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <array>

namespace mtc::cpu {

/// A minimum of linear functions of a number, converted to an integer of 8 bits. With a center, the
/// minimum is added to it, or subtracted where a condition holds.
struct RoundedLines {
  mlir::Value x;          ///< f32, not negative
  mlir::Value isNegative; ///< i1; null if there is no center
  uint16_t center = 0;    ///< with 8 fractional bits

  /// In each interval from a power of two to the next, the minimum is that of at most two lines.
  /// The values of the functions at the start of an interval and their growth up to its end, with 8
  /// fractional bits, by the low bits of the exponent.
  static constexpr int64_t kIntervals = 32;
  using Table = std::array<uint16_t, kIntervals>;
  struct Line {
    Table start, growth;
  };
  std::array<Line, 2> lines;
};

/// Returns the minimum of linear functions that an operation of a kernel rounds, if the operation
/// has the attribute `mtc.tolerance` and arithmetic in 16 bits has at most this error.
std::optional<RoundedLines> findRoundedLines(mlir::Operation *op);

/// The number of lanes of `emitRoundedLines`.
constexpr int64_t kLanesOfRoundedLines = 64;

/// Emits the integers for vectors of `x` and, unless it is null, `isNegative`. Requires AVX-512
/// VBMI.
mlir::Value emitRoundedLines(mlir::ImplicitLocOpBuilder &b, const RoundedLines &rounded,
                             mlir::Value x, mlir::Value isNegative);

} // namespace mtc::cpu

#endif // MTC_CODEGEN_CPU_ROUNDEDLINES_H
