//===- Division.h - Variables that are divided among the ranks --------------------------------===//

#ifndef MTC_PASSES_SHARDING_DIVISION_H
#define MTC_PASSES_SHARDING_DIVISION_H

#include "passes/sharding/GradientExchange.h"
#include "passes/variables/ParameterStorage.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace mtc {

/// The variables of a program that are divided among the ranks of data groups, as `mtc.program`
/// says. The update of a divided parameter computes its piece only:
///
/// - `optimizer` and `gradients`: variables that steps read stay whole on every rank, and the
///   update gathers their new pieces. Other variables exist only as pieces.
/// - `parameters`: all variables, including frozen parameters, exist as pieces, and steps gather
///   them before they are used.
///
/// Gradients are exchanged (GradientExchange.h), and then exist as parts of the sums. With
/// `reduce = last`, they are whole until the update exchanges them.
class Division {
public:
  /// Divides the variables of all parameters. Must be called after the backward pass exists, and
  /// before the update does.
  explicit Division(mlir::ModuleOp module);

  /// Returns the ranks among which variables are divided.
  RankGroup getGroup() const { return group; }
  bool includes(VariableOp parameter) const { return divided.contains(parameter.getSymName()); }
  /// Returns the view of a variable that the update reads and writes: the whole variable, or the
  /// piece of this rank.
  VariableView viewOf(VariableOp variable, bool isLine = false) const;
  /// Divides a variable that belongs to a parameter and has the type of the parameter's piece or
  /// part as the parameter is.
  void divideLike(VariableOp variable, VariableOp parameter) const;
  /// Erases the variables of divided gradients that nothing reads.
  void eraseGradients();
  /// Emits the exchange of gradients into the update, at its start, if micro-steps do not exchange
  /// them. Must be called before views of gradients are made.
  void exchangeInUpdate(TensorBuilder &b);

private:
  VariableView viewAlone(VariableOp variable, bool isLine) const;
  /// The part of a gradient in the sums of its bucket, a variable or a value.
  struct Part {
    VariableOp gradient, sums;
    mlir::Value sumsInUpdate;
    int64_t offset;
  };

  void divide(VariableOp variable);
  bool hasDivided(VariableOp gradient) const;
  void addParts(llvm::ArrayRef<GradientBucket> buckets);

  mlir::ModuleOp module;
  RankGroup group;
  bool reducesInUpdate = false;
  llvm::StringSet<> divided;   ///< parameters
  llvm::StringMap<Part> parts; ///< of gradients
  llvm::StringSet<> heldWhole; ///< variables that steps read, and every rank holds
};

} // namespace mtc

#endif // MTC_PASSES_SHARDING_DIVISION_H
