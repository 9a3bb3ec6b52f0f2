// Modules that are trained in addition to the adapters, which PEFT calls `modules_to_save`.
#ifndef MTC_RUNTIME_STATE_SAVED_MODULES_H
#define MTC_RUNTIME_STATE_SAVED_MODULES_H

#include "runtime/state/module_tensors.h"

#include <set>
#include <string>
#include <vector>

namespace mtc::runtime {

/// The tensors that training changes, except the adapters' factors, and the paths of their modules.
struct SavedModules {
  std::set<std::string> paths;
  std::vector<ModuleTensor> tensors; ///< each under all of its names in the module
  /// The reason why PEFT cannot store the tensors in addition to the adapters; "" if it can. PEFT
  /// stores copies of whole modules, which must not contain each other or a module with an adapter.
  std::string problem;
};

/// Finds the saved modules of a program. `adapted` has the paths of the modules with adapters.
SavedModules findSavedModules(const MtcProgram &program, const std::set<std::string> &adapted);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_SAVED_MODULES_H
