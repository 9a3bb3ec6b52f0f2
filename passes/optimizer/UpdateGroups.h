//===- UpdateGroups.h - Parameters that are updated in the same way ---------------------------===//

#ifndef MTC_PASSES_OPTIMIZER_UPDATEGROUPS_H
#define MTC_PASSES_OPTIMIZER_UPDATEGROUPS_H

#include "passes/optimizer/UpdateRules.h"
#include "passes/optimizer/UpdatedGradient.h"
#include "passes/sharding/Division.h"
#include "passes/variables/ParameterStorage.h"

#include "mlir/IR/SymbolTable.h"

#include <vector>

namespace mtc {

/// Parameters with the same update rule and storage. All lists are in the same order.
struct UpdateGroup {
  UpdateRule rule;
  bool isFlat; ///< Whether the parameters are updated as one flat tensor.
  llvm::SmallVector<ParameterStorage> parameters;
  llvm::SmallVector<VariableOp> gradients;
  /// One list per state; null if a parameter does not have the state.
  llvm::SmallVector<llvm::SmallVector<VariableOp>> states;
  llvm::SmallVector<VariableOp> averages; ///< Empty without averages.
};

/// Returns the update rule of each parameter by name. Fails with a diagnostic if a parameter cannot
/// be updated.
mlir::FailureOr<llvm::StringMap<UpdateRule>> chooseUpdateRules(mlir::ModuleOp module,
                                                               UpdateRules &rules);

/// Groups the parameters of a module, and adds the variables of their updates.
class UpdateGroupBuilder {
public:
  /// Inserts variables at `variablesEnd`.
  UpdateGroupBuilder(mlir::SymbolTable &symbols, mlir::Block::iterator variablesEnd,
                     Division &division)
      : symbols(symbols), variablesEnd(variablesEnd), division(division) {}

  /// Returns the groups in the order of their first parameters. `hasAverages`: each parameter has
  /// a moving average.
  std::vector<UpdateGroup> build(const llvm::StringMap<UpdateRule> &rules, bool hasAverages);

private:
  VariableOp addState(ParameterStorage &parameter, const OptimizerState &state,
                      const UpdateRule &rule);
  VariableOp addVariable(VariableOp parameter, Role role, llvm::StringRef suffix, mlir::Type type,
                         mlir::Attribute initial);

  mlir::SymbolTable &symbols;
  mlir::Block::iterator variablesEnd;
  Division &division;
};

/// Returns the gradients of all groups in the order of the groups or, with `inModuleOrder`, in that
/// of their variables.
llvm::SmallVector<UpdatedGradient> collectGradients(llvm::ArrayRef<UpdateGroup> groups,
                                                    mlir::ModuleOp module, Division &division,
                                                    bool inModuleOrder);

} // namespace mtc

#endif // MTC_PASSES_OPTIMIZER_UPDATEGROUPS_H
