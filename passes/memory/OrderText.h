//===- OrderText.h - Order of a block's operations --------------------------------------------===//

#ifndef MTC_PASSES_MEMORY_ORDERTEXT_H
#define MTC_PASSES_MEMORY_ORDERTEXT_H

#include "passes/memory/MemoryAnalysis.h"
#include "passes/memory/OrderModel.h"

namespace mtc {

/// Returns the operations of a block in their order.
mlir::SmallVector<mlir::Operation *, 0> textOf(mlir::Block &block);

/// Moves the operations of a block to the order of `text`, and notifies the analysis.
void setText(mlir::Block &block, mlir::ArrayRef<mlir::Operation *> text, MemoryAnalysis &analysis);

/// Returns the operations of a block in the order of the model. Views and reads are placed
/// immediately before their first user.
mlir::SmallVector<mlir::Operation *, 0> reordered(mlir::ArrayRef<mlir::Operation *> text,
                                                  const OrderModel &model);

} // namespace mtc

#endif // MTC_PASSES_MEMORY_ORDERTEXT_H
