//===- SeparateLookups.h - Gradients of tables that are looked up and multiplied --------------===//

#ifndef MTC_PASSES_PIPELINE_SEPARATELOOKUPS_H
#define MTC_PASSES_PIPELINE_SEPARATELOOKUPS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mtc {

/// Gives each parameter whose rows are looked up and that is also used otherwise, as a tied
/// embedding is, two gradients: that of the lookups gets a variable of its own. Pipeline stages
/// compute them at different times, so that a common sum would depend on the number of stages.
void separateLookups(mlir::func::FuncOp microStep);

} // namespace mtc

#endif // MTC_PASSES_PIPELINE_SEPARATELOOKUPS_H
