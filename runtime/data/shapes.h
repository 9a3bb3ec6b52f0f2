// The shapes of a program: which one a batch needs.
#ifndef MTC_RUNTIME_DATA_SHAPES_H
#define MTC_RUNTIME_DATA_SHAPES_H

#include "runtime/abi/program.h"

#include <vector>

namespace mtc::runtime {

/// The tables of each shape of a program, from the smallest inputs to the largest.
class Shapes {
public:
  explicit Shapes(const MtcProgram &program);

  const std::vector<MtcProgram> &all() const { return programs; }
  /// Returns whether an input has the same extents in all shapes.
  bool isFixed(uint32_t input) const;

private:
  std::vector<MtcProgram> programs;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DATA_SHAPES_H
