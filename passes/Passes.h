//===- Passes.h - Declarations of all mtc passes ----------------------------------------------===//
//
// Generated from Passes.td: `createX` and `XOptions`.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_PASSES_PASSES_H
#define MTC_PASSES_PASSES_H

#include "ir/Mtc.h"
#include "ir/attributes/DiscardableAttributes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "passes/OptionalNumber.h"

namespace mtc {

#define GEN_PASS_DECL
#include "passes/Passes.h.inc"

} // namespace mtc

#endif // MTC_PASSES_PASSES_H
