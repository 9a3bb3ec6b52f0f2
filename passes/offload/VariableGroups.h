//===- VariableGroups.h - Variables that are offloaded together -------------------------------===//

#ifndef MTC_PASSES_OFFLOAD_VARIABLEGROUPS_H
#define MTC_PASSES_OFFLOAD_VARIABLEGROUPS_H

#include "ir/Mtc.h"
#include "passes/offload/OffloadOptions.h"

#include "mlir/IR/BuiltinOps.h"

namespace mtc {

/// Variables that some operation reads or writes as one flat tensor and that are therefore
/// contiguous, or that a kernel on the host updates together. Either all variables of a group are
/// offloaded, or none.
struct VariableGroup {
  mlir::SmallVector<VariableOp> variables;
  int64_t bytes = 0;
  size_t number = 0;      ///< in module order
  size_t lastUpdate = 0;  ///< position of the last operation that writes one of the variables
  bool isUpdated = false; ///< optimizer state or averages, which only the update uses
  std::string refusal;    ///< why the group is not offloaded; "" if it can be
};

/// Returns the groups of variables on the device whose kind has the use `use`, in the order in
/// which they are offloaded. Variables that a step reads once come before those that it reads more
/// often. Variables that are updated early come first, since their copies overlap with the rest of
/// the step.
std::vector<VariableGroup> collectGroups(mlir::ModuleOp module,
                                         llvm::function_ref<bool(OffloadKind kind)> isOfInterest);

/// Returns the groups of variables on the device that the host could update: the optimizer state
/// and averages that the same kernels write, with the parts of parameters that only these kernels
/// access, such as the lower halves of parameters with bf16 storage. The order is that of
/// `collectGroups`.
std::vector<VariableGroup> collectUpdateGroups(mlir::ModuleOp module);

} // namespace mtc

#endif // MTC_PASSES_OFFLOAD_VARIABLEGROUPS_H
