//===- GraphSignature.h - Names of graph inputs and outputs -----------------------------------===//
//
// Accessors for `mtc.name`, the attribute in which the arguments and results of @forward,
// @micro_step and @evaluate carry the names of the graph's inputs and outputs.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_PASSES_GRAPHSIGNATURE_H
#define MTC_PASSES_GRAPHSIGNATURE_H

#include "ir/Mtc.h"
#include "ir/attributes/DiscardableAttributes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <optional>

namespace mtc {

/// Returns the name of an argument, or "" if it has none.
llvm::StringRef argumentName(mlir::func::FuncOp function, unsigned index);
/// Returns the name of a result, or "" if it has none.
llvm::StringRef resultName(mlir::func::FuncOp function, unsigned index);
std::optional<unsigned> findArgument(mlir::func::FuncOp function, llvm::StringRef name);
std::optional<unsigned> findResult(mlir::func::FuncOp function, llvm::StringRef name);

/// Lists the names and types of all results for diagnostics: "'logits' tensor<4x10xf32>, 'hidden'
/// tensor<4x8xf32>".
std::string listResults(mlir::func::FuncOp function);
/// Prints a type for diagnostics: "tensor<4x10xf32>".
std::string print(mlir::Type type);

} // namespace mtc

#endif // MTC_PASSES_GRAPHSIGNATURE_H
