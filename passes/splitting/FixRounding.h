//===- FixRounding.h - Rounding that does not depend on fusion -----------------------------===//

#ifndef MTC_PASSES_SPLITTING_FIXROUNDING_H
#define MTC_PASSES_SPLITTING_FIXROUNDING_H

#include "mlir/IR/BuiltinOps.h"

namespace mtc {

/// Lets every cast to 16 bits round, also if no kernel stores its result, and contractions return
/// their accumulators to operations that compute in f32. What is fused and stored depends on what
/// ranks exchange; results do not depend on it then.
void fixRounding(mlir::ModuleOp module);

} // namespace mtc

#endif // MTC_PASSES_SPLITTING_FIXROUNDING_H
