//===- UpdateRules.h - How each parameter is updated ------------------------------------------===//

#ifndef MTC_PASSES_OPTIMIZER_UPDATERULES_H
#define MTC_PASSES_OPTIMIZER_UPDATERULES_H

#include "passes/optimizer/OptimizerOptions.h"
#include "passes/optimizer/ParameterGroup.h"
#include "passes/optimizer/ParameterUses.h"

#include "llvm/ADT/MapVector.h"

#include <set>

namespace mtc {

/// Chooses an optimizer and its numbers for one parameter after another. Says what is wrong with
/// them.
class UpdateRules {
public:
  /// The options are valid.
  UpdateRules(const OptimizerOptions &options, mlir::ModuleOp module);

  /// The run's optimizer.
  const OptimizerKind &getKind() const { return *kind; }

  mlir::FailureOr<UpdateRule> choose(VariableOp parameter);
  /// To be called when all were chosen. Says what of the groups was for nothing.
  mlir::LogicalResult checkGroups() const;
  /// Which parameters the run's optimizer leaves to another; "" if none.
  std::string describeOthers() const;
  /// Which parameters keep their state in 32 bits though fewer were asked for; "" if none were.
  std::string describeStateBits() const;

private:
  struct Group : ParameterGroup {
    bool isMatched = false;
    std::set<std::string, std::less<>> used; ///< Numbers that some parameter has.
  };
  /// What decides about one number of a parameter, or about its optimizer.
  struct Decision {
    Group *group;
    size_t specificity;
  };
  /// By the name of a number; "optimizer".
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
  llvm::SmallVector<llvm::StringRef> names;       ///< Of all parameters.
  llvm::SmallVector<llvm::StringRef> leftMembers; ///< Of the kind's domain, that are not hidden.
  int64_t quantized = 0;
  /// Whose state is kept in 32 bits though fewer are asked for, by the reason.
  llvm::MapVector<llvm::StringRef, llvm::SmallVector<llvm::StringRef>> unquantized;
};

} // namespace mtc

#endif // MTC_PASSES_OPTIMIZER_UPDATERULES_H
