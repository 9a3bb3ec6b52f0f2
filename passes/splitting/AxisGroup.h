//===- AxisGroup.h - Axes that must be divided together ---------------------------------------===//

#ifndef MTC_PASSES_SPLITTING_AXISGROUP_H
#define MTC_PASSES_SPLITTING_AXISGROUP_H

#include "passes/splitting/SplitRules.h"
#include "passes/splitting/VariableFamilies.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <vector>

namespace mtc {

/// Divided operations and variables.
struct Splits {
  llvm::MapVector<mlir::Operation *, OperationSplit> operations;
  llvm::MapVector<llvm::StringRef, AxisSplitAttr> families; ///< by name of the parameter

  void add(const Splits &others);
};

/// The operations and variables that are divided if one axis of a parameter is, as the heads of a
/// layer, its hidden features, or the classes.
struct AxisGroup {
  Splits splits;
  int64_t variableBytes = 0; ///< of the divided variables, as far as they are whole
  int64_t sentBytes = 0;     ///< that each rank sends in a micro-step
  int64_t products = 0;      ///< floating-point operations of divided contractions in a micro-step

  /// Returns whether dividing the group is better than computing all of it on every rank: its
  /// contractions take longer than what is sent for them on any machine, or it stores much more.
  bool pays() const;
};

/// Finds axis groups from the axes of parameters.
class AxisGroups {
public:
  /// Axes are divided into `chunks` parts. The groups do not depend on the number of ranks that
  /// have these parts.
  AxisGroups(mlir::ModuleOp module, int64_t chunks, int64_t headBlocks = 1);

  const VariableFamilies &getFamilies() const { return families; }
  /// Returns the group of an axis of a parameter. Operations and variables in `taken` keep their
  /// splits.
  AxisGroup grow(llvm::StringRef parameter, AxisSplitAttr split, const Splits &taken);
  /// Returns the groups that divide most bytes of variables for the bytes that they send. `parts`
  /// is the number of parts in their splits; with one, axes of any extent can be divided. A group
  /// that is not accepted does not exclude others.
  std::vector<AxisGroup> chooseGroups(int64_t parts,
                                      llvm::function_ref<bool(const AxisGroup &)> accepts);
  /// Divides the chosen groups, and then what is computed between their sums. With a seed, divides
  /// groups drawn at random instead.
  Splits choose(int64_t seed = 0);

  /// Returns what is divided if an input is. Variables and operations in `taken` keep their splits.
  AxisGroup growInput(mlir::Value input, AxisSplitAttr split, const Splits &taken);
  /// Divides the given axes of parameters, and what is computed between their sums, in a module
  /// whose sequences are divided.
  Splits follow(const llvm::MapVector<llvm::StringRef, AxisSplitAttr> &parameters);
  /// Returns the floating-point operations of a contraction, convolution or attention; 0 for other
  /// operations.
  static int64_t productsOf(mlir::Operation *op);

private:
  class Growth;
  void measure(AxisGroup &group) const;
  llvm::SmallVector<std::pair<llvm::StringRef, AxisSplitAttr>> findAxes(int64_t parts);
  void drawOfVariables(Splits &chosen, int64_t seed);
  void chooseBetweenSums(Splits &chosen, bool includesSmall);

  mlir::ModuleOp module;
  int64_t chunks;
  VariableFamilies families;
  SplitRules rules;
};

} // namespace mtc

#endif // MTC_PASSES_SPLITTING_AXISGROUP_H
