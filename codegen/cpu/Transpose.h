//===- Transpose.h - Transposes vectors in registers ------------------------------------------===//

#ifndef MTC_CODEGEN_CPU_TRANSPOSE_H
#define MTC_CODEGEN_CPU_TRANSPOSE_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mtc::cpu {

/// Transposes n vectors of n elements, n a power of two: afterwards vectors[i][k] is what
/// vectors[k][i] was. Takes n/2 log2 n pairs of shuffles of two vectors.
void transposeSquare(mlir::ImplicitLocOpBuilder &b, llvm::MutableArrayRef<mlir::Value> vectors);

} // namespace mtc::cpu

#endif // MTC_CODEGEN_CPU_TRANSPOSE_H
