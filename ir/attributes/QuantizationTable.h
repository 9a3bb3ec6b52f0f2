//===- QuantizationTable.h - The numbers that codes stand for ---------------------------------===//

#ifndef MTC_IR_ATTRIBUTES_QUANTIZATIONTABLE_H
#define MTC_IR_ATTRIBUTES_QUANTIZATIONTABLE_H

#include "ir/Mtc.h"

#include <vector>

namespace mtc {

/// What a map of `mtc.quantize_blocks` does.
struct QuantizationTable {
  unsigned bits;
  /// Elements in a block.
  int64_t block;
  /// By code, ascending: numbers of -1..1, the last one 1.
  std::vector<float> values;
  /// A number's code is how many of these, which ascend too, are less than it.
  std::vector<float> bounds;

  /// An element is divided by no less than this.
  float leastScale;
  /// That is also the least scale of a block.
  bool storesLeastScale;
  /// The element is multiplied by the reciprocal of its block's scale, not divided by the scale.
  bool multiplies;
  /// The code of 0, where a number less than 0 gets the next lower code instead of it.
  std::optional<unsigned> zeroOfSigned;

  int64_t blocksOf(int64_t elements) const { return (elements + block - 1) / block; }
  /// The values, by code; then, from 2^bits, the bounds as a search finds them: node 1 is the
  /// middle one, and behind node n comes 2 n, or 2 n + 1 if the number is greater; the code is the
  /// node behind the last bound, less 2^bits.
  mlir::DenseElementsAttr asTensor(mlir::MLIRContext *context) const;
};

const QuantizationTable &getQuantizationTable(QuantizationMap map);

/// The map of so many bits (8 or 4) for numbers that may be less than 0, or are not.
QuantizationMap findQuantizationMap(unsigned bits, bool isSigned);

} // namespace mtc

#endif // MTC_IR_ATTRIBUTES_QUANTIZATIONTABLE_H
