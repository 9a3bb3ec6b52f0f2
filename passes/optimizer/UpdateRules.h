//===- UpdateRules.h - Selection of each parameter's update rule ------------------------------===//

#ifndef MTC_PASSES_OPTIMIZER_UPDATERULES_H
#define MTC_PASSES_OPTIMIZER_UPDATERULES_H

#include "passes/optimizer/OptimizerOptions.h"
#include "passes/optimizer/ParameterGroup.h"
#include "passes/optimizer/ParameterUses.h"

#include "llvm/ADT/MapVector.h"

#include <set>

namespace mtc {

/// Selects the optimizer and hyperparameters of each parameter from the options and parameter
/// groups, and reports invalid or unused settings.
class UpdateRules {
public:
  /// The options must be valid.
  UpdateRules(const OptimizerOptions &options, mlir::ModuleOp module);

  /// Returns the optimizer of the run.
  const OptimizerKind &getKind() const { return *kind; }

  mlir::FailureOr<UpdateRule> choose(VariableOp parameter);
  /// Reports unmatched groups and unused settings. Must be called after all parameters have been
  /// processed.
  mlir::LogicalResult checkGroups() const;
  /// Returns a remark about the parameters that the run's optimizer does not update; "" if there
  /// are none.
  std::string describeOthers() const;
  /// Returns a remark about the parameters that keep 32-bit state although fewer bits were
  /// requested; "" if there are none.
  std::string describeStateBits() const;

private:
  struct Group : ParameterGroup {
    bool isMatched = false;
    std::set<std::string, std::less<>> used; ///< Settings that apply to some parameter.
  };
  /// The group that determines one setting of a parameter, with the specificity of its pattern.
  struct Decision {
    Group *group;
    size_t specificity;
  };
  /// By hyperparameter name, or "optimizer" or "optimizer-bits".
  using Decisions = std::map<std::string, Decision, std::less<>>;

  mlir::LogicalResult decide(VariableOp parameter, Group &group, Decisions &decisions);
  mlir::FailureOr<const OptimizerKind *> chooseKind(VariableOp parameter,
                                                    const Decisions &decisions);
  void chooseStateBits(VariableOp parameter, const Decisions &decisions, UpdateRule &rule);
  mlir::LogicalResult applyGroups(VariableOp parameter, const Decisions &decisions,
                                  UpdateRule &rule);

  const OptimizerOptions &options;
  mlir::MLIRContext *context;
  const OptimizerKind *kind;
  ParameterUses uses;
  std::vector<Group> groups;
  int64_t updated = 0, left = 0;
  llvm::SmallVector<llvm::StringRef> names; ///< All parameters.
  /// Parameters in the optimizer's domain that are not hidden.
  llvm::SmallVector<llvm::StringRef> leftMembers;
  int64_t quantized = 0;
  /// Parameters that keep 32-bit state although fewer bits were requested, by reason.
  llvm::MapVector<llvm::StringRef, llvm::SmallVector<llvm::StringRef>> unquantized;
};

} // namespace mtc

#endif // MTC_PASSES_OPTIMIZER_UPDATERULES_H
