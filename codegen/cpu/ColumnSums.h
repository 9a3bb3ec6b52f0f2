//===- ColumnSums.h - Columns that are summed while rows are computed -------------------------===//
//
// Each item of a kernel's first stage has a place of its own in the scratch for every column sum,
// and adds to it; a second stage adds up the items' sums, in their order. What is summed with what
// follows from the kernel alone.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_CODEGEN_CPU_COLUMNSUMS_H
#define MTC_CODEGEN_CPU_COLUMNSUMS_H

#include "codegen/cpu/LoopPlan.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <string>

namespace mtc::cpu {

/// The function of one stage, open for its body; `operands` are inputs and outputs.
struct StageFunction {
  llvm::SmallVector<mlir::Value> operands;
  mlir::Value scratch; ///< null if the kernel has none
  mlir::Value begin, end, fault;
};
StageFunction beginStage(mlir::ImplicitLocOpBuilder &b, const NormalKernel &kernel,
                         llvm::StringRef symbol, mlir::ModuleOp module);

/// The name of the second stage.
std::string columnSumsSymbol(llvm::StringRef symbol);
int64_t bytesOfPartial(const NormalKernel &kernel, unsigned result);

/// Emits the second stage.
void emitColumnSums(const NormalKernel &kernel, const LoopPlan &plan, llvm::StringRef symbol,
                    mlir::ModuleOp module);

} // namespace mtc::cpu

#endif // MTC_CODEGEN_CPU_COLUMNSUMS_H
