//===- QuantizationTable.h - Tables of blockwise quantization ---------------------------------===//

#ifndef MTC_IR_ATTRIBUTES_QUANTIZATIONTABLE_H
#define MTC_IR_ATTRIBUTES_QUANTIZATIONTABLE_H

#include "ir/Mtc.h"

#include <vector>

namespace mtc {

/// The quantization map of `mtc.quantize_blocks`.
struct QuantizationTable {
  unsigned bits;
  /// Number of elements in a block.
  int64_t block;
  /// The value of each code, ascending, in [-1, 1]; the last value is 1.
  std::vector<float> values;
  /// Decision boundaries, ascending. The code of a number is the number of bounds less than it.
  std::vector<float> bounds;
  /// Lines for finding a bound. The minimum of the lines at the magnitude of a number, rounded
  /// down, is the index of a bound that is adjacent to the number. In a signed map, the index of
  /// bounds above 0 counts from the code of 0. Empty for maps of 4 bits.
  struct Line {
    float slope, offset;
  };
  std::vector<Line> lines;
  /// The error of the minimum up to which the same bound is selected.
  float tolerance;

  /// Lower bound of the scale by which elements are divided.
  float minScale;
  /// Whether the lower bound also applies to the stored scale of a block.
  bool storesMinScale;
  /// Whether elements are multiplied by the reciprocal of the block's scale instead of divided.
  bool multiplies;
  /// The code of 0 in a signed map with lines. Negative numbers that round to 0 get the next lower
  /// code.
  std::optional<unsigned> zeroOfSigned;

  /// Returns the number of blocks.
  int64_t blocksOf(int64_t elements) const { return (elements + block - 1) / block; }
  /// Returns the values by code, followed, from index 2^bits, by the bounds. If a map has lines,
  /// its bounds are in ascending order, but 0 replaces the greatest negative bound. Other bounds
  /// form an implicit binary search tree: node 1 is the middle bound; the child of node n is 2 n,
  /// or 2 n + 1 if the number is greater than its bound; the code is the index of the leaf minus
  /// 2^bits.
  mlir::DenseElementsAttr asTensor(mlir::MLIRContext *context) const;
};

/// Returns the table of a quantization map.
const QuantizationTable &getQuantizationTable(QuantizationMap map);

/// Returns the map with 8 or 4 bits for signed or nonnegative numbers.
QuantizationMap findQuantizationMap(unsigned bits, bool isSigned);

} // namespace mtc

#endif // MTC_IR_ATTRIBUTES_QUANTIZATIONTABLE_H
