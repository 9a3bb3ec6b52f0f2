//===- Transpose.h - Transposition of vectors in registers ------------------------------------===//

#ifndef MTC_CODEGEN_CPU_TRANSPOSE_H
#define MTC_CODEGEN_CPU_TRANSPOSE_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mtc::cpu {

/// Transposes n vectors of n elements in place, n a power of two: swaps vectors[i][k] and
/// vectors[k][i]. Emits n/2 log2 n pairs of two-vector shuffles.
void transposeSquare(mlir::ImplicitLocOpBuilder &b, llvm::MutableArrayRef<mlir::Value> vectors);

} // namespace mtc::cpu

#endif // MTC_CODEGEN_CPU_TRANSPOSE_H
