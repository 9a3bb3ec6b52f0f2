//===- FxValues.h - What the names of values in PyTorch's graphs tell -------------------------===//
//
// FX names a value after the operator that computes it, and numbers it: `mul`, `mul_3`. PyTorch's
// newer exporter keeps these names, for initializers that it folded too.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_FXVALUES_H
#define MTC_FRONTEND_FXVALUES_H

#include "llvm/ADT/StringRef.h"

namespace mtc::onnx {

/// `mul` of `mul_3`.
llvm::StringRef operatorOfValue(llvm::StringRef name);

/// Whether that operator takes a part of its operand.
bool isPart(llvm::StringRef name);

/// Whether it has the elements of its operand, each once: in another order, in another shape, or as
/// they are.
bool keepsElements(llvm::StringRef name);
/// Of these, those that may have another order or shape.
bool changesLayout(llvm::StringRef name);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_FXVALUES_H
