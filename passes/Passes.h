//===- Passes.h - Declarations of all passes over the mtc dialect -----------------------------===//
//
// Generated from Passes.td: `createX`, `XOptions` and `registerMtcPasses`.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_PASSES_PASSES_H
#define MTC_PASSES_PASSES_H

#include "ir/Mtc.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "passes/OptionalNumber.h"

namespace mtc {

/// Marks the result of a function that autodiff has differentiated.
inline constexpr llvm::StringLiteral differentiatedAttribute = "mtc.differentiated";
/// Marks operations and kernels that compute again what the forward pass has computed: they must
/// not be merged with the forward pass's own.
inline constexpr llvm::StringLiteral recomputedAttribute = "mtc.recomputed";

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/Passes.h.inc"

} // namespace mtc

#endif // MTC_PASSES_PASSES_H
