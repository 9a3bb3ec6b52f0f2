//===- ColumnSums.h - Column sums computed in a kernel's row loops ----------------------------===//
//
// The first stage of a kernel has a scratch slot per work item and column sum, in which the item
// accumulates. A second stage adds up the slots in the order of the items. The order of summation
// depends on the kernel only, not on the number of threads.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_CODEGEN_CPU_COLUMNSUMS_H
#define MTC_CODEGEN_CPU_COLUMNSUMS_H

#include "codegen/cpu/LoopPlan.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <string>

namespace mtc::cpu {

/// The function of one stage, with the insertion point in its body. `operands` are the inputs and
/// outputs.
struct StageFunction {
  llvm::SmallVector<mlir::Value> operands;
  mlir::Value scratch; ///< null if the kernel has no scratch buffer
  mlir::Value begin, end, fault;
};
/// Creates the function `symbol` of a stage at the end of `module`.
StageFunction beginStage(mlir::ImplicitLocOpBuilder &b, const NormalKernel &kernel,
                         llvm::StringRef symbol, mlir::ModuleOp module);

/// Returns the name of the second stage's function.
std::string columnSumsSymbol(llvm::StringRef symbol);
/// Returns the size in bytes of a column sum's accumulator.
int64_t bytesOfPartial(const NormalKernel &kernel, unsigned result);

/// Emits the function of the second stage.
void emitColumnSums(const NormalKernel &kernel, const LoopPlan &plan, llvm::StringRef symbol,
                    mlir::ModuleOp module);

} // namespace mtc::cpu

#endif // MTC_CODEGEN_CPU_COLUMNSUMS_H
