//===- SequenceSplits.h - Division of sequences among ranks -----------------------------------===//

#ifndef MTC_PASSES_SPLITTING_SEQUENCESPLITS_H
#define MTC_PASSES_SPLITTING_SEQUENCESPLITS_H

#include "passes/splitting/AxisGroup.h"

namespace mtc {

/// The axis of an input along which sequences are divided, and what is divided with it.
struct SequenceSplits {
  std::string input; ///< "" if no axis can be divided
  int64_t axis = 0;
  Splits splits;
  int64_t products = 0,
          allProducts = 0; ///< FLOPs of contractions in a micro-step: divided, and all
};

/// Returns the axis of an input, other than that of the batch, whose division divides most
/// floating-point operations of contractions. Variables stay as they are. `stride` is that of the
/// ranks that have different parts.
SequenceSplits chooseSequenceSplits(mlir::ModuleOp module, AxisGroups &groups, int64_t parts,
                                    int64_t stride);

/// Returns the axes of inputs that `parts` does not divide, for a message.
std::string describeOddAxes(mlir::ModuleOp module, int64_t parts);

} // namespace mtc

#endif // MTC_PASSES_SPLITTING_SEQUENCESPLITS_H
