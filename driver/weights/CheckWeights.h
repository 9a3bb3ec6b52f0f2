//===- CheckWeights.h - Check of --weights against the program --------------------------------===//

#ifndef MTC_DRIVER_WEIGHTS_CHECKWEIGHTS_H
#define MTC_DRIVER_WEIGHTS_CHECKWEIGHTS_H

#include "driver/Options.h"
#include "frontend/Frontend.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LogicalResult.h"

namespace mtc::tool {

/// Checks that the file or folder of --weights has the variables of a module at stage `training` or
/// later, with the code with which programs find them. Emits all problems. `model` is null if the
/// model of a text is missing.
mlir::LogicalResult checkWeights(mlir::ModuleOp module, const Options &options, SourceModel *model,
                                 const Parameters &parameters);

} // namespace mtc::tool

#endif // MTC_DRIVER_WEIGHTS_CHECKWEIGHTS_H
