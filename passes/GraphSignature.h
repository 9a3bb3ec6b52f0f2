//===- GraphSignature.h - Names of a function's arguments and results -------------------------===//
//
// Arguments and results of @forward, @micro_step and @evaluate carry the names of the graph's
// inputs and outputs in the attribute `mtc.name`.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_PASSES_GRAPHSIGNATURE_H
#define MTC_PASSES_GRAPHSIGNATURE_H

#include "ir/Mtc.h"
#include "ir/attributes/DiscardableAttributes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <optional>

namespace mtc {

/// "" where there is no name.
llvm::StringRef argumentName(mlir::func::FuncOp function, unsigned index);
llvm::StringRef resultName(mlir::func::FuncOp function, unsigned index);
std::optional<unsigned> findArgument(mlir::func::FuncOp function, llvm::StringRef name);
std::optional<unsigned> findResult(mlir::func::FuncOp function, llvm::StringRef name);

/// For messages: "'logits' tensor<4x10xf32>, 'hidden' tensor<4x8xf32>".
std::string listResults(mlir::func::FuncOp function);
/// For messages: "tensor<4x10xf32>".
std::string print(mlir::Type type);

} // namespace mtc

#endif // MTC_PASSES_GRAPHSIGNATURE_H
