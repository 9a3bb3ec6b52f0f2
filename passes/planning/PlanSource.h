//===- PlanSource.h - Lowering of a model for the search --------------------------------------===//

#ifndef MTC_PASSES_PLANNING_PLANSOURCE_H
#define MTC_PASSES_PLANNING_PLANSOURCE_H

#include "passes/planning/Technique.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mtc {

/// Lowers one model with various settings. All modules belong to one context. Problems are reported
/// as diagnostics.
class PlanSource {
public:
  virtual ~PlanSource() = default;

  virtual mlir::MLIRContext &getContext() = 0;
  virtual PlanContext getPlanContext() = 0;
  /// Returns the stage of imported modules: Onnx, or that of a text.
  virtual Stage getFirstStage() = 0;
  /// Returns the imported model before any lowering; it depends only on the sizes of dimensions.
  virtual mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
  import(const PlanSettings &settings) = 0;
  /// Runs the passes that lead from the previous stage to `stage`.
  virtual mlir::LogicalResult lower(mlir::ModuleOp module, Stage stage,
                                    const PlanSettings &settings) = 0;
};

} // namespace mtc

#endif // MTC_PASSES_PLANNING_PLANSOURCE_H
