//===- AxisGroup.h - Axes that must be divided together ---------------------------------------===//

#ifndef MTC_PASSES_SPLITTING_AXISGROUP_H
#define MTC_PASSES_SPLITTING_AXISGROUP_H

#include "passes/splitting/SplitRules.h"
#include "passes/splitting/VariableFamilies.h"

#include "llvm/ADT/DenseSet.h"

namespace mtc {

/// Divided operations and variables.
struct Splits {
  llvm::MapVector<mlir::Operation *, OperationSplit> operations;
  llvm::MapVector<llvm::StringRef, AxisSplitAttr> families; ///< by name of the parameter
};

/// The operations and variables that are divided if one axis of a parameter is, as the heads of a
/// layer, its hidden features, or the classes.
struct AxisGroup {
  Splits splits;
  int64_t variableBytes = 0; ///< of the divided variables, as far as they are whole
  int64_t sentBytes = 0;     ///< that each rank sends in a micro-step
  int64_t products = 0;      ///< floating-point operations of divided contractions in a micro-step
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
  /// Divides the groups that divide most bytes of variables for the bytes that they send, and then
  /// what is computed between their sums. With a seed, divides groups drawn at random instead.
  Splits choose(int64_t seed = 0);

  /// Returns what is divided if an input is. Variables and operations in `taken` keep their splits.
  AxisGroup growInput(mlir::Value input, AxisSplitAttr split, const Splits &taken);
  /// Divides the given axes of parameters, and what is computed between their sums.
  Splits follow(const llvm::MapVector<llvm::StringRef, AxisSplitAttr> &parameters);
  /// Returns the floating-point operations of a contraction, convolution or attention; 0 for other
  /// operations.
  static int64_t productsOf(mlir::Operation *op);

private:
  class Growth;
  void measure(AxisGroup &group) const;
  llvm::SmallVector<std::pair<llvm::StringRef, AxisSplitAttr>> findAxes();
  void chooseOfVariables(Splits &chosen);
  void drawOfVariables(Splits &chosen, int64_t seed);
  void chooseBetweenSums(Splits &chosen);

  mlir::ModuleOp module;
  int64_t chunks;
  VariableFamilies families;
  SplitRules rules;
};

} // namespace mtc

#endif // MTC_PASSES_SPLITTING_AXISGROUP_H
