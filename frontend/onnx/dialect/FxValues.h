//===- FxValues.h - Operators encoded in the names of FX values -------------------------------===//
//
// torch.fx names a value after the operator that computes it and appends a number: `mul`, `mul_3`.
// The torch.export-based ONNX exporter keeps these names, also for initializers that it folded.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_DIALECT_FXVALUES_H
#define MTC_FRONTEND_ONNX_DIALECT_FXVALUES_H

#include "llvm/ADT/StringRef.h"

namespace mtc::onnx {

/// Returns the operator in the name of an FX value, such as `mul` for `mul_3`.
llvm::StringRef operatorOfValue(llvm::StringRef name);

/// Returns whether the operator selects part of its operand, as `slice` and `split` do.
bool isPart(llvm::StringRef name);

/// Returns whether the operator keeps every element of its operand exactly once, possibly in
/// another order or shape.
bool keepsElements(llvm::StringRef name);
/// Returns whether the operator keeps every element and may change the order or the shape.
bool changesLayout(llvm::StringRef name);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_DIALECT_FXVALUES_H
