//===- Technique.h - Registered techniques that save memory -----------------------------------===//
//
// Records are defined in the files of passes/techniques, each of which has `void
// addNAMETechniques(std::vector<Technique> &techniques)`; CMake finds them. The help, the search,
// the suggestions, `mtc plan --techniques` and the reference read these records.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_PASSES_PLANNING_TECHNIQUE_H
#define MTC_PASSES_PLANNING_TECHNIQUE_H

#include "passes/planning/PlanSettings.h"

#include "ir/Mtc.h"
#include "ir/Registry.h"
#include "passes/search/PeakReducer.h"

#include "mlir/IR/BuiltinOps.h"

#include <functional>

namespace mtc {

struct FunctionBudget;
class OperationTimes;

/// The effect of a technique on the results of a program.
enum class Effect {
  None,     ///< Results are the same to the bit.
  Order,    ///< Sums are computed in another order.
  Numerics, ///< Values are rounded or stored differently.
};

/// The condition under which the search uses a technique that the user has not chosen.
enum class Permission {
  Budget, ///< A budget: --memory.
  Allow,  ///< --allow with the technique's name.
  Flag,   ///< Only the user decides; the technique is suggested if a budget is missed.
};

/// A model's symbolic batch dimension.
struct BatchDimension {
  std::string name;
  int64_t size;
};

/// Properties of the model and its target that techniques use.
struct PlanContext {
  const BatchDimension *batch; ///< Null if the model has none.
  MemorySpace offloadSpace;
};

/// The smallest parts of the memory of a program that a change can leave, from 0, the default,
/// to 1.
struct MinParts {
  double parameters = 0;
  double gradients = 0;
  double optimizer = 0;
  double workingSet = 0; ///< The largest working set of one operation.

  /// Returns the parts that two changes leave, in addition to each other or instead.
  MinParts with(const MinParts &other) const {
    return {parameters * other.parameters, gradients * other.gradients, optimizer * other.optimizer,
            workingSet * other.workingSet};
  }
  MinParts orElse(const MinParts &other) const {
    return {std::min(parameters, other.parameters), std::min(gradients, other.gradients),
            std::min(optimizer, other.optimizer), std::min(workingSet, other.workingSet)};
  }
};

/// A change of settings, with the flags that make it.
struct PlanChange {
  std::string flags; ///< In command-line syntax.
  std::function<void(PlanSettings &)> apply;
  MinParts minParts = {};
};

/// A technique that saves memory, as described to the search and in messages.
struct Technique {
  std::string name;
  std::string summary; ///< A phrase for help.
  Stage stage;         ///< First stage whose passes depend on the technique's settings.
  Effect effect = Effect::None;
  Permission permission = Permission::Budget;

  /// Returns the alternative changes that the settings leave open. Changes with the smallest effect
  /// on the program come first.
  std::function<std::vector<PlanChange>(const PlanSettings &, const PlanContext &)> propose = {};
  /// Disables the technique. Empty if it cannot be.
  std::function<void(PlanSettings &)> disable = {};
  /// Whether a search with a budget makes the only change from the start, and undoes it in the end
  /// if the faster plan without it fits.
  bool isUndone = false;
  /// Creates the reducer that applies the technique to a function in a search; null if the options
  /// exclude the technique. Empty if the technique acts before allocation.
  std::function<std::unique_ptr<PeakReducer>(const FunctionBudget &, OperationTimes &,
                                             const FitOptions &)>
      make = {};
};

template <> Registry<std::vector<Technique>> &Registry<std::vector<Technique>>::get();

llvm::ArrayRef<Technique> getTechniques();
/// Returns null if there is none of this name.
const Technique *findTechnique(llvm::StringRef name);

/// Returns the values of --allow.
std::vector<OptionChoice> allowChoices();

/// Returns a phrase for messages: "bit-identical".
llvm::StringRef describeEffect(Effect effect);

/// Returns a table of all techniques.
std::string describeTechniques();

/// Returns the techniques by which mtc-fit met the budget of a module.
std::vector<const Technique *> getUsedTechniques(mlir::ModuleOp module);

} // namespace mtc

#endif // MTC_PASSES_PLANNING_TECHNIQUE_H
