//===- Passes.h - Batch axis passes -----------------------------------------------------------===//

#ifndef MTC_FRONTEND_BATCHING_PASSES_H
#define MTC_FRONTEND_BATCHING_PASSES_H

#include "ir/Mtc.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mtc {

#define GEN_PASS_DECL
#include "frontend/batching/Passes.h.inc"

} // namespace mtc

#endif // MTC_FRONTEND_BATCHING_PASSES_H
