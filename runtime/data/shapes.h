// The shapes of a program: which one a batch needs.
#ifndef MTC_RUNTIME_DATA_SHAPES_H
#define MTC_RUNTIME_DATA_SHAPES_H

#include "runtime/abi/program.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mtc::runtime {

/// Returns the number of bytes of a program's inputs.
int64_t inputBytes(const MtcProgram &program);

/// The tables of each shape of a program, from the smallest inputs to the largest.
class Shapes {
public:
  explicit Shapes(const MtcProgram &program);

  const std::vector<MtcProgram> &all() const { return programs; }
  /// Returns whether two inputs are sequences of the same extents in every shape.
  bool haveEqualExtents(size_t input, size_t other) const;
  /// Returns whether the labels `input` are the next tokens of `tokens`.
  bool areNextTokens(size_t input, size_t tokens) const;

private:
  std::vector<MtcProgram> programs;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DATA_SHAPES_H
