//===- KernelDimensions.h - Dimensions along which the scalars of a kernel vary ---------------===//

#ifndef MTC_IR_OPS_KERNELDIMENSIONS_H
#define MTC_IR_OPS_KERNELDIMENSIONS_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mtc {

/// Adds the dimensions that a map uses.
void addDimensions(mlir::AffineMap map, llvm::SmallBitVector &dims);

/// Returns the dimensions of the space along which a scalar of the body varies. `known` caches the
/// results for all scalars of a body.
llvm::SmallBitVector dimensionsOf(mlir::Value value, llvm::ArrayRef<int64_t> space,
                                  llvm::ArrayRef<int64_t> reduced,
                                  llvm::DenseMap<mlir::Value, llvm::SmallBitVector> &known);

} // namespace mtc

#endif // MTC_IR_OPS_KERNELDIMENSIONS_H
