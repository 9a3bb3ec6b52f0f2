//===- OperatorTable.h - Supported ONNX operators ---------------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_OPERATORTABLE_H
#define MTC_FRONTEND_ONNX_OPERATORTABLE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace mtc::onnx {

/// Returns a table with one line for each operator of ONNX: the versions of its definition, its
/// floating-point element types, and how mtc supports it. `names` selects operators; empty selects
/// all. Fails on a name that ONNX does not define.
llvm::Expected<std::string> describeOperators(llvm::ArrayRef<std::string> names);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_OPERATORTABLE_H
